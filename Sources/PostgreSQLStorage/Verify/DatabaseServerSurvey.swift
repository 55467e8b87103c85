#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

extension PostgreSQLReader {
    /// Examines the database server and the servers that share the database; `clock` is this machine's.
    func databaseServer(_ clock: WallClock) throws(PostgreSQLError) -> DatabaseServerReport {
        let start = clock.now().milliseconds
        let found = try first(Self.databaseServer) { row throws(PostgreSQLError) in
            var report = DatabaseServerReport()
            report.version = row.get("version")
            report.encoding = row.get("encoding")
            report.isStandby = row.get("is_standby")
            report.isEncrypted = row.get("is_encrypted")
            report.isLocal = row.get("is_local")
            report.syncsDisk = row.get("fsync")
            report.restoresTornPages = row.get("full_page_writes")
            report.cleansUp = row.get("autovacuum")
            report.standbyCount = row.get("standbys")
            report.synchronousStandbys = row.get("synchronous")
            report.connectionCount = row.get("connections")
            report.maximumConnections = row.get("maximum_connections")
            report.clockLead = row.get("now")
            report.lastDay = row.get("last_day")
            report.waitingCounts = row.get("waiting_counts")
            report.preparedTransactions = row.get("prepared")
            return report
        }
        guard var report = found else { return DatabaseServerReport() }
        report.clockLead = Self.clockLead(over: report.clockLead, start, clock.now().milliseconds)
        report.isPooled = connection.isPooled
        report.missingPartitions = try Partitions(connection: connection).missing(at: clock.now()).map(\.name)
        report.runningVersions = try all(Self.runningVersions) { $0.get("version") }
        report.leases = try all(Self.leases, start) { row in (row.get("name"), row.get("server")) }
        return report
    }

    /// Returns how far this machine's clock is ahead of the database's, in milliseconds; 0 if the clocks may agree.
    ///
    /// `start` and `end` are times of this machine; the database read its clock at some time between them.
    static func clockLead(over database: Int64, _ start: Int64, _ end: Int64) -> Int64 {
        max(start - database, 0) + min(end - database, 0)
    }

    private static let databaseServer: PreparedStatement = """
        SELECT current_setting('server_version') AS version,
        current_setting('server_encoding') AS encoding, pg_is_in_recovery()::int4 AS is_standby,
        coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false)::int4 AS is_encrypted,
        (coalesce(inet_server_addr() <<= '127.0.0.0/8' OR inet_server_addr() = '::1', true))::int4 AS is_local,
        current_setting('fsync')::bool::int4 AS fsync,
        current_setting('full_page_writes')::bool::int4 AS full_page_writes,
        current_setting('autovacuum')::bool::int4 AS autovacuum,
        (SELECT count(*) FROM pg_stat_replication) AS standbys,
        current_setting('synchronous_standby_names') AS synchronous,
        (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
        current_setting('max_connections')::int8 AS maximum_connections,
        (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now,
        (SELECT coalesce(max(slot), 0)::int8 FROM partitions) AS last_day,
        (SELECT count(*) FROM count_deltas) AS waiting_counts,
        (SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database()) AS prepared
        """
    private static let leases: PreparedStatement = """
        SELECT j.name, s.number::int8 AS server FROM jobs j LEFT JOIN servers s ON s.holder = j.holder
        AND s.seen_at > clock_timestamp() - interval '\(ServerRow.silentSeconds) seconds'
        WHERE j.until > $1 ORDER BY s.number, j.name
        """
    private static let runningVersions: PreparedStatement = """
        SELECT version FROM servers
        WHERE seen_at > clock_timestamp() - interval '\(ServerRow.silentSeconds) seconds' ORDER BY number
        """
}
#endif
