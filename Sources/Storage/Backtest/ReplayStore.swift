internal import Attribution

/// A store of one app in memory: live clicks by fingerprint and address, claims, learnt counters.
///
/// After a click's window has ended, the store drops the click and keeps only its name and number. So memory grows
/// mostly with the live clicks.
struct ReplayStore: Sendable {
    struct Stored: Sendable {
        let click: RecordedClick
        /// The last time at which a launch may be credited to the click.
        let end: Timestamp
        /// The last time at which the click's fingerprint finds the click.
        let fingerprintEnd: Timestamp
        var claimedAt: Timestamp?
        /// Whether the claim of another click has closed this click as a duplicate.
        var isRetired = false

        var isOpen: Bool { claimedAt == nil && !isRetired }
    }

    /// A click under one of its fingerprints.
    struct Row: Sendable {
        let click: Int
        let fingerprint: RecordedFingerprint
    }

    /// The clicks by number; the first recorded click has number 0.
    private var clicks = TimeOrdered<Stored>()
    private var numbers: [UInt64: Int] = [:]
    private var live = ExpiryQueue()
    /// The clicks whose ``Stored/fingerprintEnd`` has not passed, open or not.
    private var findable = ExpiryQueue()
    /// The number of findable clicks that were claimed or closed as duplicates.
    private var closedCount = 0
    /// Clicks by fingerprint, oldest first; before a read, claimed and ended ones are removed from the front.
    private var byFingerprint: [UInt64: TimeOrdered<Row>] = [:]
    /// Clicks by address; claimed ones remain until their window ends.
    private var byExact: [UInt64: TimeOrdered<Int>] = [:]
    private var byNear: [UInt64: TimeOrdered<Int>] = [:]
    private var summaries: [UInt64: KeySummary] = [:]
    private var clickCounts: [AddressHashes: AddressClickCount] = [:]
    var counters: ReplayCounters
    /// The time of the last launch that read the store.
    private(set) var now: Timestamp

    /// The largest time between two duplicate clicks, in milliseconds; a claim of the later one closes the
    /// earlier one.
    private static let duplicateSpan: Int64 = 600_000

    /// The maximum number of addresses whose counts are stored.
    private static let maximumClickCounts = 1000

    /// The window for matches by fingerprint; nil for the clicks' own windows.
    let fingerprintWindow: AttributionWindow?

    init(began: Timestamp, fingerprintWindow: AttributionWindow? = nil) {
        self.fingerprintWindow = fingerprintWindow
        counters = ReplayCounters(began: began)
        now = began
    }

    /// The click with a number; nil once it is dropped.
    subscript(number: Int) -> Stored? { clicks[number] }

    /// Returns the number of the click with a name, even if it is dropped; nil if it was never recorded.
    func number(of name: UInt64) -> Int? { numbers[name] }

    /// The number of clicks that can be matched, under all fingerprints.
    var liveCount: Int { findable.count - closedCount }

    mutating func record(_ click: RecordedClick, endingAt end: Timestamp) {
        let number = clicks.endIndex
        let fingerprintEnd = fingerprintWindow.map { min(end, $0.end(ofClickAt: click.at)) } ?? end
        clicks.append(
            Stored(click: click, end: end, fingerprintEnd: fingerprintEnd, claimedAt: click.consumedAt)
        )
        if click.consumedAt != nil { closedCount += 1 }
        numbers[click.name] = number
        live.insert(number, endingAt: end)
        findable.insert(number, endingAt: fingerprintEnd)
        for (index, fingerprint) in click.fingerprints.enumerated()
        // Two forms may produce the same fingerprint.
        where !click.fingerprints[..<index].contains(where: { $0.key == fingerprint.key }) {
            byFingerprint[fingerprint.key, default: TimeOrdered()]
                .append(Row(click: number, fingerprint: fingerprint))
        }
        guard let address = click.address else { return }
        byExact[address.exact, default: TimeOrdered()].append(number)
        byNear[address.near, default: TimeOrdered()].append(number)
    }

    /// Claims a click, and retires its duplicates: the open clicks of its visit in the ten minutes before it.
    ///
    /// - Returns: false if the click was claimed, retired or dropped before.
    mutating func claim(_ number: Int, at moment: Timestamp) -> Bool {
        guard let stored = clicks[number], stored.isOpen else { return false }
        clicks[number]?.claimedAt = moment
        if stored.fingerprintEnd >= now { closedCount += 1 }
        for other in suspects(of: stored.click) where other != number {
            guard let twin = clicks[other], twin.isOpen, twin.end >= moment,
                twin.click.at <= stored.click.at, Self.isOneVisit(twin.click, stored.click)
            else { continue }
            clicks[other]?.isRetired = true
            if twin.fingerprintEnd >= now { closedCount += 1 }
        }
        return true
    }

    /// Returns the clicks that may be duplicates of a click: those of its address, or else of its fingerprint, in the ten
    /// minutes before it.
    private func suspects(of click: RecordedClick) -> [Int] {
        if let address = click.address {
            return byExact[address.exact].map { rows in suspects(rows, upTo: click.at) { $0 } } ?? []
        }
        // Without an address, `visitor` is a hash of the user agent alone, which many people share. So a click without
        // a visit has no duplicates.
        guard click.visit != nil, let key = click.fingerprints.first?.key, let rows = byFingerprint[key]
        else { return [] }
        return suspects(rows, upTo: click.at) { $0.click }
    }

    private func suspects<Element>(
        _ rows: TimeOrdered<Element>,
        upTo end: Timestamp,
        _ number: (Element) -> Int
    ) -> [Int] {
        let first = end.advanced(byMilliseconds: -Self.duplicateSpan)
        // A dropped click is older than all others.
        return rows.rest(afterAll: { row in clicks[number(row)].map { $0.click.at < first } ?? true })
            .prefix { row in clicks[number(row)].map { $0.click.at <= end } ?? false }
            .map(number)
    }

    private static func isOneVisit(_ one: RecordedClick, _ other: RecordedClick) -> Bool {
        guard abs(one.at.milliseconds(since: other.at)) <= duplicateSpan else { return false }
        if let visit = one.visit, let otherVisit = other.visit { return visit == otherVisit }
        return one.visitor == other.visitor && one.destination == other.destination
    }

    /// Returns the newest open click with one of the fingerprints and this destination.
    func newest(_ keys: [UInt64], _ destination: CreditedDestination) -> Int? {
        keys.compactMap { key in
            byFingerprint[key]?.rest.last { row in
                clicks[row.click].map { stored in
                    stored.isOpen && stored.click.destination == destination
                        && (fingerprintWindow == nil || stored.fingerprintEnd >= now)
                } ?? false
            }?.click
        }.max()
    }

    /// Forgets clicks whose windows have ended before `now`.
    private mutating func drop(endedBefore now: Timestamp) {
        self.now = now
        while let number = findable.popEnded(before: now) {
            if clicks[number]?.isOpen == false { closedCount -= 1 }
        }
        while let number = live.popEnded(before: now) {
            guard let click = clicks[number]?.click else { continue }
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

    private func hasEnded(_ number: Int, before now: Timestamp) -> Bool {
        clicks[number].map { $0.end < now } ?? true
    }

    /// Forgets a fingerprint's oldest clicks, up to the first that can be matched.
    private mutating func skipUnmatchable(_ key: UInt64, at now: Timestamp) {
        while let first = byFingerprint[key]?.first {
            let click = clicks[first.click]
            guard click.map({ !$0.isOpen || $0.end < now }) ?? true else { break }
            byFingerprint[key]?.removeFirst()
        }
        guard byFingerprint[key]?.isEmpty == true else { return }
        byFingerprint[key] = nil
        summaries[key] = nil
    }
}

/// The evidence for answers.
extension ReplayStore {
    /// Returns the evidence for a launch; empty if no click with one of its fingerprints is live.
    mutating func evidence(_ keys: [UInt64], address: AddressHashes?, at now: Timestamp) -> CandidateEvidence
    {
        drop(endedBefore: now)
        let keys = keys.map { KeyedHash(index: $0, rest: 0) }
        let selections = selections(of: keys)
        guard selections.contains(where: { !$0.open.isEmpty }) else { return CandidateEvidence() }
        return evidence(
            of: selections,
            launch: address.map { LaunchAddress($0) },
            firstKeys: Array(keys.prefix(1)),
            epoch: counters.epoch
        )
    }

    /// Returns whether a live click with a fingerprint of the launch came after a time and may belong to the launch.
    mutating func hasClick(of launch: RecordedLaunch, after time: Timestamp) -> Bool {
        drop(endedBefore: launch.at)
        let selections = selections(of: launch.fingerprints.map { KeyedHash(index: $0, rest: 0) })
        let newest = selections.newestClick(from: launch.address.map { LaunchAddress($0) })
        return newest.map { $0.clickedAt > time.milliseconds } ?? false
    }
}

/// The store's clicks, in the order of a database's index.
extension ReplayStore: EvidenceSource {
    typealias Failure = Never

    func summary(of key: KeyedHash) -> KeySummary? { summaries[key.index] }

    mutating func renewSummary(of key: KeyedHash) -> Bool {
        var builder = KeySummary.Builder(at: now, within: fingerprintWindow)
        forEachOpen(key.index) { click in
            builder.add(click)
            return true
        }
        summaries[key.index] = builder.finished()
        return true
    }

    mutating func read(_ selection: inout KeySelection) {
        skipUnmatchable(selection.key.index, at: now)
        forEachOpen(selection.key.index) { selection.add($0) }
    }

    /// Passes the open clicks of a fingerprint to `body`, newest first, until `body` returns false.
    private func forEachOpen(_ key: UInt64, _ body: (IndexRecord) -> Bool) {
        guard let rows = byFingerprint[key] else { return }
        for index in stride(from: rows.endIndex - 1, through: rows.firstIndex, by: -1) {
            guard let row = rows[index], let stored = self[row.click], stored.isOpen else { continue }
            guard body(Self.record(stored, row.click, row.fingerprint)) else { return }
        }
    }

    private static func record(_ stored: Stored, _ number: Int, _ fingerprint: RecordedFingerprint)
        -> IndexRecord
    { IndexRecord(stored.click, Int64(number), fingerprint, expiresAt: stored.end) }

    func read(_ selection: inout AddressSelection) {
        let (address, key) = (selection.address, selection.key.index)
        let near = byNear[address.near]?.rest ?? []
        for number in near.suffix(AddressSelection.maximumRead).reversed() {
            guard let stored = self[number], stored.end >= now else { continue }
            selection.add(
                RowPosition(clickedAt: stored.click.at.milliseconds, click: Int64(number)),
                isExact: stored.click.address?.exact == address.exact,
                isOfKey: stored.click.fingerprints.contains { $0.key == key }
            )
        }
    }

    func lookUp(_ clicks: [AddressSelection.Wanted], for selection: inout AddressSelection) {
        for wanted in clicks {
            let number = Int(wanted.position.click)
            guard let stored = self[number], stored.end >= now,
                let fingerprint = stored.click.fingerprints.first(where: { $0.key == selection.key.index })
            else { continue }
            if stored.isOpen {
                _ = selection.add(Self.record(stored, number, fingerprint))
            } else if wanted.isExact, let claimedAt = stored.claimedAt {
                selection.addClaimed(wanted.position, at: claimedAt)
            }
        }
    }

    mutating func clickCount(around address: AddressHashes) -> AddressClickCount {
        if let known = clickCounts[address], !known.isOld(at: now) { return known }
        var builder = AddressClickCount.Builder(around: address, at: now, within: fingerprintWindow)
        let near = byNear[address.near]?.rest ?? []
        for number in near.suffix(AddressClickCount.Builder.maximumRead).reversed() {
            guard let click = self[number]?.click else { continue }
            builder.add(clickedAt: click.at, exact: click.address?.exact)
        }
        if clickCounts.count >= Self.maximumClickCounts { clickCounts = [:] }
        let count = builder.finished()
        clickCounts[address] = count
        return count
    }

    func liveClickCount() -> Double { Double(liveCount) }
    func learntSum(_ family: CounterFamily, _ key: UInt64) -> Double { counters.sum(family, key) }
}
