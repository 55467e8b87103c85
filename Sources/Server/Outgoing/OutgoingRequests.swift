internal import Attribution
public import HTTPServer
internal import Synchronization
internal import Threads

/// Makes the service's requests to outside servers, off the event loops and few at a time.
public final class OutgoingRequests: Sendable {
    /// The largest number of requests at a time; further ones are refused.
    private static let maximumConcurrentCount = 4

    package let client: HTTPSClient
    private let underWay = Atomic<Int>(0)

    /// - Parameter client: the client that makes the requests; only tests pass one that may reach private addresses.
    public init(_ client: HTTPSClient = OutgoingRequests.publicOnly()) { self.client = client }

    /// Creates a client that connects to addresses of the public Internet alone.
    ///
    /// `roots` names a file of authorities in PEM that replaces those of this machine.
    public static func publicOnly(roots: String? = nil) -> HTTPSClient {
        HTTPSClient(roots: roots) { NetworkAddress(high: $0.high, low: $0.low).isPublic }
    }

    /// Runs blocking work on a thread of its own, and suspends the caller until it ends.
    ///
    /// - Returns: nil where too many requests are under way, or the system has no thread.
    func perform<Result: Sendable>(_ work: @escaping @Sendable (HTTPSClient) -> Result) async -> Result? {
        guard underWay.add(1, ordering: .relaxed).oldValue < Self.maximumConcurrentCount else {
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
    /// Creates a GET of a page.
    init?(_ url: WebURL, fields: [FieldLine] = []) {
        self.init(host: url.host, port: url.port ?? 443, .get, url.target, fields: fields)
    }
}
