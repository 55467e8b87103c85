#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Reads the rows of exports.
extension PostgreSQLReader: ExportRows {
    func exportEnd() throws(PostgreSQLError) -> Int64 {
        let time: Timestamp? = try first(Self.oldestTransaction) { $0.get("at") }
        return time.map { max(RowIdentifier.first(at: $0) - 1, 0) } ?? 0
    }

    /// The start of the oldest transaction that may still write, minus ``ServerRow/silentSeconds``; before
    /// 1970 if that start is unknown.
    ///
    /// The seconds are subtracted because a row's number is made before its transaction begins: a server that
    /// is silent for longer has lost its number to another one.
    ///
    /// A transaction that has run for a minute without any change counts as one that only reads, such as a dump.
    ///
    /// PostgreSQL may hide from this role when transactions of another role began. It hides neither their
    /// locks nor the row versions that they replace:
    /// - Each transaction of a server changes the server's row in `servers`, so it began after the `seen_at` that it
    ///   replaces.
    /// - If any other transaction writes rows of exports, nothing shows when it began, so its start is unknown.
    /// - A hidden session may have a transaction that began in the last minute and has written nothing yet;
    ///   an older one only reads.
    private static let oldestTransaction: PreparedStatement = """
        SELECT (extract(epoch FROM min(t.at)) * 1000)::int8 - \(ServerRow.silentSeconds) * 1000 AS at FROM (
        SELECT now() AS at
        UNION ALL SELECT xact_start FROM pg_stat_activity WHERE datname = current_database()
        AND pid <> pg_backend_pid()
        AND (backend_xid IS NOT NULL OR xact_start > now() - interval '1 minute')
        UNION ALL SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()
        UNION ALL SELECT s.seen_at FROM servers s JOIN pg_locks l ON l.transactionid = s.xmax
        UNION ALL SELECT now() - interval '1 minute' FROM pg_stat_activity WHERE datname = current_database()
        AND usesysid IS NOT NULL AND coalesce(state, 'disabled') = 'disabled'
        UNION ALL SELECT to_timestamp(0) FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid
        WHERE a.datid = l.database AND a.datname = current_database() AND a.backend_xid IS NOT NULL
        AND a.xact_start IS NULL AND l.mode = 'RowExclusiveLock'
        AND coalesce(pg_partition_root(l.relation), l.relation) IN ('clicks'::regclass, 'checks'::regclass,
        'events'::regclass, 'erased_rows'::regclass, 'apple_postbacks'::regclass) AND NOT EXISTS (
        SELECT FROM pg_locks s WHERE s.pid = l.pid AND s.database = l.database AND s.relation = 'servers'::regclass)) t
        """

    func erasedRows(_ numbers: ClosedRange<Int64>, atMost limit: Int) throws(PostgreSQLError) -> [ErasedRow] {
        try all(Self.erasedRows, numbers.lowerBound, numbers.upperBound, Int64(limit)) {
            row throws(PostgreSQLError) in try row.record(ErasedRecord.self).row
        }
    }

    private static let erasedRows: PreparedStatement = """
        SELECT \(ErasedRecord.columns) FROM erased_rows WHERE number >= $1 AND number <= $2 ORDER BY number LIMIT $3
        """

    func oldestRows() throws(PostgreSQLError) -> [Timestamp?] {
        try first(Self.oldestRows) { [$0.get("clicks"), $0.get("checks"), $0.get("events")] } ?? [
            nil, nil, nil,
        ]
    }

    private static let oldestRows: PreparedStatement = """
        SELECT \(oldest("clicks")) AS clicks, \(oldest("checks")) AS checks,
        (SELECT min(number) >> 16 FROM events) AS events
        """

    func exportedLinks(after number: Int64, atMost limit: Int) throws(PostgreSQLError) -> [StoredLink] {
        try all(Self.exportedLinks, number, Int64(limit), read: Self.link)
    }

    private static let exportedLinks: PreparedStatement = """
        SELECT l.number, \(LinkRecord.columns, of: "l"), a.id_high AS app_high, a.id_low AS app_low
        FROM links l JOIN apps a ON a.number = l.app WHERE l.number > $1 ORDER BY l.number LIMIT $2
        """

    func countedHour(of scope: Scope, from start: Timestamp) throws(PostgreSQLError) -> Timestamp? {
        try first(Self.countedHour, scope.number, start.milliseconds) { $0.get("period") }
    }

    private static let countedHour: PreparedStatement = """
        SELECT period FROM counts WHERE scope = $1 AND campaign = '' AND dimension = \(Dimension.total.rawValue)
        AND span = \(Granularity.hour.rawValue) AND period >= $2 ORDER BY period LIMIT 1
        """

    func countedCampaigns(of scope: Scope, in hour: Timestamp, after name: String, atMost limit: Int)
        throws(PostgreSQLError) -> [String]
    {
        try all(Self.campaignsOfHour, scope.number, hour.milliseconds, name, Int64(limit)) {
            $0.get("campaign")
        }
    }

    private static let campaignsOfHour: PreparedStatement = """
        SELECT campaign FROM counts WHERE scope = $1 AND span = \(Granularity.hour.rawValue) AND period = $2
        AND metric = 'clicks' AND dimension = \(Dimension.total.rawValue) AND campaign <> '' AND campaign > $3
        UNION SELECT campaign FROM counts WHERE scope = $1 AND span = \(Granularity.hour.rawValue) AND period = $2
        AND metric = 'clicks' AND dimension = \(Dimension.link.rawValue) AND campaign > $3
        ORDER BY campaign LIMIT $4
        """

    func counts(of scope: Scope, campaign: String, in hour: Timestamp) throws(PostgreSQLError)
        -> [StoredCount]
    {
        try all(Self.countsOfHour, scope.number, campaign, hour.milliseconds) {
            StoredCount(
                dimension: $0.get("dimension"),
                value: $0.get("value"),
                metric: $0.get("metric"),
                count: $0.get("count")
            )
        }
    }

    private static let countsOfHour: PreparedStatement = """
        SELECT dimension, value, metric, count FROM counts WHERE scope = $1 AND campaign = $2
        AND span = \(Granularity.hour.rawValue) AND period = $3
        AND dimension IN (\(allDimensions))
        """
    private static let allDimensions: SQLText =
        Dimension.allCases.dropFirst().reduce("0") { "\($0), \($1.rawValue)" }
}
#endif
