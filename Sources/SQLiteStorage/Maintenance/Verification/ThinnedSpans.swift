internal import Attribution
internal import SQLite
internal import Storage

/// What thinning has left of the counters by names from outside, so that only what is still kept is compared.
///
/// Of the days that are thinned out, hours by name are gone. Where a day or the whole had more names than keep counts
/// of their own, the rare ones were added to the name for everything else: days and the whole then agree in the sum
/// over all names alone, because each adds up others.
struct ThinnedSpans {
    /// Days from this one on are as they were counted; `min` where none was thinned out.
    let end: Timestamp
    /// Names of which some may have been added up.
    private let folded: Set<Names>

    /// Names that share a limit.
    private struct Names: Hashable {
        let scope: Int64
        let dimension: Dimension

        /// Nil for what is kept for ever.
        init?(scope: RowKeyPart, campaign: RowKeyPart, dimension: RowKeyPart) {
            self.scope = scope.number
            guard campaign.words.isEmpty else {
                self.dimension = .campaign
                return
            }
            guard let dimension = Dimension(rawValue: dimension.words), dimension.dailyLimit != nil else {
                return nil
            }
            self.dimension = dimension
        }

        init(scope: Int64, dimension: Dimension) {
            self.scope = scope
            self.dimension = dimension
        }
    }

    /// The day that is being thinned out is told by what time it is now.
    init(_ connection: SQLiteConnection, at now: Timestamp) throws(SQLiteError) {
        end = try Self.end(connection, at: now)
        var folded: Set<Names> = []
        guard end.milliseconds > .min else {
            self.folded = folded
            return
        }
        try connection.prepare(Self.nameCounts).forEach(end.milliseconds) { row throws(SQLiteError) in
            guard let dimension = Dimension(rawValue: row.text(1)),
                let granularity = Granularity(rawValue: row.text(2))
            else { return }
            // So many are left, at least, of more.
            guard row.integer(3) >= CounterCompaction.limit(dimension, granularity) else { return }
            folded.insert(Names(scope: row.integer(0), dimension: dimension))
        }
        self.folded = folded
    }

    private static func end(_ connection: SQLiteConnection, at now: Timestamp) throws(SQLiteError)
        -> Timestamp
    {
        let done = try connection.prepare(CounterCompaction.thinnedBefore).first { $0.integer(0) }
        let first = try connection.prepare(Self.firstDay).first { $0.optionalInteger(0) } ?? nil
        guard let next = done ?? first else { return Timestamp(milliseconds: .min) }
        let due = CounterCompaction.end(at: now).milliseconds
        // The next day may have been begun, also by a clock that was ahead of what it is now.
        if next < due || (done ?? .min) > due {
            return Timestamp(milliseconds: next).advanced(byMilliseconds: 86_400_000)
        }
        return Timestamp(milliseconds: done ?? .min)
    }

    /// Whether anything was thinned out.
    var isAny: Bool { end.milliseconds > .min }

    /// Whether hours and days of a label are kept for ever.
    func isKept(campaign: RowKeyPart, dimension: RowKeyPart) -> Bool {
        Names(scope: .integer(0), campaign: campaign, dimension: dimension) == nil
    }

    /// Whether a label's counts over days, and over all time, were never added to another's, nor another's to its.
    func isApart(scope: RowKeyPart, campaign: RowKeyPart, dimension: RowKeyPart, value: RowKeyPart) -> Bool {
        guard let names = Names(scope: scope, campaign: campaign, dimension: dimension) else { return true }
        guard folded.contains(names) else { return true }
        return names.dimension != .campaign && names.dimension.isKept(value.words)
            && value.words != names.dimension.overflowValue
    }

    /// Whether a row of `counters` is as it was counted.
    func isWhole(_ key: [RowKeyPart]) -> Bool {
        guard isAny, !isKept(campaign: key[1], dimension: key[2]) else { return true }
        let granularity = key[3].words
        if granularity != Granularity.all.rawValue, key[4].number >= end.milliseconds { return true }
        return granularity != Granularity.hour.rawValue
            && isApart(scope: key[0], campaign: key[1], dimension: key[2], value: key[5])
    }

    /// Whether a row of `install_delays` is as it was counted.
    func isWholeDelay(_ key: [RowKeyPart]) -> Bool {
        let total = RowKeyPart.text(Array(Dimension.total.rawValue.utf8))
        return isWhole([key[0], key[1], total, key[2], key[3], .text([])])
    }

    /// The label that a label's counts may have been added to.
    func overflow(scope: RowKeyPart, campaign: RowKeyPart, dimension: RowKeyPart, value: RowKeyPart)
        -> [RowKeyPart]
    {
        guard campaign.words.isEmpty else {
            return [scope, .text(Array(Dimension.campaign.overflowValue.utf8)), dimension, value]
        }
        let overflow = Dimension(rawValue: dimension.words)?.overflowValue ?? value.words
        return [scope, campaign, dimension, .text(Array(overflow.utf8))]
    }

    private static let firstDay: StaticString = """
        SELECT min(period) FROM counters WHERE campaign = '' AND dimension = 'total' AND granularity = 'day'
        """
    private static let nameCounts: StaticString = """
        SELECT scope, 'campaign', granularity, count(*) FROM counters
        WHERE dimension = 'total' AND campaign <> '' AND (granularity = 'all' OR granularity = 'day' AND period < ?1)
        GROUP BY scope, granularity, period
        UNION ALL
        SELECT scope, dimension, granularity, count(*) FROM counters
        WHERE campaign = '' AND dimension IN ('source', 'os_version')
            AND (granularity = 'all' OR granularity = 'day' AND period < ?1)
        GROUP BY scope, dimension, granularity, period
        """
}
