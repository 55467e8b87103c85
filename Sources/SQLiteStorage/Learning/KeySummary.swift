internal import Attribution
internal import SQLite
internal import Storage

/// The older live clicks of a key that very many clicks have, as counts: what they are worth changes slowly, so that
/// it is made anew every now and then and not for each check.
struct KeySummary: Sendable {
    struct Key: Hashable, Sendable {
        let scope: Scope
        let fingerprint: KeyedHash
    }

    /// Clicks up to this one are in the counts.
    let end: RowPosition
    /// When it was made, by the time of the checks.
    let at: Timestamp
    let counts: [BackgroundCount]
    /// The same clicks by where they came from, those whose address is known: a check is told one by one of those from
    /// near its own, however many clicks of other fingerprints came from there.
    let places: ClickPositionsByNetwork

    private static let oldMilliseconds: UInt64 = 120_000
    /// After a quiet time the counted clicks are of other ages, and may be gone.
    private static let uselessMilliseconds: UInt64 = 240_000
    /// Destinations that are kept apart.
    private static let mostDestinations = 64

    /// Whether ages and claims have moved on.
    func isOld(at moment: Timestamp) -> Bool {
        moment.milliseconds(since: at).magnitude > Self.oldMilliseconds
    }

    /// Whether they have moved on so far that nothing is said by it any more.
    func isUseless(at moment: Timestamp) -> Bool {
        moment.milliseconds(since: at).magnitude > Self.uselessMilliseconds
    }

    /// Reads the key's live clicks, all but the newest.
    static func make(_ key: Key, at moment: Timestamp, on connection: SQLiteConnection) throws(SQLiteError)
        -> KeySummary?
    {
        var sums = Sums()
        var places = ClickPositionsByNetwork()
        var end: RowPosition?
        var skipped = 0
        let statement = try connection.statement(open)
        try statement.forEach(key.scope.number, key.fingerprint.index, key.fingerprint.rest) { row in
            guard row.integer(2) >= moment.milliseconds else { return }
            guard skipped >= CandidateEvidence.maximumListed else {
                skipped += 1
                return
            }
            let position = RowPosition(clickedAt: row.integer(1), click: row.integer(0))
            if end == nil { end = position }
            sums.add(row, at: moment)
            if !row.isNull(7) { places.append(position, near: UInt64(bitPattern: row.integer(7))) }
        }
        guard let end else { return nil }
        places.sort()
        let counts = sums.counts(most: mostDestinations)
        return KeySummary(end: end, at: moment, counts: counts, places: places)
    }

    fileprivate struct Sums {
        struct Cell: Hashable {
            let destination: CreditedDestination
            let bin: Int
        }
        struct Sum {
            var weight = 0.0
            var withAddress = 0.0
            let lane: PlatformForm
        }
        private var cells: [Cell: Sum] = [:]
        private var byDestination: [CreditedDestination: Double] = [:]

        mutating func add(_ row: Statement, at moment: Timestamp) {
            let age = Double(moment.milliseconds - row.integer(1)) / 1000
            let destination = CreditedDestination(
                url: UInt64(bitPattern: row.integer(9)),
                campaign: UInt64(bitPattern: row.integer(10))
            )
            let cell = Cell(destination: destination, bin: DelayBins.bin(forSeconds: age))
            let weight = row.real(5)
            byDestination[destination, default: 0] += weight
            if cells[cell] == nil { cells[cell] = Sum(lane: OpenClickRow.lane(row)) }
            cells[cell]?.weight += weight
            if !row.isNull(6) { cells[cell]?.withAddress += weight }
        }

        /// Destinations beyond the largest are counted together.
        func counts(most: Int) -> [BackgroundCount] {
            let ordered = byDestination.sorted { ($0.value, $0.key.url) > ($1.value, $1.key.url) }
            let kept = Set(ordered.prefix(most).map(\.key))
            var rest: [Int: Sum] = [:]
            var counts: [BackgroundCount] = []
            for (cell, sum) in cells {
                guard !kept.contains(cell.destination) else {
                    counts.append(BackgroundCount(cell.destination, cell.bin, sum))
                    continue
                }
                var together = rest[cell.bin] ?? Sum(lane: sum.lane)
                together.weight += sum.weight
                together.withAddress += sum.withAddress
                rest[cell.bin] = together
            }
            for (bin, sum) in rest { counts.append(BackgroundCount(nil, bin, sum)) }
            return counts.sorted {
                ($0.ageBin, $0.destination?.url ?? .max) < ($1.ageBin, $1.destination?.url ?? .max)
            }
        }
    }

    static let open: StaticString = """
        SELECT click, since, expires_at, closed_as, platform_form, weight, exact_address, near_address, visitor,
            destination, campaign
        FROM click_index
        WHERE scope = ?1 AND hash = ?2 AND state = 0 AND hash_rest = ?3
        ORDER BY since DESC, click DESC
        """
}

extension BackgroundCount {
    fileprivate init(_ destination: CreditedDestination?, _ bin: Int, _ sum: KeySummary.Sums.Sum) {
        self.init(
            destination: destination,
            platformForm: sum.lane,
            ageBin: bin,
            weight: sum.weight,
            shareWithAddress: sum.weight > 0 ? sum.withAddress / sum.weight : 0
        )
    }
}
