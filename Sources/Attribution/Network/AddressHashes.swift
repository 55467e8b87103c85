/// An address as it is stored and compared: the first 64 bits of two keyed hashes.
///
/// In both words, the index of the day's key replaces the highest bits. A comparison therefore recognises
/// hashes under different keys, and never counts them as different addresses.
public struct AddressHashes: Hashable, Sendable {
    /// The hash of the IPv4 address, or of the IPv6 /64.
    public let exact: UInt64
    /// The hash of the IPv4 /24, or of the IPv6 /48.
    public let near: UInt64

    /// The number of bits for the key index: any 64 successive days, more than twice the longest attribution
    /// window, have different indexes.
    private static let keyIndexBits: UInt64 = 6
    /// A mask of the bits of a word that contain the hash.
    public static let hashBits: UInt64 = .max >> keyIndexBits
    static let keyIndexCount = 1 << Int(keyIndexBits)

    public init(exact: UInt64, near: UInt64) {
        self.exact = exact
        self.near = near
    }

    /// Creates hashes under the key of `day`, a number of days since 1970.
    init(exact: UInt64, near: UInt64, keyedOn day: Int64) {
        let index = UInt64(bitPattern: day) << (64 - Self.keyIndexBits)
        self.init(exact: exact & Self.hashBits | index, near: near & Self.hashBits | index)
    }

    /// The index of the day's key under which the address was hashed.
    var keyIndex: Int { Int(exact >> (64 - Self.keyIndexBits)) }

    /// Compares the addresses of a click and a launch; ``AddressAgreement/missing`` if one is unknown, or if
    /// they were hashed under different keys.
    public static func agreement(_ click: AddressHashes?, _ launch: AddressHashes?) -> AddressAgreement {
        guard let click, let launch, click.keyIndex == launch.keyIndex else { return .missing }
        if click.exact == launch.exact { return .exact }
        return click.near == launch.near ? .near : .differs
    }
}

extension NetworkAddress {
    /// Whether the address can distinguish visitors; loopback, private, shared and unspecified addresses cannot.
    public var distinguishesVisitors: Bool { !isLoopback && !isPrivate && !isShared && !isUnspecified }
}

extension ServerKey {
    /// Returns the hashes that are stored instead of an address, with the key index of day 0; nil for an
    /// address that distinguishes no visitors.
    public func addressHashes(of address: NetworkAddress) -> AddressHashes? {
        guard address.distinguishesVisitors else { return nil }
        return AddressHashes(
            exact: addressHash(of: address.prefix(ipv4Bits: 32, ipv6Bits: 64), level: 0),
            near: addressHash(of: address.prefix(ipv4Bits: 24, ipv6Bits: 48), level: 1),
            keyedOn: 0
        )
    }
}

/// The address of a launch, hashed under the key of the launch's day, and on demand under the keys of other days.
public struct LaunchAddress: Sendable {
    /// The hashes under the key of the launch's day; the store records them, and the model learns from them.
    public let current: AddressHashes
    /// The time of the oldest clicks that the address can find; nil if it can find all.
    public let since: Timestamp?
    private let searchedDays: Int
    private let onOtherDay: (@Sendable (Int) -> AddressHashes?)?
    /// The hashes computed so far, by ``AddressHashes/keyIndex``; a value is nil if no key has the index.
    private var computed: [Int: AddressHashes?] = [:]

    /// Creates an address that is compared only with hashes under the same key.
    public init(_ current: AddressHashes) { self.init(current, searchedDays: 0, since: nil, onOtherDay: nil) }

    init(
        _ current: AddressHashes,
        searchedDays: Int,
        since: Timestamp?,
        onOtherDay: (@Sendable (_ daysLater: Int) -> AddressHashes?)?
    ) {
        (self.current, self.searchedDays) = (current, searchedDays)
        (self.since, self.onOtherDay) = (since, onOtherDay)
    }

    /// Compares the address with a click's.
    public mutating func agreement(with click: AddressHashes?) -> AddressAgreement {
        guard let click else { return .missing }
        guard click.keyIndex != current.keyIndex else { return AddressHashes.agreement(click, current) }
        return AddressHashes.agreement(click, hashes(keyIndex: click.keyIndex))
    }

    /// Returns the hashes that clicks from this address may have: the hash under the key of the
    /// launch's own day, then the hashes under the keys of some earlier days, the latest day first.
    public mutating func searched() -> [AddressHashes] {
        var all = [current]
        for days in 1..<max(1, searchedDays + 1) {
            let index = (current.keyIndex - days + AddressHashes.keyIndexCount) % AddressHashes.keyIndexCount
            if let hashes = hashes(keyIndex: index) { all.append(hashes) }
        }
        return all
    }

    private mutating func hashes(keyIndex index: Int) -> AddressHashes? {
        guard let onOtherDay else { return nil }
        if let known = computed[index] { return known }
        // Choose the nearest day with the index: half of the indices belong to days before this one, half to
        // days after it.
        let count = AddressHashes.keyIndexCount
        let ahead = (index - current.keyIndex + count) % count
        let hashes = onOtherDay(ahead < count / 2 ? ahead : ahead - count)
        computed[index] = .some(hashes)
        return hashes
    }
}

extension LaunchAddress: Equatable {
    public static func == (left: LaunchAddress, right: LaunchAddress) -> Bool {
        left.current == right.current && left.since == right.since && left.searchedDays == right.searchedDays
    }
}
