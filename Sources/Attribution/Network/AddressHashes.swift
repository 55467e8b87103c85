/// An address as it is stored and compared, on two levels: the first words of keyed hashes.
///
/// The first bits of either say under which day's key it was made, so that hashes of different keys are never taken for
/// different addresses.
public struct AddressHashes: Hashable, Sendable {
    /// Of the IPv4 address, or of the IPv6 /64.
    public let exact: UInt64
    /// Of the IPv4 /24, or of the IPv6 /48.
    public let near: UInt64

    /// Bits that say which key, more than a month of days.
    private static let markBits: UInt64 = 6
    /// The bits of a word that are hash.
    public static let hashBits: UInt64 = .max >> markBits
    static let markCount = 1 << Int(markBits)

    public init(exact: UInt64, near: UInt64) {
        self.exact = exact
        self.near = near
    }

    /// Hashes under the key of a day since 1970.
    init(exact: UInt64, near: UInt64, keyedOn day: Int64) {
        let mark = UInt64(bitPattern: day) << (64 - Self.markBits)
        self.init(exact: exact & Self.hashBits | mark, near: near & Self.hashBits | mark)
    }

    /// Which key they were made under.
    var mark: Int { Int(exact >> (64 - Self.markBits)) }

    /// How the address of a launch compares with that of a click; ``AddressAgreement/missing`` where one is not known, or
    /// where they were hashed under different keys.
    public static func agreement(_ click: AddressHashes?, _ launch: AddressHashes?) -> AddressAgreement {
        guard let click, let launch, click.mark == launch.mark else { return .missing }
        if click.exact == launch.exact { return .exact }
        return click.near == launch.near ? .near : .differs
    }
}

extension NetworkAddress {
    /// Whether it can tell visitors apart: loopback, private and shared addresses are missing evidence.
    public var tellsVisitors: Bool { !isLoopback && !isPrivate && !isShared }
}

extension ServerKey {
    /// What is stored instead of an address, as of 1970; nil for one that tells nothing.
    public func addressHashes(of address: NetworkAddress) -> AddressHashes? {
        guard address.tellsVisitors else { return nil }
        return AddressHashes(
            exact: addressHash(of: address.prefix(ipv4Bits: 32, ipv6Bits: 64), bits: 0),
            near: addressHash(of: address.prefix(ipv4Bits: 24, ipv6Bits: 48), bits: 1),
            keyedOn: 0
        )
    }
}

/// The address of a launch, hashed under the key of its own day and, where clicks of another day are compared with it,
/// under that day's.
public struct LaunchAddress: Sendable {
    /// Under the key of its own day: what is recorded of it and learnt from it.
    public let present: AddressHashes
    /// From when on clicks are found by the address; nil: all of them are.
    public let since: Timestamp?
    private let searchedDays: Int
    private let onOtherDay: (@Sendable (Int) -> AddressHashes?)?
    /// Made so far, by ``AddressHashes/mark``; nil where there is no such key.
    private var made: [Int: AddressHashes?] = [:]

    /// One that is compared with hashes of the same key alone.
    public init(_ present: AddressHashes) {
        self.init(present, searchedDays: 0, since: nil, onOtherDay: nil)
    }

    init(
        _ present: AddressHashes,
        searchedDays: Int,
        since: Timestamp?,
        onOtherDay: (@Sendable (_ daysLater: Int) -> AddressHashes?)?
    ) {
        self.present = present
        self.searchedDays = searchedDays
        self.since = since
        self.onOtherDay = onOtherDay
    }

    /// How it compares with a click's.
    public mutating func agreement(with click: AddressHashes?) -> AddressAgreement {
        guard let click else { return .missing }
        guard click.mark != present.mark else { return AddressHashes.agreement(click, present) }
        return AddressHashes.agreement(click, hashes(marked: click.mark))
    }

    /// As clicks may have it that are to be found by it: of its own day first, then of those before.
    public mutating func searched() -> [AddressHashes] {
        var all = [present]
        for days in 1..<max(1, searchedDays + 1) {
            let mark = (present.mark - days + AddressHashes.markCount) % AddressHashes.markCount
            if let hashes = hashes(marked: mark) { all.append(hashes) }
        }
        return all
    }

    private mutating func hashes(marked mark: Int) -> AddressHashes? {
        guard let onOtherDay else { return nil }
        if let known = made[mark] { return known }
        // The nearest day that has the mark: half of all marks lie before this one, half behind it.
        let count = AddressHashes.markCount
        let ahead = (mark - present.mark + count) % count
        let hashes = onOtherDay(ahead < count / 2 ? ahead : ahead - count)
        made[mark] = .some(hashes)
        return hashes
    }
}

extension LaunchAddress: Equatable {
    public static func == (left: LaunchAddress, right: LaunchAddress) -> Bool {
        left.present == right.present && left.since == right.since && left.searchedDays == right.searchedDays
    }
}
