internal import Attribution
public import HTTPServer
internal import Synchronization
internal import Threads

/// The service's calls to servers outside, off the event loops and few at a time.
public final class OutgoingRequests: Sendable {
    /// Calls at a time; whoever comes then is told to come again.
    private static let mostAtOnce = 4

    package let client: HTTPSClient
    private let underWay = Atomic<Int>(0)

    /// - Parameter client: how they are made; only tests give one that may call inside.
    public init(_ client: HTTPSClient = OutgoingRequests.publicOnly()) {
        self.client = client
    }

    /// A client that calls addresses of the public Internet alone.
    ///
    /// `roots` names a file of authorities in PEM, instead of those that this machine trusts.
    public static func publicOnly(roots: String? = nil) -> HTTPSClient {
        HTTPSClient(roots: roots) { NetworkAddress(high: $0.high, low: $0.low).isPublic }
    }

    /// Does blocking work on a thread of its own and suspends the caller meanwhile.
    ///
    /// - Returns: nil where too much is under way already, or the system has no thread.
    func perform<Result: Sendable>(_ work: @escaping @Sendable (HTTPSClient) -> Result) async -> Result? {
        guard underWay.add(1, ordering: .relaxed).oldValue < Self.mostAtOnce else {
            underWay.subtract(1, ordering: .relaxed)
            return nil
        }
        defer { underWay.subtract(1, ordering: .relaxed) }
        let client = client
        return await withCheckedContinuation { (continuation: CheckedContinuation<Result?, Never>) in
            do throws(ThreadStartError) {
                try SystemThread.start { continuation.resume(returning: work(client)) }
            } catch {
                continuation.resume(returning: nil)
            }
        }
    }
}

extension HTTPSRequest {
    /// A GET of a page.
    init?(_ url: WebURL, fields: [FieldLine] = []) {
        self.init(host: url.host, port: url.port ?? 443, .get, url.target, fields: fields)
    }
}
