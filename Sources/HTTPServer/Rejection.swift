public import Threads

/// Bytes that never became a request, or a connection that was turned away.
public struct Rejection: Sendable, Hashable {
    /// What kind of refusal it is; each has one status code.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// 400: not HTTP as RFC 9112 has it, or ambiguous.
        case malformed
        /// 408: the request was begun and not finished in time.
        case tooSlow
        /// 413: the body is longer than the limit.
        case bodyTooLarge
        /// 414: the request target is longer than the limit.
        case targetTooLong
        /// 417: an `Expect` other than `100-continue`.
        case expectationUnknown
        /// 431: the field lines are too many or too long.
        case fieldsTooLarge
        /// 500: the server's own fault.
        case broken
        /// 501: a method or a transfer coding that is not implemented.
        case notImplemented
        /// 503: as many connections as are allowed are open, or requests under way hold as much as they may.
        case overloaded
        /// 505: another major version.
        case versionNotSupported
    }

    public let kind: Kind

    /// One sentence that says what was wrong; constant text, without a byte of the request.
    public let reason: String

    public let peer: PeerAddress

    /// When the first byte of the refused request was read, or the connection was accepted.
    public let firstByteAt: MonotonicTime

    /// The request's `Origin` field, where it was read before the refusal.
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

    public var status: Status {
        kind.status
    }
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
