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

    private func trusts(_ address: NetworkAddress) -> Bool {
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

/// `X-Forwarded-For: client, proxy, proxy`, as proxies agree on it without a standard.
enum XForwardedFor {
    /// Nearest hop first.
    static func hops(in values: [String]) -> [NetworkAddress?] {
        values.flatMap { $0.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) }
            .reversed()
            .map { ForwardedNode.address(of: Array($0)[...].trimmed) }
    }
}

/// A node as proxies write it: an address, with or without a port (RFC 7239 §6).
enum ForwardedNode {
    /// Nil for `unknown`, pseudonyms (`_hidden`) and whatever else is no address.
    static func address(of node: ArraySlice<UInt8>) -> NetworkAddress? {
        guard let first = node.first else { return nil }
        if first == UInt8(ascii: "[") {
            guard let end = node.firstIndex(of: UInt8(ascii: "]")), isPort(node[(end + 1)...]) else {
                return nil
            }
            return ipv6(node[(node.startIndex + 1)..<end])
        }
        let colons = node.indices.filter { node[$0] == UInt8(ascii: ":") }
        switch colons.count {
        case 0: return NetworkAddress(String(decoding: node, as: UTF8.self))
        case 1:
            guard isPort(node[colons[0]...]) else { return nil }
            return NetworkAddress(String(decoding: node[..<colons[0]], as: UTF8.self))
        default: return ipv6(node)
        }
    }

    private static func ipv6(_ text: ArraySlice<UInt8>) -> NetworkAddress? {
        guard text.contains(UInt8(ascii: ":")) else { return nil }
        return NetworkAddress(String(decoding: text, as: UTF8.self))
    }

    /// Nothing, or `:` with a number or a pseudonym.
    private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
        guard let colon = text.first else { return true }
        let port = text.dropFirst()
        guard colon == UInt8(ascii: ":"), let first = port.first else { return false }
        if first == UInt8(ascii: "_") { return port.count > 1 && port.dropFirst().allSatisfy(isObscured) }
        return port.count <= 5 && port.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    private static func isObscured(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "-")
    }
}
