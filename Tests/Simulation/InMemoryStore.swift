import Attribution

/// What a real store does, in memory and for one app: index of live clicks, counters, claims.
final class InMemoryStore {
    struct Row {
        let click: Int
        let form: FingerprintForm?
        let lane: Lane
        let weight: Double
        let release: OSRelease?
    }

    struct Stored {
        let number: Int
        let at: Timestamp
        let visitor: UInt64
        let address: UInt32?
        let destination: CreditedDestination
        let platform: Platform
        let release: OSRelease?
        let person: UInt64
        var claimedAt: Timestamp?
    }

    private struct Place: Hashable {
        let key: UInt64
        let near: UInt32
    }

    /// Older live clicks of one fingerprint as counts, made anew every now and then.
    private struct Summary {
        /// Rows before this index are in the counts.
        let end: Int
        let madeAt: Timestamp
        let counts: [BackgroundCount]
    }

    let window: Int64 = 86_400_000
    private(set) var clicks: [Stored] = []
    private var rows: [UInt64: [Row]] = [:]
    private var firstLive: [UInt64: Int] = [:]
    private var places: [Place: [Row]] = [:]
    private var summaries: [UInt64: Summary] = [:]
    private var atExact: [UInt32: [Int]] = [:]
    private var atNear: [UInt32: [Int]] = [:]
    private var liveStart = 0
    let epoch: LearningEpoch
    private(set) var sums: [CounterKey: Double] = [:]

    private static let listed = CandidateEvidence.listed

    init(began: Timestamp) {
        epoch = LearningEpoch(began: began)
    }

    func record(_ click: Stored, keys: [(key: UInt64, row: Row)]) {
        clicks.append(click)
        for (key, row) in keys {
            rows[key, default: []].append(row)
            if let address = click.address {
                places[Place(key: key, near: address >> 8), default: []].append(row)
            }
        }
        guard let address = click.address else { return }
        atExact[address, default: []].append(click.number)
        atNear[address >> 8, default: []].append(click.number)
    }

    func claim(_ number: Int, at: Timestamp) {
        clicks[number].claimedAt = at
        // The same visitor's duplicates of the last ten minutes.
        let click = clicks[number]
        guard let address = click.address else { return }
        for other in atExact[address] ?? []
        where other != number && clicks[other].claimedAt == nil && clicks[other].visitor == click.visitor
            && clicks[other].destination == click.destination
            && abs(clicks[other].at.milliseconds(since: click.at)) < 600_000
        {
            clicks[other].claimedAt = at
        }
    }

    func store(_ increments: LearntIncrements) {
        for (key, sum) in increments.sums { sums[key, default: 0] += sum }
    }

    /// The model's counters.
    func model(at: Timestamp) -> MatchingModel {
        MatchingModel(sums: sums.filter { $0.key.family.belongsToModel }, epoch: epoch, at: at)
    }

    func newest(_ key: UInt64, _ destination: CreditedDestination, at: Timestamp) -> Int? {
        rows[key]?.last { clicks[$0.click].claimedAt == nil && clicks[$0.click].destination == destination }?
            .click
    }

    /// Everything that ``CandidateEvidence`` promises, with the bounds that it states.
    func evidence(_ key: UInt64, address: UInt32?, exactKey: UInt64, nearKey: UInt64, at: Timestamp)
        -> CandidateEvidence
    {
        guard let all = rows[key] else { return CandidateEvidence(candidates: []) }
        let start = advance(key, all, at: at)
        guard start < all.count else { return CandidateEvidence(candidates: []) }
        var told: Set<Int> = []
        var candidates: [Candidate] = []
        func tell(_ row: Row) {
            guard told.insert(row.click).inserted else { return }
            candidates.append(candidate(row, address: address))
        }
        let isShort = all.count - start <= 2 * Self.listed
        var background: [BackgroundCount] = []
        if isShort {
            for row in all[start...] where clicks[row.click].claimedAt == nil { tell(row) }
        } else {
            let summary = summary(key, all, start, at: at)
            for row in all[summary.end...] where clicks[row.click].claimedAt == nil { tell(row) }
            background = summary.counts
        }
        if let address {
            for row in (places[Place(key: key, near: address >> 8)] ?? []).suffix(Self.listed)
            where clicks[row.click].at.milliseconds >= at.milliseconds - window { tell(row) }
        }
        guard candidates.contains(where: { $0.claimedAt == nil }) || !background.isEmpty else {
            return CandidateEvidence(candidates: [])
        }
        return CandidateEvidence(
            candidates: candidates,
            background: background,
            crowd: crowd(address, exactKey: exactKey, nearKey: nearKey, at: at),
            organic: value(.organic, key, at)
        )
    }

    /// Whether there is nothing live, in one look.
    private func advance(_ key: UInt64, _ all: [Row], at: Timestamp) -> Int {
        var start = firstLive[key] ?? 0
        while start < all.count {
            let click = clicks[all[start].click]
            guard click.claimedAt != nil || click.at.milliseconds < at.milliseconds - window else { break }
            start += 1
        }
        firstLive[key] = start
        return start
    }

    private func candidate(_ row: Row, address: UInt32?) -> Candidate {
        let click = clicks[row.click]
        let agreement: AddressAgreement =
            switch (click.address, address) {
            case (let left?, let right?) where left == right: .exact
            case (let left?, let right?) where left >> 8 == right >> 8: .near
            case (.some, .some): .differs
            default: .missing
            }
        return Candidate(
            click: ClickID(high: UInt64(click.number), low: 0),
            clickedAt: click.at,
            destination: click.destination,
            platform: click.platform,
            form: row.form,
            weight: row.weight,
            address: agreement,
            visitor: click.visitor,
            hasAddress: click.address != nil,
            release: row.release,
            claimedAt: click.claimedAt
        )
    }

    private func summary(_ key: UInt64, _ all: [Row], _ start: Int, at: Timestamp) -> Summary {
        if let summary = summaries[key], all.count - summary.end <= Self.listed,
            at.milliseconds(since: summary.madeAt) < 120_000
        {
            return summary
        }
        struct Cell: Hashable {
            let destination: CreditedDestination?
            let bin: Int
        }
        let end = all.count - Self.listed / 2
        var cells: [Cell: (weight: Double, known: Double, lane: Lane)] = [:]
        for row in all[start..<end] {
            let click = clicks[row.click]
            guard click.claimedAt == nil, click.at.milliseconds >= at.milliseconds - window else { continue }
            let age = Double(at.milliseconds(since: click.at)) / 1000
            let isPersonal = click.destination.url >= 1000
            let cell = Cell(
                destination: isPersonal ? nil : click.destination,
                bin: DelayBins.bin(forSeconds: age)
            )
            let before = cells[cell] ?? (0, 0, row.lane)
            let known = click.address == nil ? 0 : row.weight
            cells[cell] = (before.weight + row.weight, before.known + known, row.lane)
        }
        let counts = cells.map { cell, sum in
            BackgroundCount(
                destination: cell.destination,
                lane: sum.lane,
                ageBin: cell.bin,
                weight: sum.weight,
                shareWithAddress: sum.known / sum.weight
            )
        }
        let ordered = counts.sorted {
            ($0.ageBin, $0.destination?.url ?? .max) < ($1.ageBin, $1.destination?.url ?? .max)
        }
        let summary = Summary(end: end, madeAt: at, counts: ordered)
        summaries[key] = summary
        return summary
    }

    private func crowd(_ address: UInt32?, exactKey: UInt64, nearKey: UInt64, at: Timestamp) -> AddressCrowd {
        let oldest = at.milliseconds - window
        while liveStart < clicks.count, clicks[liveStart].at.milliseconds < oldest { liveStart += 1 }
        guard let address else { return AddressCrowd(liveClicks: Double(clicks.count - liveStart)) }
        func live(_ numbers: [Int]?) -> Double {
            Double(
                (numbers ?? []).suffix(1000).count {
                    clicks[$0].at.milliseconds >= oldest && clicks[$0].claimedAt == nil
                }
            )
        }
        return AddressCrowd(
            clicksExact: live(atExact[address]),
            clicksNear: live(atNear[address >> 8]),
            liveClicks: Double(clicks.count - liveStart),
            launchesExact: value(.launchesAtAddress, exactKey, at),
            launchesNear: value(.launchesNearAddress, nearKey, at)
        )
    }

    private func value(_ family: CounterFamily, _ key: UInt64, _ at: Timestamp) -> Double {
        epoch.value(of: sums[CounterKey(family, key)] ?? 0, family, at: at)
    }
}
