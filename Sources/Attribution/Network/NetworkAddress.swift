/// An Internet address: the 16 bytes of an IPv6 address, in which an IPv4 address is the v4-mapped one
/// (RFC 4291 §2.5.5.2), so that a dual-stack socket and a header name the same caller alike.
public struct NetworkAddress: Hashable, Sendable {
    public let high: UInt64
    public let low: UInt64

    private static let mappedPrefix: UInt64 = 0xffff << 32

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// An IPv4 address from its 32 bits, the first byte highest.
    public init(ipv4 bits: UInt32) {
        self.init(high: 0, low: Self.mappedPrefix | UInt64(bits))
    }

    /// The 32 bits of an IPv4 address; nil for a true IPv6 address.
    public var ipv4: UInt32? {
        high == 0 && low >> 32 == 0xffff ? UInt32(truncatingIfNeeded: low) : nil
    }

    /// 127.0.0.0/8 and `::1`.
    public var isLoopback: Bool {
        guard let ipv4 else { return high == 0 && low == 1 }
        return ipv4 >> 24 == 127
    }

    /// Private (RFC 1918), unique local (RFC 4193) and link-local (RFC 3927, RFC 4291) addresses.
    public var isPrivate: Bool {
        guard let ipv4 else { return high >> 57 == 0x7e || high >> 54 == 0x3fa }
        return ipv4 >> 24 == 10 || ipv4 >> 20 == 0xac1 || ipv4 >> 16 == 0xc0a8 || ipv4 >> 16 == 0xa9fe
    }

    /// 100.64.0.0/10 (RFC 6598), which carriers share between many customers.
    public var isShared: Bool {
        ipv4.map { $0 >> 22 == 0x191 } ?? false
    }

    /// The address with all but the first bits cleared.
    ///
    /// An IPv4 address keeps `ipv4Bits` of its 32, an IPv6 address `ipv6Bits` of its 128.
    public func prefix(ipv4Bits: Int, ipv6Bits: Int) -> NetworkAddress {
        masked(to: ipv4 == nil ? ipv6Bits : 96 + ipv4Bits)
    }

    /// `203.0.113.0/24` or `2001:db8:1::/48`: as much of an address as logs may show.
    public var truncatedText: String {
        prefix(ipv4Bits: 24, ipv6Bits: 48).text + (ipv4 == nil ? "/48" : "/24")
    }

    /// The address with only the first `bits` of all 128 kept; clamped to 0…128.
    func masked(to bits: Int) -> NetworkAddress {
        // Swift's smart shift by 64 or more gives zero, which is what a mask of no bits needs.
        let highMask = UInt64.max << UInt64(64 - min(max(bits, 0), 64))
        let lowMask = UInt64.max << UInt64(64 - min(max(bits - 64, 0), 64))
        return NetworkAddress(high: high & highMask, low: low & lowMask)
    }
}
