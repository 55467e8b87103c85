/// Why there is no answer to a request of our own.
public enum HTTPSFailure: Error, Equatable, Sendable {
    /// The system knows no address of the host.
    case unknownHost
    /// One of the host's addresses may not be called; none was.
    case addressRefused
    /// Nobody answered at any of the host's addresses.
    case notReached
    /// The whole took too long; `stage` says what was waited for.
    case timedOut(stage: Stage)
    /// The certificate is not for the host, not from an authority that is trusted, or not valid now; OpenSSL's words.
    case certificate(String)
    /// TLS failed for another reason, such as a server that speaks none.
    case tls
    /// What came is no HTTP/1.1 answer, by one sentence.
    case malformed(String)
    /// The body is longer than what is read.
    case tooLarge
    /// The connection ended before the answer did.
    case endedEarly
    /// This machine could not: too many calls under way, no descriptor, no memory.
    case resources

    public enum Stage: String, Sendable {
        case name, connection, handshake, answer
    }

    /// One sentence without its full stop, which names nothing but what was called.
    public var message: String {
        switch self {
        case .unknownHost: "the name is not known: it has no address"
        case .addressRefused:
            "the name leads to an address inside a network, such as 127.0.0.1 or 10.0.0.1, which is not called"
        case .notReached: "nobody answers: the connection is refused or there is no way"
        case .timedOut(.name): "the name was not looked up in time"
        case .timedOut(.connection): "the connection was not made in time"
        case .timedOut(.handshake): "the TLS handshake was not done in time"
        case .timedOut(.answer): "the answer did not come in time"
        case .certificate(let reason): "the certificate is refused: \(reason)"
        case .tls: "TLS failed: the server speaks none there, or none that is safe (1.2 and later)"
        case .malformed(let reason): "what came is no HTTP/1.1 answer: \(reason)"
        case .tooLarge: "the answer is too long"
        case .endedEarly: "the connection ended before the answer did"
        case .resources: "too many calls are under way here"
        }
    }
}
