#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Reads the counts of each span, without deltas that are not merged into them yet.
extension PostgreSQLReader {
    func sum(_ query: CountQuery) throws(PostgreSQLError) -> CountSum {
        // All campaigns of a query are spellings of one name, which are equal as keys of the dictionary.
        try sums(query, of: query.campaigns).values.first ?? CountSum()
    }

    func sums(_ query: CountQuery, of campaigns: [String]) throws(PostgreSQLError) -> [String: CountSum] {
        var sums: [String: CountSum] = [:]
        _ = try all(Self.sumsByValue, Parameters(query, of: campaigns)) { row in
            let (campaign, value, metric): (String, String, String) = (
                row.get("campaign"), row.get("value"), row.get("metric")
            )
            sums[campaign, default: CountSum()].add(row.get("count"), metric, of: value)
        }
        return sums
    }

    func series(
        _ query: CountQuery,
        _ body: (_ period: Timestamp, _ value: String, _ metric: String, _ count: Int64) -> Void
    ) throws(PostgreSQLError) {
        _ = try all(Self.series, Parameters(query, of: query.campaigns)) { row in
            body(row.get("period"), row.get("value"), row.get("metric"), row.get("count"))
        }
    }

    /// Adds up in a hash table, which takes half of the time that sorting all rows takes.
    ///
    /// PostgreSQL expects so few rows that it would sort them. To prevent this, the statement also groups by
    /// a value of the type `xid`, which cannot be sorted.
    static let sumsByValue = reading(
        """
        SELECT value, metric, \(clamped: "sum(count)") AS count \(ofPart) GROUP BY value, metric, '0'::xid
        """
    )
    private static let series = reading("SELECT period, value, metric, count \(ofPart)", columns: "c.*")

    /// The rows of one part of a query.
    private static let ofPart: SQLText = """
        FROM counts WHERE scope = k.scope AND campaign = n.campaign AND dimension = $1 AND span = k.span
        AND period >= k.first AND period < k.last
        """

    /// Makes a statement that reads all parts of a query at once, because each statement costs a round trip.
    ///
    /// `OFFSET 0` makes PostgreSQL find the rows of each part by the index, however many rows it expects.
    private static func reading(_ part: SQLText, columns: SQLText = "n.campaign, c.*") -> PreparedStatement {
        """
        SELECT \(columns) FROM unnest($3, $4, $5, $6) AS k (scope, span, first, last)
        CROSS JOIN unnest($2) AS n (campaign) CROSS JOIN LATERAL (\(part) OFFSET 0) c
        """
    }

    func runningServers() throws(PostgreSQLError) -> [RunningServer] {
        try all(Self.servers) { row throws(PostgreSQLError) in
            RunningServer(
                number: row.get("number"),
                version: row.get("version"),
                seenAt: Timestamp(milliseconds: row.get("seen_at"))
            )
        }
    }

    private static let servers: PreparedStatement = """
        SELECT number::int8, version, (extract(epoch FROM seen_at) * 1000)::int8 AS seen_at FROM servers
        WHERE seen_at > clock_timestamp() - interval '\(ServerRow.silentSeconds) seconds' ORDER BY number
        """

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

    private static let campaigns: PreparedStatement = """
        SELECT campaign FROM counts WHERE scope = $1 AND span = \(Granularity.day.rawValue) AND period = $2
        AND metric = 'clicks' AND dimension = \(Dimension.total.rawValue) AND campaign <> ''
        """
    private static let links: PreparedStatement = """
        SELECT campaign FROM counts WHERE scope = $1 AND span = \(Granularity.day.rawValue) AND period = $2
        AND metric = 'clicks' AND dimension = \(Dimension.link.rawValue)
        """
    private static let values: PreparedStatement = """
        SELECT DISTINCT value FROM counts
        WHERE scope = $1 AND campaign = '' AND dimension = $2 AND span = $3 AND period = $4
        """
    private static let watchedGroups: PreparedStatement =
        "SELECT name FROM drift_groups WHERE scope = $1 AND side = $2"

    func liveClickCount(of scope: Scope, at now: Timestamp) throws(PostgreSQLError) -> Int64 {
        guard case .count(let count) = try answer(.liveClicks(scope, second: LiveClicks.second(of: now)))
        else { return 0 }
        return count
    }

    /// Adds up the clicks of all names in all spans, because no index is in the order of the number of clicks.
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
            """
            SELECT campaign, sum(count)::int8 AS count \(clicks) AND span = $2 AND \(periods)
            GROUP BY campaign ORDER BY 2 DESC LIMIT $5
            """
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

    private static let firstDay: PreparedStatement = """
        SELECT min(period) AS period FROM counts WHERE scope = $1 AND campaign = ''
        AND dimension = \(Dimension.total.rawValue) AND span = \(Granularity.day.rawValue)
        """

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

    private static let driftCounts: PreparedStatement = """
        SELECT period, value, metric, count FROM counts WHERE scope = $1 AND campaign = '' AND dimension = $4
        AND span = \(Granularity.quarter.rawValue) AND period >= $2 AND period < $3
        """

    func driftGroups(of scope: Scope, atMost limit: Int) throws(PostgreSQLError) -> [DriftReading] {
        try connection.execute(Self.driftGroups, scope.number, Int64(limit)).records(of: DriftRecord.self)
            .map(\.reading)
    }

    func driftAlarms(of scope: Scope) throws(PostgreSQLError) -> [DriftReading] {
        try connection.execute(Self.driftAlarms, scope.number).records(of: DriftRecord.self).map(\.reading)
    }

    private static let driftGroups: PreparedStatement =
        "SELECT \(DriftRecord.columns) FROM drift_groups WHERE scope = $1 ORDER BY side, name LIMIT $2"
    private static let driftAlarms: PreparedStatement = """
        SELECT \(DriftRecord.columns) FROM drift_groups WHERE scope = $1 AND began IS NOT NULL ORDER BY side, name
        """

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

    private static let figures: PreparedStatement =
        "SELECT name, value FROM figures WHERE scope = $1 AND report = $2"

    /// Reads the buckets one after the other, from the position's bucket on; a bucket is the last six bits of the hash.
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
                Parameters(scope.number, bucket, last.hash, last.since, last.click, Int64(remaining))
            ) { row throws(PostgreSQLError) in IndexedClick(&row) }
            rows.forEach(body)
            remaining -= rows.count
        }
    }

    private static let indexedClicks: PreparedStatement = """
        SELECT f.* FROM partitions p CROSS JOIN LATERAL (
        SELECT hash, CASE WHEN closed_at IS NULL THEN 0 ELSE 1 END AS state, since, click, since AS clicked_at,
        closed_as, platform_form, weight, visitor FROM click_index
        WHERE slot = p.slot AND b = $2 AND scope = $1 AND (hash, since, click) > ($3, $4, $5)
        ORDER BY hash, since, click LIMIT $6) f ORDER BY hash, since, click LIMIT $6
        """
}

extension Parameters {
    /// Creates the parameters of a statement that reads all parts of a query, for these campaigns.
    fileprivate init(_ query: CountQuery, of campaigns: [String]) {
        let parts = query.parts
        self.init(
            query.dimension.rawValue,
            campaigns,
            parts.map(\.scope.number),
            parts.map(\.spans.granularity.rawValue),
            parts.map(\.spans.first.milliseconds),
            parts.map(\.spans.end.milliseconds)
        )
    }
}
#endif
