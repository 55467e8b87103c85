#if PostgreSQL
public import Attribution
internal import PostgreSQL
public import Storage

/// Reports on a database to operators, without changing the database.
public enum PostgreSQLSurvey {
    /// A statement that counts all clicks may take minutes.
    private static let timeLimit: Duration = .seconds(3600)

    /// Examines the database, whether servers run or not.
    ///
    /// - Throws: if there is no database, or if it is empty, another program's, or of an unknown version.
    public static func report(_ configuration: PostgreSQLConfiguration) throws(StoreError) -> DatabaseReport {
        let opening = DatabaseOpening(configuration)
        let connection = try opening.connectToOwnSession(timeLimit: Self.timeLimit)
        let applied = try opening.inspect(connection)
        guard applied.version > 0 else {
            throw StoreError(.incompatible, "\(configuration.name) is an empty database")
        }
        let summary = DatabaseSummary(
            schemaVersion: applied.version,
            pendingMigrations: applied.pending(of: opening.migrations).map(\.name)
        )
        let dayBefore = configuration.store.clock.now().advanced(byMilliseconds: -86_400_000)
        return try StoreError.translating { () throws(PostgreSQLError) in
            try connection.transaction(BlockingConnection.beginSnapshot) { () throws(PostgreSQLError) in
                let reader = PostgreSQLReader(connection: connection)
                let summary = try reader.complete(summary)
                let directory = try reader.directorySnapshot().directory
                var report = DatabaseReport(path: configuration.name, summary, directory)
                let counts = try reader.first(Self.counts, dayBefore.milliseconds) {
                    row throws(PostgreSQLError) in
                    (clicks: row.get("clicks") as Int64, firstDay: row.get("first_day") as Timestamp?)
                }
                (report.clicksOfLastDay, report.firstDay) = (counts?.clicks ?? 0, counts?.firstDay)
                let server = try reader.databaseServer(configuration.store.clock)
                // A server may run on another machine, and its process has no id here.
                if !server.runningVersions.isEmpty { report.holder = 0 }
                report.server = server
                return report
            }
        }
    }

    /// Selects the number of clicks of the last day, and the first day that has counts; deltas that are not folded yet
    /// are left out.
    ///
    /// The key of counts starts with the scope, so each scope is searched by itself.
    private static let counts: PreparedStatement = """
        SELECT (SELECT coalesce(sum(c.count), 0)::int8 FROM \(scopes) (SELECT count FROM counts \(totals)
        AND span = \(Granularity.hour.rawValue) AND period >= $1 AND metric IN ('clicks', 'robots') OFFSET 0) c) AS clicks,
        (SELECT min(c.period) FROM \(scopes) (SELECT min(period) AS period FROM counts \(totals)
        AND span = \(Granularity.day.rawValue)) c) AS first_day
        """
    private static let scopes: SQLText = "apps CROSS JOIN generate_series(0, 1) AS test CROSS JOIN LATERAL"
    private static let totals: SQLText =
        "WHERE scope = number * 2 + test AND campaign = '' AND dimension = \(Dimension.total.rawValue)"
}

extension PostgreSQLReader {
    /// Adds the numbers of rows to a summary.
    fileprivate func complete(_ summary: DatabaseSummary) throws(PostgreSQLError) -> DatabaseSummary {
        var summary = summary
        let numbers = try first(Self.rowCounts) { row throws(PostgreSQLError) in
            (
                apps: row.get("apps") as Int64, keys: row.get("keys") as Int64,
                clicks: row.get("clicks") as Int64, claims: row.get("claims") as Int64
            )
        }
        if let numbers {
            (summary.apps, summary.keys) = (numbers.apps, numbers.keys)
            (summary.clicks, summary.claims) = (numbers.clicks, numbers.claims)
        }
        if case .home(let home) = try answer(.home(try newestClick())) {
            summary.newestClickAt = home.click.facts.recordedAt
        }
        summary.byteCount = try databaseByteCount()
        summary.serverKey = try value(of: .serverKey).map(UInt64.init(bitPattern:))
        summary.formerServerKeys = try formerServerKeys().keys.sorted()
        return summary
    }

    private static let rowCounts: PreparedStatement = """
        SELECT (SELECT count(*) FROM apps) AS apps, (SELECT count(*) FROM keys) AS keys,
        count(*) AS clicks, count(claimed_at) AS claims FROM clicks
        """
}
#endif
