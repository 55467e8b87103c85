/// All addresses that begin with the same bits, as in `10.0.0.0/8` or `2001:db8::/32` (CIDR, RFC 4632).
public struct AddressRange: Hashable, Sendable {
    /// The first address.
    public let base: NetworkAddress
    /// How many of the 128 bits are fixed; an IPv4 range fixes 96 and its own.
    let fixedBits: Int

    /// Reads an address, alone or with `/` and the number of fixed bits; nil for anything else.
    ///
    /// Bits behind the fixed ones are dropped: `192.168.1.7/24`, as network tools print it, is
    /// `192.168.1.0/24`.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = NetworkAddress(String(parts[0])) else { return nil }
        // What is written with colons is measured in the bits of IPv6, a v4-mapped address too.
        let isDottedQuad = !parts[0].utf8.contains(UInt8(ascii: ":"))
        let width: UInt32 = isDottedQuad ? 32 : 128
        var bits = width
        if parts.count == 2 {
            guard let number = NetworkAddress.decimal(Array(parts[1].utf8)[...], upTo: width) else {
                return nil
            }
            bits = number
        }
        fixedBits = Int(bits) + (isDottedQuad ? 96 : 0)
        base = address.masked(to: fixedBits)
    }

    public func contains(_ address: NetworkAddress) -> Bool {
        address.masked(to: fixedBits) == base
    }
}
