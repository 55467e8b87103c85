/// The networks whose word about the caller's address is believed.
///
/// Anybody can write `X-Forwarded-For`; only what a configured proxy added to it is true (ASVS 5, 4.1.3).
public struct TrustedProxies: Sendable {
    public let ranges: [AddressRange]

    public init(_ ranges: [AddressRange]) {
        self.ranges = ranges
    }

    /// The address of who sent the request: the rightmost hop that is not a trusted proxy.
    ///
    /// Every proxy appends the address it was called from. Read from the right, each hop is the word of the
    /// one after it, and is believed as long as that one is trusted. A hop that is no address (`unknown`, a
    /// pseudonym, rubbish) ends the reading at the last good one.
    ///
    /// With both headers, they have to agree: a proxy writes one and may pass the caller's own version of the
    /// other on unread, and nobody can tell here which. If they differ, only the peer is certain.
    ///
    /// `peer` is the other end of the connection; `forwardedFor` and `forwarded` are the values of
    /// `X-Forwarded-For` and of `Forwarded` (RFC 7239) in the order of their field lines.
    public func client(
        peer: NetworkAddress,
        forwardedFor: [String] = [],
        forwarded: [String] = []
    ) -> NetworkAddress {
        guard trusts(peer) else { return peer }
        let byForwardedFor = walk(from: peer, through: XForwardedFor.hops(in: forwardedFor))
        let byForwarded = walk(from: peer, through: ForwardedField.hops(in: forwarded))
        if forwarded.isEmpty { return byForwardedFor }
        if forwardedFor.isEmpty { return byForwarded }
        return byForwarded == byForwardedFor ? byForwarded : peer
    }

    /// Whether the word of this peer is believed.
    public func trusts(_ address: NetworkAddress) -> Bool {
        ranges.contains { $0.contains(address) }
    }

    /// The hops come nearest first; nil is one that is no address.
    private func walk(from peer: NetworkAddress, through hops: [NetworkAddress?]) -> NetworkAddress {
        var current = peer
        for hop in hops {
            guard trusts(current), let hop else { break }
            current = hop
        }
        return current
    }
}
