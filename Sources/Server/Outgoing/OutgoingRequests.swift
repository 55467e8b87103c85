internal import Attribution
public import HTTPServer
internal import Synchronization
internal import Threads

/// Sends the service's requests to other servers; event loops call `perform`, which does not block them.
public final class OutgoingRequests: Sendable {
    /// The maximum number of concurrent calls of `perform`; further calls are refused.
    private let maximumConcurrentCount: Int
    package let client: HTTPSClient
    private let underWay = Atomic<Int>(0)

    /// - Parameters:
    ///   - client: the client that makes the requests; only tests pass one that may reach private addresses.
    ///   - maximumConcurrentCount: the maximum number of concurrent calls of `perform`.
    public init(_ client: HTTPSClient = OutgoingRequests.publicOnly(), maximumConcurrentCount: Int = 4) {
        (self.client, self.maximumConcurrentCount) = (client, maximumConcurrentCount)
    }

    /// Creates a client that connects only to addresses of the public Internet.
    ///
    /// `roots` names a PEM file of certificate authorities, which replace the authorities that this machine trusts.
    public static func publicOnly(roots: String? = nil) -> HTTPSClient {
        HTTPSClient(roots: roots) { NetworkAddress(high: $0.high, low: $0.low).isPublic }
    }

    /// Runs blocking work on a new thread, and suspends the caller until the work ends.
    ///
    /// - Returns: nil if the maximum number of other calls is under way, or the system cannot start a thread.
    func perform<Result: Sendable>(_ work: @escaping @Sendable (HTTPSClient) -> Result) async -> Result? {
        guard underWay.add(1, ordering: .relaxed).oldValue < maximumConcurrentCount else {
            underWay.subtract(1, ordering: .relaxed)
            return nil
        }
        defer { underWay.subtract(1, ordering: .relaxed) }
        let client = client
        return await withCheckedContinuation { (continuation: CheckedContinuation<Result?, Never>) in
            do throws(ThreadStartError) {
                try SystemThread.start { continuation.resume(returning: work(client)) }
            } catch { continuation.resume(returning: nil) }
        }
    }
}

extension HTTPSRequest {
    /// Creates a GET request for a URL; nil if the URL cannot be requested.
    init?(_ url: WebURL, fields: [FieldLine] = []) {
        self.init(host: url.host, port: url.port ?? 443, .get, url.target, fields: fields)
    }
}
