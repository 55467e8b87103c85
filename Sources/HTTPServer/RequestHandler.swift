public import Threads

/// Responds to the requests of one event loop.
///
/// Each loop creates a handler on its thread and calls it only there. So a handler is not `Sendable` and needs no
/// locks. All connections of the loop wait while a function of the handler computes.
public protocol RequestHandler: AnyObject {
    /// Responds to a request.
    ///
    /// The function may suspend, and resumes on the loop's thread. The loop serves its other connections meanwhile; the
    /// next request of the same connection waits.
    func respond(to request: Request) async -> Response

    /// Renders the response to a rejection.
    ///
    /// The server sends the response with the rejection's status, and then closes the connection.
    func respond(to rejection: Rejection) -> Response

    /// Called when the loop knows which connections are ready, before it serves the first of them.
    ///
    /// - Parameter connectionCount: the number of connections with work in this turn (one iteration of the loop). It
    ///   shows how busy the loop is.
    func loopTurnWillBegin(connectionCount: Int)

    /// Called at the end of each turn of the loop, before it polls its sockets.
    ///
    /// Here the handler flushes the data and frees the memory that it gathered during the turn.
    func loopTurnDidEnd()
}

extension RequestHandler {
    /// Responds with the reason as plain text.
    public func respond(to rejection: Rejection) -> Response {
        Response(rejection.status, text: rejection.reason + "\n")
    }

    public func loopTurnWillBegin(connectionCount: Int) {}
    public func loopTurnDidEnd() {}
}

/// Bytes that the server refused as a request, or a connection that it refused.
public struct Rejection: Sendable, Hashable {
    /// The kinds of refusals, by their status codes.
    public enum Kind: Int, Sendable, Hashable, CaseIterable {
        /// The bytes are not HTTP as RFC 9112 defines it, are ambiguous, or end before the request does.
        case malformed = 400
        /// The request did not end in time.
        case tooSlow = 408
        /// The body is longer than the limit.
        case bodyTooLarge = 413
        /// The request target is longer than the limit.
        case targetTooLong = 414
        /// The `Expect` field is not `100-continue`.
        case expectationUnknown = 417
        /// The field lines are too many or too long.
        case fieldsTooLarge = 431
        /// The server does not implement the method or the transfer coding.
        case notImplemented = 501
        /// Too many connections are open, or requests hold too much memory.
        case overloaded = 503
        /// The request's major version of HTTP is not 1.
        case versionNotSupported = 505

        public var status: Status { Status(rawValue) }
    }

    public let kind: Kind

    /// One sentence that states the broken rule, and contains no byte of the request.
    public let reason: String

    public let peer: PeerAddress

    /// When the server read the request's first byte; if there was none, when the server accepted the connection.
    public let firstByteAt: MonotonicTime

    /// The request's `Origin` field; `nil` if the server had not read one before the refusal.
    public let origin: String?

    public init(
        kind: Kind,
        reason: String,
        peer: PeerAddress,
        firstByteAt: MonotonicTime,
        origin: String? = nil
    ) {
        (self.kind, self.reason, self.peer) = (kind, reason, peer)
        (self.origin, self.firstByteAt) = (origin, firstByteAt)
    }

    public var status: Status { kind.status }
}
