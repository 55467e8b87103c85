/// How ``TrustedProxies/client(peer:forwardedFor:forwarded:)`` comes to its answer, for people.
public struct ClientDerivation: Equatable, Sendable {
    /// One hop of a header, read from the right.
    public enum Hop: Equatable, Sendable {
        /// A trusted proxy: what it says of the hop before it is believed.
        case trusted(NetworkAddress)
        /// Believed, and no proxy of ours: the client.
        case client(NetworkAddress)
        /// No address, such as `unknown`: the reading ends at the hop after it.
        case notAnAddress
        /// Further left than the reading goes: anybody may have written it.
        case unread(NetworkAddress?)
    }

    /// Whether the other end of the connection is a trusted proxy; otherwise no header is read.
    public let peerIsTrusted: Bool
    /// The hops of `X-Forwarded-For`, the nearest first.
    public let forwardedFor: [Hop]
    /// The hops of `Forwarded`, the nearest first.
    public let forwarded: [Hop]
    /// Whether both headers are there and name different clients: then only the peer is certain.
    public let headersDisagree: Bool
    public let client: NetworkAddress
}

extension TrustedProxies {
    /// What ``client(peer:forwardedFor:forwarded:)`` answers, and why.
    public func derivation(
        peer: NetworkAddress,
        forwardedFor: [String],
        forwarded: [String]
    ) -> ClientDerivation {
        let peerIsTrusted = trusts(peer)
        let byForwardedFor = client(peer: peer, forwardedFor: forwardedFor)
        let byForwarded = client(peer: peer, forwarded: forwarded)
        return ClientDerivation(
            peerIsTrusted: peerIsTrusted,
            forwardedFor: hops(XForwardedFor.hops(in: forwardedFor), isRead: peerIsTrusted),
            forwarded: hops(ForwardedField.hops(in: forwarded), isRead: peerIsTrusted),
            headersDisagree: peerIsTrusted && !forwardedFor.isEmpty && !forwarded.isEmpty
                && byForwardedFor != byForwarded,
            client: client(peer: peer, forwardedFor: forwardedFor, forwarded: forwarded)
        )
    }

    private func hops(_ hops: [NetworkAddress?], isRead: Bool) -> [ClientDerivation.Hop] {
        var isRead = isRead
        return hops.map { hop in
            guard isRead else { return .unread(hop) }
            guard let hop else {
                isRead = false
                return .notAnAddress
            }
            isRead = trusts(hop)
            return isRead ? .trusted(hop) : .client(hop)
        }
    }
}
