public import Threads

/// Responds to the requests of one event loop.
///
/// Each loop creates its own handler on its own thread and calls it only there, so that it is not `Sendable` and
/// needs no locks. Every function runs on the loop: all connections of the loop wait while it computes.
public protocol RequestHandler: AnyObject {
    /// Responds to a request.
    ///
    /// May suspend; a continuation that is resumed on another thread comes back to the loop. The loop serves its
    /// other connections meanwhile; the next request of the same connection waits.
    func respond(to request: Request) async -> Response

    /// Renders the response to a rejection. Its status is the rejection's, and the connection ends after it, whatever
    /// is set here.
    func respond(to rejection: Rejection) -> Response

    /// Called when the loop knows which connections are ready, before it serves the first of them.
    ///
    /// - Parameter connectionCount: the number of connections with work in this turn, which shows how busy the loop
    ///   is.
    func loopTurnWillBegin(connectionCount: Int)

    /// Called at the end of each turn of the loop, before it polls its sockets: flush here what the turn gathered,
    /// and end what was held for the turn.
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
    /// The kinds of refusals; each has one status code.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// 400: not HTTP as RFC 9112 defines it, or ambiguous.
        case malformed
        /// 408: the request did not end in time.
        case tooSlow
        /// 413: the body is longer than the limit.
        case bodyTooLarge
        /// 414: the request target is longer than the limit.
        case targetTooLong
        /// 417: an `Expect` other than `100-continue`.
        case expectationUnknown
        /// 431: the field lines are too many or too long.
        case fieldsTooLarge
        /// 500: a fault of the server.
        case broken
        /// 501: a method or a transfer coding that is not implemented.
        case notImplemented
        /// 503: too many connections are open, or requests hold too much memory.
        case overloaded
        /// 505: another major version.
        case versionNotSupported
    }

    public let kind: Kind

    /// One sentence about what was wrong: constant text, without a byte of the request.
    public let reason: String

    public let peer: PeerAddress

    /// When the first byte of the refused request was read, or the connection was accepted.
    public let firstByteAt: MonotonicTime

    /// The request's `Origin` field, if it was read before the refusal.
    public let origin: String?

    public init(
        kind: Kind,
        reason: String,
        peer: PeerAddress,
        firstByteAt: MonotonicTime,
        origin: String? = nil
    ) {
        self.kind = kind
        self.reason = reason
        self.peer = peer
        self.origin = origin
        self.firstByteAt = firstByteAt
    }

    public var status: Status { kind.status }
}

extension Rejection.Kind {
    public var status: Status {
        switch self {
        case .malformed: .badRequest
        case .tooSlow: .requestTimeout
        case .bodyTooLarge: .contentTooLarge
        case .targetTooLong: .uriTooLong
        case .expectationUnknown: .expectationFailed
        case .fieldsTooLarge: .requestHeaderFieldsTooLarge
        case .broken: .internalServerError
        case .notImplemented: .notImplemented
        case .overloaded: .serviceUnavailable
        case .versionNotSupported: .httpVersionNotSupported
        }
    }
}
