/// What a store holds of one app, in memory: live clicks by fingerprint and address, claims, learnt counters.
///
/// A click is dropped when its window has ended, so that memory follows the live clicks; what is left of it is its name.
struct ReplayStore: Sendable {
    struct Stored: Sendable {
        let click: RecordedClick
        /// The last moment in which a launch may be credited to it.
        let end: Timestamp
        var claimedAt: Timestamp?
        /// Taken out with another click of the same visitor.
        var isRetired = false

        var isOpen: Bool { claimedAt == nil && !isRetired }
    }

    /// A click under one of its fingerprints.
    struct Row: Sendable {
        let click: Int
        let fingerprint: RecordedFingerprint
    }

    /// By their numbers, which count from the first click on.
    private var clicks = TimeOrdered<Stored>()
    private var numbers: [UInt64: Int] = [:]
    private var live = ExpiryQueue()
    /// Clicks within their window that can be matched no more.
    private var closedCount = 0
    /// Clicks by fingerprint, without those at the front that nobody can match any more.
    private var byFingerprint: [UInt64: TimeOrdered<Row>] = [:]
    /// By address; claimed ones stay as long as their window lasts.
    private var byExact: [UInt64: TimeOrdered<Int>] = [:]
    private var byNear: [UInt64: TimeOrdered<Int>] = [:]
    var summaries: [UInt64: ReplaySummary] = [:]
    var crowds: [AddressHashes: ReplayAddressCount] = [:]
    var counters: ReplayCounters

    /// Clicks of one visitor that lie so close, in milliseconds, are retired together.
    private static let duplicateSpan: Int64 = 600_000

    init(began: Timestamp) {
        counters = ReplayCounters(began: began)
    }

    /// A click by its number; nil when its window has ended long ago.
    subscript(number: Int) -> Stored? { clicks[number] }

    /// The click of a name, held or not; nil for one that was never recorded.
    func number(of name: UInt64) -> Int? { numbers[name] }

    /// Clicks that can be matched, whatever their fingerprint.
    var liveCount: Int { live.count - closedCount }

    func rows(_ key: UInt64) -> TimeOrdered<Row>? { byFingerprint[key] }

    func clicks(near address: AddressHashes) -> ArraySlice<Int> { byNear[address.near]?.rest ?? [] }

    mutating func record(_ click: RecordedClick, endingAt end: Timestamp) {
        let number = clicks.endIndex
        clicks.append(Stored(click: click, end: end, claimedAt: click.consumedAt))
        if click.consumedAt != nil { closedCount += 1 }
        if let name = click.name { numbers[name] = number }
        live.insert(number, endingAt: end)
        for fingerprint in click.fingerprints {
            byFingerprint[fingerprint.key, default: TimeOrdered()]
                .append(Row(click: number, fingerprint: fingerprint))
        }
        guard let address = click.address else { return }
        byExact[address.exact, default: TimeOrdered()].append(number)
        byNear[address.near, default: TimeOrdered()].append(number)
    }

    /// Consumes a click, and retires the same visitor's duplicates of the ten minutes before it.
    ///
    /// - Returns: false for one that was consumed before.
    mutating func claim(_ number: Int, at moment: Timestamp) -> Bool {
        guard let stored = clicks[number], stored.isOpen else { return false }
        clicks[number]?.claimedAt = moment
        closedCount += 1
        for other in suspects(of: stored.click) where other != number {
            guard let twin = clicks[other], twin.isOpen, twin.end >= moment,
                twin.click.at <= stored.click.at, Self.isOneVisit(twin.click, stored.click)
            else { continue }
            clicks[other]?.isRetired = true
            closedCount += 1
        }
        return true
    }

    /// Clicks among which the duplicates of one are, all of those of its minutes.
    private func suspects(of click: RecordedClick) -> [Int] {
        if let address = click.address { return byExact[address.exact].map { Array($0.rest) } ?? [] }
        // Without a word on the visit, equal agents alone do not make one visitor.
        guard click.visit != nil, let key = click.fingerprints.first?.key, let rows = byFingerprint[key]
        else {
            return []
        }
        let first = click.at.advanced(byMilliseconds: -Self.duplicateSpan)
        return rows.rest.reversed().prefix { (clicks[$0.click]?.click.at ?? first) >= first }.map(\.click)
    }

    private static func isOneVisit(_ one: RecordedClick, _ other: RecordedClick) -> Bool {
        guard abs(one.at.milliseconds(since: other.at)) <= duplicateSpan else { return false }
        if let visit = one.visit, let otherVisit = other.visit { return visit == otherVisit }
        return one.visitor == other.visitor && one.destination == other.destination
    }

    /// The newest unclaimed click with one of the fingerprints that leads to the destination.
    func newest(_ keys: [UInt64], _ destination: CreditedDestination) -> Int? {
        keys.compactMap { key in
            byFingerprint[key]?.rest.last { row in
                clicks[row.click].map { $0.isOpen && $0.click.destination == destination } ?? false
            }?.click
        }.max()
    }

    /// Forgets clicks whose windows have ended before `now`.
    mutating func drop(endedBefore now: Timestamp) {
        while let number = live.popEnded(before: now) {
            guard let stored = clicks[number] else { continue }
            let click = stored.click
            if !stored.isOpen { closedCount -= 1 }
            for fingerprint in click.fingerprints { skipUnmatchable(fingerprint.key, at: now) }
            if let address = click.address { drop(address, endedBefore: now) }
        }
        while let first = clicks.first, first.end < now { clicks.removeFirst() }
    }

    private mutating func drop(_ address: AddressHashes, endedBefore now: Timestamp) {
        while let first = byExact[address.exact]?.first, hasEnded(first, before: now) {
            byExact[address.exact]?.removeFirst()
        }
        if byExact[address.exact]?.isEmpty == true { byExact[address.exact] = nil }
        while let first = byNear[address.near]?.first, hasEnded(first, before: now) {
            byNear[address.near]?.removeFirst()
        }
        if byNear[address.near]?.isEmpty == true { byNear[address.near] = nil }
    }

    /// Forgets the oldest clicks with a fingerprint as far as they are claimed or ended.
    mutating func skipUnmatchable(_ key: UInt64, at now: Timestamp) {
        while let first = byFingerprint[key]?.first {
            let click = clicks[first.click]
            guard click.map({ !$0.isOpen || $0.end < now }) ?? true else { break }
            byFingerprint[key]?.removeFirst()
        }
        guard byFingerprint[key]?.isEmpty == true else { return }
        byFingerprint[key] = nil
        summaries[key] = nil
    }

    private func hasEnded(_ number: Int, before now: Timestamp) -> Bool {
        clicks[number].map { $0.end < now } ?? true
    }
}
