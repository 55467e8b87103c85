internal import Glibc

/// The settings of a server.
public struct HTTPServerConfiguration: Sendable {
    public var listenAddress: ListenAddress

    /// The number of event loops, each on a thread of its own; by default one per core.
    public var loopCount: Int

    /// The certificate and key for TLS; `nil` for plain HTTP.
    public var tls: TLSTermination?

    public var limits = Limits()
    public var timeouts = Timeouts()

    /// The maximum number of open connections over all loops; one more gets 503 and is closed.
    public var maximumConnections = 20_000

    /// The memory, in bytes, that requests may hold over all loops.
    ///
    /// It counts twice: for requests that have not arrived completely, and for requests that handlers have. A request
    /// that does not fit gets 503, and its connection is closed.
    public var requestMemoryByteCount = 64 * 1024 * 1024

    /// How many connections the kernel may queue for each loop before they are accepted.
    public var backlog: Int32 = 4_096

    /// How often the loops check deadlines.
    public var sweepInterval: Duration = .milliseconds(100)

    /// The seconds in the `Retry-After` that a connection above the limit gets.
    public var retryAfterSeconds = 1

    /// - Parameters:
    ///   - listenAddress: the address and port to listen on.
    ///   - loopCount: the number of event loops; 0 and below mean one per core.
    public init(listenAddress: ListenAddress, loopCount: Int = 0) {
        self.listenAddress = listenAddress
        self.loopCount = loopCount > 0 ? loopCount : max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }
}

/// How much a peer may send before the server refuses it.
///
/// The server refuses bytes beyond a limit as soon as it sees them, and never stores them.
public struct Limits: Sendable, Hashable {
    /// The maximum length of a request target in bytes; a longer one gets 414.
    public var targetByteCount = 8 * 1024

    /// The maximum length of all field lines together in bytes, with every line end but the last; more get 431.
    public var fieldsByteCount = 16 * 1024

    /// The maximum number of field lines; more get 431.
    public var fieldCount = 100

    /// The maximum length of a body in bytes; a longer one gets 413, as soon as its length is announced.
    public var bodyByteCount = 64 * 1024

    /// How many requests one connection may send; the response to the last one closes it.
    public var requestsPerConnection = 1_000

    /// The maximum length of a chunk extension in bytes (RFC 9112 §7.1.1); a longer one gets 400.
    public var chunkExtensionByteCount = 256

    /// The maximum number of trailer fields (RFC 9112 §7.1.2); more get 400.
    public var trailerCount = 16

    public init() {}
}

/// How long a peer may take for each step.
///
/// The loops check them every `HTTPServerConfiguration.sweepInterval`: a timeout is never shorter than its value, and may
/// last that interval longer.
public struct Timeouts: Sendable, Hashable {
    /// From the first byte of a request to the end of its field lines; then 408.
    ///
    /// It limits a TLS handshake too, from the connection's start; then the server closes without a response.
    public var header: Duration = .seconds(10)

    /// From the end of the field lines to the end of the body; then 408.
    public var body: Duration = .seconds(10)

    /// Without a byte between requests, or before the first one; then the server closes without a response.
    public var idle: Duration = .seconds(75)

    /// While the peer takes no byte of a response; then the connection is dropped.
    public var write: Duration = .seconds(10)

    /// How long the server still reads from a connection that ends, so that a reset does not destroy its last
    /// response.
    public var linger: Duration = .milliseconds(500)

    /// How long an idle connection may still send a request after a stop was requested.
    public var farewell: Duration = .milliseconds(100)

    /// How long the end of a connection waits to learn whether a watched response arrived.
    public var deliveryWatch: Duration = .seconds(2)

    public init() {}
}
