#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Reads the counts of each span, without deltas that are not merged into them yet.
extension PostgreSQLReader {
    func add(_ query: CountQuery, to sum: inout CountSum) throws(PostgreSQLError) {
        let (dimension, span) = (query.dimension.rawValue, query.spans.granularity.rawValue)
        let (first, end) = (query.spans.first.milliseconds, query.spans.end.milliseconds)
        let rows = try all(Self.sums, query.scope.number, query.campaign, dimension, span, first, end) {
            row throws(PostgreSQLError) in
            (
                value: row.get("value") as String, metric: row.get("metric") as String,
                row.get("count") as Int64
            )
        }
        for row in rows { sum.add(row.2, row.metric, of: row.value) }
    }

    private static let sums = PreparedStatement(
        """
        SELECT value, metric, \(clamped: "sum(count)") AS count FROM counts
        WHERE scope = $1 AND campaign = $2 AND dimension = $3 AND span = $4 AND period >= $5 AND period < $6
        GROUP BY value, metric
        """
    )

    /// Reads all campaigns in one query, because each query costs a round trip.
    func add(_ query: CountQuery, of campaigns: [String], to sums: inout [String: CountSum])
        throws(PostgreSQLError)
    {
        let (dimension, span) = (query.dimension.rawValue, query.spans.granularity.rawValue)
        let (first, end) = (query.spans.first.milliseconds, query.spans.end.milliseconds)
        let rows = try all(Self.campaignSums, query.scope.number, campaigns, dimension, span, first, end) {
            row throws(PostgreSQLError) in
            (
                campaign: row.get("campaign") as String, value: row.get("value") as String,
                metric: row.get("metric") as String, count: row.get("count") as Int64
            )
        }
        for row in rows { sums[row.campaign, default: CountSum()].add(row.count, row.metric, of: row.value) }
    }

    private static let campaignSums = PreparedStatement(
        """
        SELECT campaign, value, metric, \(clamped: "sum(count)") AS count FROM counts
        WHERE scope = $1 AND campaign = ANY ($2) AND dimension = $3 AND span = $4 AND period >= $5 AND period < $6
        GROUP BY campaign, value, metric
        """
    )

    func runningServers() throws(PostgreSQLError) -> [RunningServer] {
        try all(Self.servers) { row throws(PostgreSQLError) in
            RunningServer(
                number: row.get("number"),
                version: row.get("version"),
                seenAt: Timestamp(milliseconds: row.get("seen_at"))
            )
        }
    }

    private static let servers = PreparedStatement(
        """
        SELECT number::int8, version, (extract(epoch FROM seen_at) * 1000)::int8 AS seen_at FROM servers
        WHERE seen_at > clock_timestamp() - interval '\(ServerRow.silentSeconds) seconds' ORDER BY number
        """
    )

    /// Returns the names (campaigns, or values of another dimension) that have counts in a span.
    func countedNames(of dimension: Dimension, _ scope: Scope, in period: Timestamp) throws(PostgreSQLError)
        -> [String]
    {
        func values(_ granularity: Granularity) throws(PostgreSQLError) -> [String] {
            let (span, period) = (granularity.rawValue, period.milliseconds)
            return try all(Self.values, scope.number, dimension.rawValue, span, period) { $0.get("value") }
        }
        switch dimension {
        case .campaign, .link:
            let names = dimension == .link ? Self.links : Self.campaigns
            return try all(names, scope.number, period.milliseconds) { $0.get("campaign") }
        case .launch, .click:
            // Watched groups are always among the names, so that names that clients invent cannot displace them.
            let side = (dimension == .launch ? DriftSide.launch : .click).rawValue
            return try values(.quarter) + all(Self.watchedGroups, scope.number, side) { $0.get("name") }
        default: return try values(.day)
        }
    }

    private static let campaigns = PreparedStatement(
        """
        SELECT campaign FROM counts WHERE scope = $1 AND span = \(Granularity.day.rawValue) AND period = $2
        AND metric = 'clicks' AND dimension = \(Dimension.total.rawValue) AND campaign <> ''
        """
    )
    private static let links = PreparedStatement(
        """
        SELECT campaign FROM counts WHERE scope = $1 AND span = \(Granularity.day.rawValue) AND period = $2
        AND metric = 'clicks' AND dimension = \(Dimension.link.rawValue)
        """
    )
    private static let values = PreparedStatement(
        """
        SELECT DISTINCT value FROM counts
        WHERE scope = $1 AND campaign = '' AND dimension = $2 AND span = $3 AND period = $4
        """
    )
    private static let watchedGroups = PreparedStatement(
        "SELECT name FROM drift_groups WHERE scope = $1 AND side = $2"
    )

    func liveClickCount(of scope: Scope, at now: Timestamp) throws(PostgreSQLError) -> Int64 {
        guard case .count(let count) = try answer(.liveClicks(scope, second: LiveClicks.second(of: now)))
        else { return 0 }
        return count
    }

    func totals(
        of scope: Scope,
        _ label: CounterLabel,
        over spans: CountedSpans,
        _ body: (_ period: Timestamp, _ metric: String, _ count: Int64) -> Void
    ) throws(PostgreSQLError) {
        let (first, end) = (spans.first.milliseconds, spans.end.milliseconds)
        let (campaign, dimension) = (label.campaign ?? "", label.dimension.rawValue)
        let span = spans.granularity.rawValue
        _ = try all(Self.series, scope.number, campaign, dimension, span, first, end) { row in
            let (period, metric, count): (Timestamp, String, Int64) = (
                row.get("period"), row.get("metric"), row.get("count")
            )
            if (row.get("value") as String) == label.value { body(period, metric, count) }
        }
    }

    private static let series = PreparedStatement(
        """
        SELECT period, metric, count, value FROM counts WHERE scope = $1 AND campaign = $2 AND dimension = $3
        AND span = $4 AND period >= $5 AND period < $6
        """
    )

    /// Adds up the clicks of all spans, because the index does not have the rows in the order of their clicks.
    ///
    /// Reading all days of ten thousand campaigns takes half a second. So for few names and many days, the statement
    /// searches only among the names with the most clicks in the four weeks that the days belong to.
    func top(_ dimension: Dimension, of scope: Scope, over spans: CountedSpans, atMost limit: Int)
        throws(PostgreSQLError) -> [(name: String, clicks: Int64)]
    {
        let (first, end) = (spans.first.milliseconds, spans.end.milliseconds)
        let isLong = spans.granularity == .day && spans.count > 7 && limit <= 500
        let statements = dimension == .link ? Self.topLinks : Self.topCampaigns
        let statement = isLong ? statements.ofManyDays : statements.ofAll
        return try all(statement, scope.number, spans.granularity.rawValue, first, end, Int64(limit)) {
            row throws(PostgreSQLError) in
            (name: row.get("campaign") as String, clicks: row.get("count") as Int64)
        }
    }

    static let topCampaigns = makeTop("dimension = \(Dimension.total.rawValue) AND campaign <> ''")
    static let topLinks = makeTop("dimension = \(Dimension.link.rawValue)")

    /// Makes two statements that add up the clicks of names: one for all names, and one for many days, which reads only
    /// likely names.
    ///
    /// The statement for all names has two ranges of periods instead of one. For one range, PostgreSQL expects few rows
    /// and fetches them one by one, in the order of the index. For two ranges, it reads each page of the table once,
    /// which halves the time.
    private static func makeTop(_ names: SQLText) -> (ofAll: PreparedStatement, ofManyDays: PreparedStatement)
    {
        let clicks: SQLText = "FROM counts WHERE scope = $1 AND metric = 'clicks' AND \(names)"
        func statement(_ periods: SQLText) -> PreparedStatement {
            PreparedStatement(
                """
                SELECT campaign, sum(count)::int8 AS count \(clicks) AND span = $2 AND \(periods)
                GROUP BY campaign ORDER BY 2 DESC LIMIT $5
                """
            )
        }
        let length = 28 * 86_400_000
        let likely: SQLText = """
            period >= $3 AND period < $4
            AND campaign IN (SELECT campaign \(clicks) AND span = \(Granularity.fourWeeks.rawValue)
            AND (period > $3 - \(length) AND period < $3 OR period >= $3 AND period < $4)
            GROUP BY campaign ORDER BY sum(count) DESC LIMIT 2 * $5::int8)
            """
        return (statement("(period = $3 OR period > $3 AND period < $4)"), statement(likely))
    }

    func firstCountedDay(of scope: Scope) throws(PostgreSQLError) -> Timestamp? {
        let first: Int64?? = try first(Self.firstDay, scope.number) { $0.get("period") }
        return (first ?? nil).map { Timestamp(milliseconds: $0) }
    }

    private static let firstDay = PreparedStatement(
        """
        SELECT min(period) AS period FROM counts WHERE scope = $1 AND campaign = ''
        AND dimension = \(Dimension.total.rawValue) AND span = \(Granularity.day.rawValue)
        """
    )

    func unrecordedCheckCount() throws(PostgreSQLError) -> Int64 { try value(of: .unrecordedChecks) ?? 0 }

    func databaseByteCount() throws(PostgreSQLError) -> Int64 {
        try connection.execute(Self.size).value(0, 0)
    }

    private static let size = PreparedStatement("SELECT pg_database_size(current_database())")
}

/// Reads the groups with a watched match rate, and the last report on collisions.
extension PostgreSQLReader {
    func driftCounts(
        of scope: Scope,
        _ side: DriftSide,
        from first: Timestamp,
        before end: Timestamp,
        _ body: (_ period: Timestamp, _ name: String, _ metric: String, _ count: Int64) -> Void
    ) throws(PostgreSQLError) {
        let (first, end) = (first.milliseconds, end.milliseconds)
        _ = try all(Self.driftCounts, scope.number, first, end, side.dimension.rawValue) {
            body($0.get("period"), $0.get("value"), $0.get("metric"), $0.get("count"))
        }
    }

    private static let driftCounts = PreparedStatement(
        """
        SELECT period, value, metric, count FROM counts WHERE scope = $1 AND campaign = '' AND dimension = $4
        AND span = \(Granularity.quarter.rawValue) AND period >= $2 AND period < $3
        """
    )

    func driftGroups(of scope: Scope, atMost limit: Int) throws(PostgreSQLError) -> [DriftReading] {
        try connection.execute(Self.driftGroups, scope.number, Int64(limit)).records(of: DriftRecord.self)
            .map(\.reading)
    }

    func driftAlarms(of scope: Scope) throws(PostgreSQLError) -> [DriftReading] {
        try connection.execute(Self.driftAlarms, scope.number).records(of: DriftRecord.self).map(\.reading)
    }

    private static let driftGroups = PreparedStatement(
        "SELECT \(DriftRecord.columns) FROM drift_groups WHERE scope = $1 ORDER BY side, name LIMIT $2"
    )
    private static let driftAlarms = PreparedStatement(
        """
        SELECT \(DriftRecord.columns) FROM drift_groups WHERE scope = $1 AND began IS NOT NULL ORDER BY side, name
        """
    )

    func collisionReport(of scope: Scope) throws(PostgreSQLError) -> CollisionReport? {
        let figures = try figures(of: .collisions, of: scope)
        guard !figures.isEmpty else { return nil }
        guard let report = CollisionReport(figures: figures) else {
            throw PostgreSQLError(.unexpectedValue, "The report on collisions lacks a figure.")
        }
        return report
    }

    func figures(of report: FigureReport, of scope: Scope) throws(PostgreSQLError) -> [String: Double] {
        let rows = try all(Self.figures, scope.number, report.rawValue) { row throws(PostgreSQLError) in
            (row.get("name") as String, row.get("value") as Double)
        }
        return Dictionary(rows) { first, _ in first }
    }

    private static let figures = PreparedStatement(
        "SELECT name, value FROM figures WHERE scope = $1 AND report = $2"
    )

    /// Reads the buckets one after the other, from the position's bucket on; a bucket is the last six bits of
    /// the hash.
    func indexedClicks(
        of scope: Scope,
        after position: IndexedClick.Position,
        atMost limit: Int,
        _ body: (IndexedClick) -> Void
    ) throws(PostgreSQLError) {
        var (remaining, last) = (limit, position)
        for bucket in (last.hash & 63)...63 where remaining > 0 {
            if bucket != last.hash & 63 { last = .first }
            let rows = try all(
                Self.indexedClicks,
                Parameters(
                    scope.number,
                    bucket,
                    last.hash,
                    last.since,
                    last.click,
                    Int64(remaining)
                )
            ) { row throws(PostgreSQLError) in IndexedClick(&row) }
            rows.forEach(body)
            remaining -= rows.count
        }
    }

    private static let indexedClicks = PreparedStatement(
        """
        SELECT f.* FROM partitions p CROSS JOIN LATERAL (
        SELECT hash, CASE WHEN closed_at IS NULL THEN 0 ELSE 1 END AS state, since, click, since AS clicked_at,
        closed_as, platform_form, weight, visitor FROM click_index
        WHERE slot = p.slot AND b = $2 AND scope = $1 AND (hash, since, click) > ($3, $4, $5)
        ORDER BY hash, since, click LIMIT $6) f ORDER BY hash, since, click LIMIT $6
        """
    )
}
#endif
