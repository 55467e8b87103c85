package import AfterlinkCore
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Sends requests with the system's URL loading, without cookies, cache or redirects, in at most ten seconds.
package struct URLSessionTransport: Transport {
    static let maximumSeconds = 10.0
    /// Longer than any response with a match, which contains a URL twice: up to 2048 characters, each encoded in up to
    /// 12 bytes.
    static let maximumByteCount = 131_072

    package init() {}

    package func send(_ request: ClientRequest) async throws -> ClientResponse {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = Self.maximumSeconds
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        var outgoing = URLRequest(url: request.url)
        outgoing.httpMethod = "POST"
        outgoing.httpBody = request.body
        for (name, value) in request.headers { outgoing.setValue(value, forHTTPHeaderField: name) }

        let (parts, receiver) = Self.makeParts()
        let session = URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        session.dataTask(with: outgoing).resume()
        // The session's own limit starts again with each byte, so a slow server could take any length of time.
        let limit = Task {
            try await Task.sleep(nanoseconds: UInt64(Self.maximumSeconds * 1_000_000_000))
            receiver.parts.finish(throwing: TransportFailure.timeout)
        }
        defer { limit.cancel() }

        var (head, body): (ClientResponse?, Data) = (nil, Data())
        for try await part in parts {
            switch part {
            case .head(let response): head = response
            case .data(let data): body += data
            }
            guard body.count <= Self.maximumByteCount else { throw TransportFailure.tooLarge }
        }
        // The loop also ends, without an error, when the task is cancelled.
        try Task.checkCancellation()
        guard var head else { throw TransportFailure.noResponse }
        head.body = body
        return head
    }

    fileprivate enum Part: Sendable {
        case head(ClientResponse)
        case data(Data)
    }

    private static func makeParts() -> (AsyncThrowingStream<Part, any Error>, Receiver) {
        let (stream, continuation) = AsyncThrowingStream<Part, any Error>.makeStream()
        return (stream, Receiver(continuation))
    }

    /// Forwards the session's reports to the stream, on the session's own queue.
    private final class Receiver: NSObject, URLSessionDataDelegate {
        let parts: AsyncThrowingStream<Part, any Error>.Continuation

        init(_ parts: AsyncThrowingStream<Part, any Error>.Continuation) { self.parts = parts }

        func urlSession(
            _: URLSession,
            dataTask _: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
        ) {
            if let response = response as? HTTPURLResponse {
                let retryAfter = response.value(forHTTPHeaderField: "Retry-After")
                let date = response.value(forHTTPHeaderField: "Date")
                let head = ClientResponse(status: response.statusCode, retryAfter: retryAfter, date: date)
                parts.yield(.head(head))
            }
            completionHandler(.allow)
        }

        func urlSession(_: URLSession, dataTask _: URLSessionDataTask, didReceive data: Data) {
            parts.yield(.data(data))
        }

        func urlSession(_: URLSession, task _: URLSessionTask, didCompleteWithError error: (any Error)?) {
            parts.finish(throwing: error)
        }

        // A network with a captive portal redirects requests to its sign-in page. The key must not go there.
        func urlSession(
            _: URLSession,
            task _: URLSessionTask,
            willPerformHTTPRedirection _: HTTPURLResponse,
            newRequest _: URLRequest,
            completionHandler: @escaping (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }
    }
}
