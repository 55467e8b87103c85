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
