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

    /// The maximum number of open connections over all loops; a further connection gets 503, and the server closes it.
    public var maximumConnections = 20_000

    /// The maximum number of refused connections, over all loops, that stay open until their 503 has arrived.
    ///
    /// They use descriptors in addition to ``maximumConnections``. The server closes any further connection at once,
    /// after a 503 if the connection has no TLS.
    public var maximumRefusedConnections = 1_024

    /// The maximum memory, in bytes, of requests, and of responses, over all loops; each loop may use an equal share.
    ///
    /// If a share is too small for one request of the maximum length, each loop may use the memory of one such request.
    ///
    /// The limit applies three times: to requests that have not arrived completely, to requests that handlers have
    /// and the requests that wait behind these, and to responses that their peers do not take. A request above the
    /// limit gets 503, and the server closes its connection. If a response is above the limit, the server drops its
    /// connection, unless that response is the only one that waits.
    public var requestMemoryByteCount = 64 * 1024 * 1024

    /// The maximum number of connections that the kernel queues for each loop until the loop accepts them.
    public var backlog: Int32 = 4_096

    /// The time between two checks of all deadlines by a loop; at least 1 ms.
    public var sweepInterval: Duration = .milliseconds(100)

    /// The seconds in the `Retry-After` of a rejection with 503, unless the handler has set this field.
    public var retryAfterSeconds = 1

    /// The share of one loop in ``requestMemoryByteCount``, but at least the memory of the longest request.
    var loopMemoryByteCount: Int {
        max(requestMemoryByteCount / max(1, loopCount), limits.longestRequestByteCount)
    }

    /// - Parameters:
    ///   - listenAddress: the address and port to listen on.
    ///   - loopCount: the number of event loops; 0 and below mean one per core.
    public init(listenAddress: ListenAddress, loopCount: Int = 0) {
        self.listenAddress = listenAddress
        self.loopCount = loopCount > 0 ? loopCount : max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }
}

/// The limits on what a peer may send.
///
/// The server refuses bytes beyond a limit as soon as it reads them, and drops them. The command-line settings that are
/// named below take their defaults from these values.
public struct Limits: Sendable, Hashable {
    /// The maximum length of a request target in bytes (`--limit-target`); a longer one gets 414.
    public var targetByteCount = 8 * 1024

    /// The maximum length of all field lines together in bytes (`--limit-fields`); more get 431.
    ///
    /// The line ends count, but the empty line after the last field line does not.
    public var fieldsByteCount = 16 * 1024

    /// The maximum number of field lines (`--limit-field-count`); more get 431.
    public var fieldCount = 100

    /// The maximum length of a body in bytes (`--limit-body`).
    ///
    /// A longer one gets 413 as soon as the peer states its length, or the length of the chunk that exceeds the limit.
    public var bodyByteCount = 64 * 1024

    /// The limits of single paths, in place of ``bodyByteCount``.
    public var bodiesByPath: [String: Int] = [:] {
        didSet { leastByteCount = bodiesByPath.values.min() ?? .max }
    }

    /// The smallest limit of a path.
    ///
    /// A body that exceeds neither this length nor ``bodyByteCount`` needs no search for its path's limit.
    private(set) var leastByteCount = Int.max

    /// The maximum number of requests on one connection (`--limit-requests`).
    ///
    /// The response to the last of them has `Connection: close`, and the server then closes the connection.
    public var requestsPerConnection = 1_000

    /// The maximum length of all extensions of a chunk in bytes (RFC 9112 §7.1.1); longer ones get 400.
    public var chunkExtensionByteCount = 256

    /// The maximum number of trailer fields (RFC 9112 §7.1.2); more get 400.
    public var trailerCount = 16

    public init() {}

    /// The largest number of bytes that the buffers of one request may take while it arrives.
    ///
    /// A buffer doubles its size when it grows. The head and the trailers may each have `fieldsByteCount` bytes of field
    /// lines, and one read may take 64 KiB.
    var longestRequestByteCount: Int {
        let body = max(bodyByteCount, bodiesByPath.values.max() ?? 0)
        return 2 * (targetByteCount + 2 * fieldsByteCount + body) + 64 * 1024
    }
}

/// The time limits for the steps of a connection.
///
/// A loop checks them every `HTTPServerConfiguration.sweepInterval`. So a timeout is never shorter than its value and,
/// except `write`, at most one interval longer. The first four have settings, such as `--timeout-header`.
public struct Timeouts: Sendable, Hashable {
    /// The time from the first byte of a request to the end of its field lines; a slower request gets 408.
    ///
    /// It is also the time from the start of a connection to the end of its TLS handshake. The server closes a slower
    /// connection without a response.
    public var header: Duration = .seconds(10)

    /// The time from the end of the field lines to the end of the body; a slower request gets 408.
    public var body: Duration = .seconds(10)

    /// The time without a byte between requests, or before the first one.
    ///
    /// After it, the server closes the connection without a response.
    public var idle: Duration = .seconds(75)

    /// The maximum time in which the peer acknowledges no byte of a response.
    ///
    /// The server drops the connection after this time, at the latest after a further quarter of it and one
    /// sweep interval.
    public var write: Duration = .seconds(10)

    /// How long the server reads from a peer after the last response.
    ///
    /// If it closed with unread bytes, the kernel would send a reset, and the peer could lose the response.
    public var linger: Duration = .milliseconds(500)

    /// After a stop has begun, an idle connection may start one more request within this time.
    public var farewell: Duration = .milliseconds(100)

    /// How long the server keeps the socket of an ended connection if a response with `onDelivery` may still arrive.
    public var deliveryWatch: Duration = .seconds(2)

    public init() {}
}
