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

/// How much a peer may send before it is refused.
///
/// What is over a limit is refused as soon as it is seen to be, and never kept.
public struct Limits: Sendable, Hashable {
    /// Longest request target in bytes; a longer one is answered 414.
    public var targetByteCount = 8 * 1024

    /// Most bytes of the field lines together, with their line ends but the last; more are answered 431.
    public var fieldsByteCount = 16 * 1024

    /// Most field lines; more are answered 431.
    public var fieldCount = 100

    /// Longest body in bytes; a longer one is answered 413, on its announcement where there is one.
    public var bodyByteCount = 64 * 1024

    /// Requests that one connection may send; the answer to the last one closes it.
    public var requestsPerConnection = 1_000

    /// Longest chunk extension in bytes (RFC 9112 §7.1.1); a longer one is answered 400.
    public var chunkExtensionByteCount = 256

    /// Most trailer fields (RFC 9112 §7.1.2); more are answered 400.
    public var trailerCount = 16

    public init() {}
}

/// How long a peer may take.
///
/// Checked every `HTTPServerConfiguration.sweepInterval`, so that none is cut short and
/// each may last that much longer.
public struct Timeouts: Sendable, Hashable {
    /// From the first byte of a request to the end of its field lines; then 408.
    ///
    /// Also for a TLS handshake, from the connection's beginning; then a plain close.
    public var header: Duration = .seconds(10)

    /// From the end of the field lines to the end of the body; then 408.
    public var body: Duration = .seconds(10)

    /// Without a byte between requests, or before the first one; then a plain close.
    public var idle: Duration = .seconds(75)

    /// Without a byte that the peer takes of an answer; then the connection is dropped.
    public var write: Duration = .seconds(10)

    /// How long a connection that ends is still read, so that its last answer is not lost to a reset.
    public var linger: Duration = .milliseconds(500)

    /// How long an idle connection may still send a request after a stop was asked for.
    public var farewell: Duration = .milliseconds(100)

    /// How long the end of a connection waits to learn whether a watched answer arrived.
    public var deliveryWatch: Duration = .seconds(2)

    public init() {}
}
