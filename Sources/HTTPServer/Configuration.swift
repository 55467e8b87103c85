internal import Glibc

/// What a server is started with.
public struct HTTPServerConfiguration: Sendable {
    public var listenAddress: ListenAddress

    /// Event loops, each a thread of its own; by default one a core.
    public var loopCount: Int

    /// Ends TLS here; `nil` for plain HTTP.
    public var tls: TLSTermination?

    public var limits = Limits()
    public var timeouts = Timeouts()

    /// Open connections over all loops; one above is answered 503 and closed.
    public var maximumConnections = 20_000

    /// Bytes that requests may hold over all loops.
    ///
    /// Counted twice: for those that have begun and not come whole, and for those that handlers have. A request
    /// that does not fit is answered 503 and its connection closed.
    public var requestMemoryByteCount = 64 * 1024 * 1024

    /// Connections that the kernel may hold before they are accepted, for each loop.
    public var backlog: Int32 = 4_096

    /// How often deadlines are looked at.
    public var sweepInterval: Duration = .milliseconds(100)

    /// The seconds in `Retry-After` of an answer to a connection above the limit.
    public var retryAfterSeconds = 1

    /// - Parameters:
    ///   - listenAddress: where to listen.
    ///   - loopCount: event loops; 0 and below mean one a core.
    public init(listenAddress: ListenAddress, loopCount: Int = 0) {
        self.listenAddress = listenAddress
        self.loopCount = loopCount > 0 ? loopCount : max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }
}
