/// An address on the two levels on which addresses are compared, each as a hash.
public struct RecordedAddress: Hashable, Sendable {
    /// IPv4, or IPv6 /64.
    public let exact: UInt64
    /// IPv4 /24, or IPv6 /48.
    public let near: UInt64

    public init(exact: UInt64, near: UInt64) {
        self.exact = exact
        self.near = near
    }

    /// How two addresses agree; missing where either is.
    static func agreement(_ one: RecordedAddress?, _ other: RecordedAddress?) -> AddressAgreement {
        guard let one, let other else { return .missing }
        if one.exact == other.exact { return .exact }
        return one.near == other.near ? .near : .differs
    }
}

extension RecordedAddress {
    /// Nil for an address that says nothing of a device: loopback, private, or shared by a carrier's customers.
    public init?(_ address: NetworkAddress) {
        guard !address.isLoopback, !address.isPrivate, !address.isShared else { return nil }
        self.init(
            exact: RecordedEvent.hash(address.prefix(ipv4Bits: 32, ipv6Bits: 64).text),
            near: RecordedEvent.hash(address.prefix(ipv4Bits: 24, ipv6Bits: 48).text + "/near")
        )
    }
}
