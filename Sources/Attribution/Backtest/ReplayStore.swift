/// What a store holds of one app, in memory: live clicks by fingerprint and address, claims, learnt counters.
///
/// A click is dropped when its window has ended, so that memory follows the live clicks; what is left of it is its name.
struct ReplayStore: Sendable {
    struct Stored: Sendable {
        let click: RecordedClick
        /// The last moment in which a launch may be credited to it.
        let end: Timestamp
        var claimedAt: Timestamp?
    }

    /// A click under one of its fingerprints.
    struct Row: Sendable {
        let click: Int
        let fingerprint: RecordedFingerprint
    }

    struct Place: Hashable, Sendable {
        let key: UInt64
        let near: UInt64
    }

    /// By their numbers, which count from the first click on.
    private var clicks = TimeOrdered<Stored>()
    private var numbers: [UInt64: Int] = [:]
    private var live = ExpiryQueue()
    /// Clicks by fingerprint, without those at the front that nobody can match any more.
    private var byFingerprint: [UInt64: TimeOrdered<Row>] = [:]
    /// By fingerprint and near address; claimed ones stay as long as their window lasts.
    private var byPlace: [Place: TimeOrdered<Row>] = [:]
    private var byExact: [UInt64: TimeOrdered<Int>] = [:]
    private var byNear: [UInt64: TimeOrdered<Int>] = [:]
    var summaries: [UInt64: ReplaySummary] = [:]
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

    /// Clicks within their window, claimed ones among them, whatever their fingerprint.
    var liveCount: Int { live.count }

    func rows(_ key: UInt64) -> TimeOrdered<Row>? { byFingerprint[key] }

    func rows(_ place: Place) -> ArraySlice<Row> { byPlace[place]?.rest ?? [] }

    func clicks(at address: AddressHashes) -> (exact: ArraySlice<Int>, near: ArraySlice<Int>) {
        (byExact[address.exact]?.rest ?? [], byNear[address.near]?.rest ?? [])
    }

    mutating func record(_ click: RecordedClick, endingAt end: Timestamp) {
        let number = clicks.endIndex
        clicks.append(Stored(click: click, end: end))
        if let name = click.name { numbers[name] = number }
        live.insert(number, endingAt: end)
        for fingerprint in click.fingerprints {
            let row = Row(click: number, fingerprint: fingerprint)
            byFingerprint[fingerprint.key, default: TimeOrdered()].append(row)
            guard let address = click.address else { continue }
            byPlace[Place(key: fingerprint.key, near: address.near), default: TimeOrdered()].append(row)
        }
        guard let address = click.address else { return }
        byExact[address.exact, default: TimeOrdered()].append(number)
        byNear[address.near, default: TimeOrdered()].append(number)
    }

    /// Consumes a click, and retires the same visitor's duplicates of the ten minutes around it.
    ///
    /// - Returns: false for one that was consumed before.
    mutating func claim(_ number: Int, at moment: Timestamp) -> Bool {
        guard let stored = clicks[number], stored.claimedAt == nil else { return false }
        clicks[number]?.claimedAt = moment
        guard let address = stored.click.address else { return true }
        for other in clicks(at: address).exact where other != number {
            guard let twin = clicks[other], twin.claimedAt == nil, twin.click.visitor == stored.click.visitor,
                twin.click.destination == stored.click.destination,
                abs(twin.click.at.milliseconds(since: stored.click.at)) < Self.duplicateSpan
            else { continue }
            clicks[other]?.claimedAt = moment
        }
        return true
    }

    /// The newest unclaimed click with one of the fingerprints that leads to the destination.
    func newest(_ keys: [UInt64], _ destination: CreditedDestination) -> Int? {
        keys.compactMap { key in
            byFingerprint[key]?.rest.last { row in
                clicks[row.click].map { $0.claimedAt == nil && $0.click.destination == destination } ?? false
            }?.click
        }.max()
    }

    /// Forgets clicks whose windows have ended before `now`.
    mutating func drop(endedBefore now: Timestamp) {
        while let number = live.popEnded(before: now) {
            guard let click = clicks[number]?.click else { continue }
            for fingerprint in click.fingerprints {
                skipUnmatchable(fingerprint.key, at: now)
                guard let address = click.address else { continue }
                let place = Place(key: fingerprint.key, near: address.near)
                while let first = byPlace[place]?.first, hasEnded(first.click, before: now) {
                    byPlace[place]?.removeFirst()
                }
                if byPlace[place]?.isEmpty == true { byPlace[place] = nil }
            }
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
            guard click.map({ $0.claimedAt != nil || $0.end < now }) ?? true else { break }
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
