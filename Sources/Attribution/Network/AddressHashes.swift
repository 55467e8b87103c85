/// An address as it is stored and compared, on two levels: the first words of keyed hashes.
public struct AddressHashes: Hashable, Sendable {
    /// Of the IPv4 address, or of the IPv6 /64.
    public let exact: UInt64
    /// Of the IPv4 /24, or of the IPv6 /48.
    public let near: UInt64

    public init(exact: UInt64, near: UInt64) {
        self.exact = exact
        self.near = near
    }

    /// How the address of a launch compares with that of a click; ``AddressAgreement/missing`` where one is not known.
    public static func agreement(_ click: AddressHashes?, _ launch: AddressHashes?) -> AddressAgreement {
        guard let click, let launch else { return .missing }
        if click.exact == launch.exact { return .exact }
        return click.near == launch.near ? .near : .differs
    }
}

extension NetworkAddress {
    /// Whether it can tell visitors apart: loopback, private and shared addresses are missing evidence.
    public var tellsVisitors: Bool { !isLoopback && !isPrivate && !isShared }
}

extension ServerKey {
    /// What is stored instead of an address; nil for one that tells nothing.
    public func addressHashes(of address: NetworkAddress) -> AddressHashes? {
        guard address.tellsVisitors else { return nil }
        return AddressHashes(
            exact: addressHash(of: address.prefix(ipv4Bits: 32, ipv6Bits: 64), bits: 0),
            near: addressHash(of: address.prefix(ipv4Bits: 24, ipv6Bits: 48), bits: 1)
        )
    }
}
