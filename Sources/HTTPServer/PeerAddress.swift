/// Where a connection comes from: the 16 bytes of an IPv6 address, and a port.
///
/// An IPv4 address stands in its mapped form, `::ffff:a.b.c.d` (RFC 4291 §2.5.5.2), so that there is
/// one kind of address only. Text forms are made and read elsewhere.
public struct PeerAddress: Sendable, Hashable {
    /// The address's first eight bytes, most significant first.
    public let high: UInt64

    /// The address's last eight bytes, most significant first.
    public let low: UInt64

    public let port: UInt16

    public init(high: UInt64, low: UInt64, port: UInt16) {
        self.high = high
        self.low = low
        self.port = port
    }

    /// An IPv4 address in its mapped form: `0x7F00_0001` is 127.0.0.1.
    public init(ipv4 address: UInt32, port: UInt16) {
        self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(address), port: port)
    }

    /// The four bytes of an IPv4 address, if this is one in its mapped form.
    public var ipv4: UInt32? {
        high == 0 && low >> 32 == 0xFFFF ? UInt32(truncatingIfNeeded: low) : nil
    }
}
