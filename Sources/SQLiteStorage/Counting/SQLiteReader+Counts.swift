internal import Attribution
internal import SQLite
internal import Storage

/// Reads the counts of each span (such as an hour or a day), and the number of live clicks (unclaimed and unexpired).
extension SQLiteReader {
    /// Adds up the counts of a query in this process, because SQLite would sort all rows to add them up.
    func sum(_ query: CountQuery) throws(SQLiteError) -> CountSum {
        var sum = CountSum()
        try series(query) { _, value, metric, count in sum.add(count, metric, of: value) }
        return sum
    }

    func series(
        _ query: CountQuery,
        _ body: (_ period: Timestamp, _ value: String, _ metric: String, _ count: Int64) -> Void
    ) throws(SQLiteError) {
        let (statement, dimension) = (try connection.statement(Self.countSeries), query.dimension.rawValue)
        for (scope, spans) in query.parts {
            let (span, first, end) = (spans.granularity, spans.first.milliseconds, spans.end.milliseconds)
            for campaign in query.campaigns {
                try statement.forEach(scope.number, campaign, dimension, span.rawValue, first, end) { row in
                    body(row.time(0), row.text(1), row.text(2), row.integer(3))
                }
            }
        }
    }

    static let countSeries: SQL = """
        SELECT period, value, metric, count FROM counts
        WHERE scope = ?1 AND campaign = ?2 AND dimension = ?3 AND span = ?4 AND period >= ?5 AND period < ?6
        """

    /// Returns the names (campaigns, or values of another dimension) that have counts in the span that starts
    /// at `period`.
    ///
    /// The span is a day; for the match rates that the drift detector watches, it is a quarter of a day.
    func countedNames(of dimension: Dimension, _ scope: Scope, in period: Timestamp) throws(SQLiteError)
        -> [String]
    {
        let (scope, period) = (scope.number, period.milliseconds)
        switch dimension {
        case .campaign, .link:
            let names = dimension == .link ? Self.countedLinks : Self.countedCampaigns
            return try connection.statement(names).all(scope, period) { $0.text(0) }
        case .launch, .click:
            let counted = try connection.statement(Self.countedValues)
                .all(scope, dimension.rawValue, Granularity.quarter.rawValue, period) { $0.text(0) }
            // Watched groups are always among the names, so that names that clients invent cannot displace them.
            return try counted
                + connection.statement(Self.watchedDriftGroups)
                .all(scope, (dimension == .launch ? DriftSide.launch : .click).rawValue) { $0.text(0) }
        default:
            return try connection.statement(Self.countedValues)
                .all(scope, dimension.rawValue, Granularity.day.rawValue, period) { $0.text(0) }
        }
    }

    static let countedCampaigns: SQL = """
        SELECT campaign FROM counts
        WHERE scope = ?1 AND span = \(Granularity.day) AND period = ?2 AND metric = 'clicks'
            AND dimension = \(Dimension.total) AND campaign <> ''
        """
    static let countedLinks: SQL = """
        SELECT campaign FROM counts
        WHERE scope = ?1 AND span = \(Granularity.day) AND period = ?2 AND metric = 'clicks'
            AND dimension = \(Dimension.link)
        """
    static let countedValues: SQL = """
        SELECT DISTINCT value FROM counts
        WHERE scope = ?1 AND campaign = '' AND dimension = ?2 AND span = ?3 AND period = ?4
        """

    /// Returns the number of a scope's live clicks: unclaimed clicks whose window ends in this second or later.
    func liveClickCount(of scope: Scope, at now: Timestamp) throws(SQLiteError) -> Int64 {
        let second = LiveClicks.second(of: now)
        let hour = LiveClicks.hour(ofSecond: second)
        let (scope, endOfHour) = (scope.number, (hour + 1) * 3600)
        let seconds = try connection.statement(Self.liveClicksBySecond).first(scope, second, endOfHour) {
            $0.integer(0)
        }
        let hours = try connection.statement(Self.liveClicksByHour).first(scope, hour) { $0.integer(0) }
        return (seconds ?? 0) + (hours ?? 0)
    }

    static let liveClicksBySecond: SQL = """
        SELECT sum(count) FROM live_clicks
        WHERE scope = ?1 AND span = 'second' AND expires_in >= ?2 AND expires_in < ?3
        """
    static let liveClicksByHour: SQL = """
        SELECT sum(count) FROM live_clicks WHERE scope = ?1 AND span = 'hour' AND expires_in > ?2
        """

    func top(_ dimension: Dimension, of scope: Scope, over spans: CountedSpans, atMost limit: Int)
        throws(SQLiteError) -> [(name: String, clicks: Int64)]
    {
        let span = spans.granularity.rawValue
        // All time is one span.
        let periods = try spans.granularity == .all ? [spans.first] : countedPeriods(of: spans, in: scope)
        var top: [(name: String, clicks: Int64)] = []
        for period in periods {
            top += try connection.statement(dimension == .link ? Self.topLinks : Self.topCampaigns)
                .all(scope.number, span, period.milliseconds, limit) { ($0.text(0), $0.integer(1)) }
        }
        return top
    }

    static let topCampaigns: SQL = """
        SELECT campaign, count FROM counts
        WHERE scope = ?1 AND span = ?2 AND period = ?3 AND metric = 'clicks' AND dimension = \(Dimension.total)
            AND campaign <> ''
        ORDER BY count DESC LIMIT ?4
        """
    static let topLinks: SQL = """
        SELECT campaign, count FROM counts
        WHERE scope = ?1 AND span = ?2 AND period = ?3 AND metric = 'clicks' AND dimension = \(Dimension.link)
        ORDER BY count DESC LIMIT ?4
        """

    private func countedPeriods(of spans: CountedSpans, in scope: Scope) throws(SQLiteError) -> [Timestamp] {
        let (first, end) = (spans.first.milliseconds, spans.end.milliseconds)
        return try connection.statement(Self.countedPeriods)
            .all(scope.number, spans.granularity.rawValue, first, end) { $0.time(0) }
    }

    static let countedPeriods: SQL = """
        SELECT DISTINCT period FROM counts
        WHERE scope = ?1 AND campaign = '' AND dimension = \(Dimension.total) AND span = ?2
            AND period >= ?3 AND period < ?4
        """

    func unrecordedCheckCount() throws(SQLiteError) -> Int64 { try value(of: .unrecordedChecks) ?? 0 }
    func databaseByteCount() throws(SQLiteError) -> Int64 { try connection.databaseByteCount() }
}

extension SQLiteWriter {
    /// Adds each count to every span for which it is stored; one statement for all spans costs less than one
    /// for each span.
    func write(_ deltas: CountDeltas) throws(SQLiteError) {
        let (add, addName) = (try connection.statement(Self.addCount), try connection.statement(Self.addName))
        for (key, count) in deltas.counts {
            let (scope, campaign, kept) = (key.scope.number, key.label.campaign ?? "", key.granularity.kept)
            func start(_ span: Granularity) -> Int64? {
                kept.contains(span) ? span.start(of: key.period).milliseconds : nil
            }
            let (all, weeks, day) = (start(.all), start(.fourWeeks), start(.day))
            let (hour, quarter) = (start(.hour), start(.quarter))
            let (dimension, value) = (key.label.dimension, key.label.value)
            // The values have the order in which their names first appear in the statement.
            try add.run(
                scope,
                campaign,
                dimension.rawValue,
                value,
                key.metric,
                count,
                all,
                weeks,
                day,
                hour,
                quarter
            )
            guard key.namesCampaign else { continue }
            let naming = (dimension.naming ?? dimension).rawValue
            try addName.run(scope, campaign, naming, all, weeks, day, hour, quarter)
        }
        try addLiveClicks(deltas.live, by: "second")
        try addLiveClicks(deltas.liveByHour, by: "hour")
    }

    /// A row for each span: its number and its start, which is NULL for a span without this count.
    private static let spans: SQL = """
        FROM (VALUES (\(Granularity.all), :all), (\(Granularity.fourWeeks), :weeks), (\(Granularity.day), :day),
            (\(Granularity.hour), :hour), (\(Granularity.quarter), :quarter)) WHERE column2 IS NOT NULL
        """
    private static let addCount: SQL = """
        INSERT INTO counts (\(CountRecord.columns))
        SELECT :scope, :campaign, :dimension, column1, column2, :value, :metric, :count \(spans) \(addToConflicting)
        """
    /// A sum beyond the range of 64 bits is a REAL, which the cast clamps, as ``Swift/Int64/clampedSum(_:_:)`` does.
    static let addToConflicting: SQL = """
        ON CONFLICT DO UPDATE SET count = CAST(count + excluded.count AS INTEGER)
        """
    /// Adds a row of 0 clicks for a campaign or link without clicks, because the names are read from the
    /// counts of clicks, and ranked by them.
    private static let addName: SQL = """
        INSERT INTO counts (\(CountRecord.columns))
        SELECT :scope, :campaign, :dimension, column1, column2, '', 'clicks', 0 \(spans) ON CONFLICT DO NOTHING
        """

    private func addLiveClicks(_ changes: [CountDeltas.ExpirySlot: Int64], by span: String)
        throws(SQLiteError)
    {
        for (slot, change) in changes where change != 0 {
            try connection.statement(Self.addLiveClicks).run(slot.scope.number, span, slot.time, change)
        }
    }

    private static let addLiveClicks: SQL = """
        INSERT INTO live_clicks VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT DO UPDATE SET count = count + excluded.count
        """

    func purgeLiveClicks(of scope: Scope, before second: Int64, atMost limit: Int) throws(SQLiteError) -> Bool
    {
        let statement = try connection.statement(Self.purgeLiveClicks)
        try statement.run(scope.number, "second", second, limit)
        let seconds = connection.changeCount
        try statement.run(scope.number, "hour", LiveClicks.hour(ofSecond: second), limit)
        return max(seconds, connection.changeCount) >= Int64(limit)
    }

    static let purgeLiveClicks: SQL = """
        DELETE FROM live_clicks
        WHERE scope = ?1 AND span = ?2 AND expires_in IN
            (SELECT expires_in FROM live_clicks
             WHERE scope = ?1 AND span = ?2 AND expires_in < ?3 ORDER BY expires_in LIMIT ?4)
        """
}
