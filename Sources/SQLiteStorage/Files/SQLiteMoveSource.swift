public import Attribution
internal import Crypto
internal import SQLite
public import Storage

/// A database file whose rows move to another database.
///
/// It holds the write lock, so that no process can start to serve the file, or change it by a command. It belongs to the
/// thread that created it.
public final class SQLiteMoveSource: MoveSource {
    private let opening: DatabaseOpening
    private let connection: SQLiteConnection

    /// - Throws: `locked` if another process writes to the file, and `incompatible` if the file is not up to date.
    public init(_ configuration: SQLiteConfiguration) throws(StoreError) {
        let opening = try DatabaseOpening(configuration)
        let connection = try opening.reopen()
        guard try opening.inspect(connection).pending(of: opening.migrations).isEmpty else {
            throw StoreError(
                .incompatible,
                "\(opening.file.path) is of an older version; bring it up to date with `afterlink migrate` first"
            )
        }
        try opening.translated { () throws(SQLiteError) in try connection.begin(.immediate) }
        (self.opening, self.connection) = (opening, connection)
    }

    /// Rolls back the transaction, which has only read.
    deinit { try? connection.rollback() }

    /// A digest of numbers in the file, some of which differ after the file was served again.
    ///
    /// The digest covers the leases of jobs, which every running server takes. It also covers the numbers of clicks,
    /// claims and checks, their counts, the links, and the version that a change of apps or keys raises. It covers the
    /// audit log, because every command that changes something adds an entry. It covers the records of erasures,
    /// because an interrupted erasure has deleted rows, but has no entry.
    public var mark: Int64 {
        get throws(StoreError) {
            let state = try opening.translated { () throws(SQLiteError) in
                try connection.prepare(Self.state).all { row in
                    [row.text(0)] + (1...4).map { String(row.integer($0)) }
                }
            }
            let text = state.map { $0.joined(separator: " ") }.joined(separator: "\n")
            return Int64(bitPattern: SHA256.digest(of: Array(text.utf8)).words.0)
        }
    }

    private static let state: SQL = """
        SELECT 'job ' || name, holder, until, progress, 0 FROM jobs
        UNION ALL SELECT 'value ' || name, value, 0, 0, 0 FROM progress
        UNION ALL SELECT 'clicks', count(*), max(id), 0, 0 FROM clicks
        UNION ALL SELECT 'claims', count(*), max(claimed_at), sum(is_undelivered), 0 FROM claims
        UNION ALL SELECT 'checks', count(*), max(id), 0, 0 FROM checks
        UNION ALL SELECT 'counts', count(*), sum(count % 1000003), 0, 0 FROM counts
        UNION ALL SELECT 'links', count(*), max(updated_at), (SELECT count(*) FROM link_fields), 0 FROM links
        UNION ALL SELECT 'audit_log', count(*), max(id_high), 0, 0 FROM audit_log
        UNION ALL SELECT 'erasures', count(*), max(erased_at), sum(checks + learnt_counters),
            sum(events + attributed_installs) FROM erasures
        UNION ALL SELECT 'directory', version, (SELECT count(*) FROM keys), 0, 0 FROM directory
        ORDER BY 1
        """

    public func forEachRow(of table: MovedTable, _ body: (any RowReader) throws(StoreError) -> Void)
        throws(StoreError)
    {
        let statement = try opening.translated { () throws(SQLiteError) in
            try connection.prepare("SELECT \(table.columns) FROM \(table.name) WHERE \(table.condition)")
        }
        while try opening.translated({ () throws(SQLiteError) in try statement.step() }) {
            try body(StatementRow(statement))
        }
    }

    public func clicks(after number: Int64, atMost limit: Int) throws(StoreError) -> [MovedClick] {
        try opening.translated { () throws(SQLiteError) in
            let clicks = try connection.statement(Self.nextClicks).all(ClickRecord.self, number, limit)
            var moved: [MovedClick] = []
            for click in clicks {
                let claim = try SQLiteReader(connection: connection).claim(ofClick: click.number)
                moved.append(MovedClick(click, claim, try entries(of: click, claim)))
            }
            return moved
        }
    }

    private static let nextClicks: SQL =
        "SELECT \(ClickRecord.columns) FROM clicks WHERE id > ?1 ORDER BY id LIMIT ?2"

    /// Reads the rows of a click in the index, each by its whole key.
    private func entries(of click: ClickRecord, _ claim: ClaimRecord?) throws(SQLiteError) -> [MovedEntry] {
        var entries: [MovedEntry] = []
        let (scope, clickedAt) = (click.scope.number, click.facts.clickedAt.milliseconds)
        let (expiresAt, claimedAt) = (click.expiresAt.milliseconds, claim?.claimedAt.milliseconds)
        for hash in click.hashes {
            let entry = try connection.statement(Self.entry)
                .first(scope, hash.index, clickedAt, expiresAt, claimedAt, click.number) { row in
                    var row = StatementRow(row)
                    return MovedEntry(&row, under: hash)
                }
            if let entry { entries.append(entry) }
        }
        return entries
    }

    private static let entry: SQL = """
        SELECT \(MovedEntry.source) FROM click_index
        WHERE scope = ?1 AND hash = ?2 AND state IN (0, 1) AND since IN (?3, ?4, ?5) AND click = ?6
        """

    public func checks(after number: Int64, atMost limit: Int) throws(StoreError) -> [CheckRecord] {
        try opening.translated { () throws(SQLiteError) in
            try connection.statement(Self.nextChecks).all(CheckRecord.self, number, limit)
        }
    }

    private static let nextChecks: SQL =
        "SELECT \(CheckRecord.columns) FROM checks WHERE id > ?1 ORDER BY id LIMIT ?2"

    public func rowCount(of rows: MovedRows) throws(StoreError) -> Int64 {
        let query: SQL =
            switch rows {
            case .table(let table): "SELECT count(*) FROM \(table.name) WHERE \(table.condition)"
            case .clicks: "SELECT count(*) FROM clicks"
            case .claims: "SELECT count(*) FROM claims"
            case .clickIndex: "SELECT count(*) FROM click_index"
            // SQLite deletes an expired click's row in this table, but PostgreSQL keeps it until it drops the row's
            // day. So count the clicks that had such a row.
            case .clickAddresses:
                "SELECT count(*) FROM clicks WHERE exact_address IS NOT NULL AND is_robot = 0"
            case .checks: "SELECT count(*) FROM checks"
            case .installs:
                """
                SELECT count(*) FROM (
                    SELECT DISTINCT scope, install, install_rest FROM claims WHERE install IS NOT NULL
                )
                """
            case .idempotencies:
                """
                SELECT count(*) FROM (
                    SELECT DISTINCT scope, idempotency, idempotency_rest FROM clicks WHERE idempotency IS NOT NULL
                )
                """
            case .linkLimits: "SELECT count(*) FROM links WHERE maximum_clicks IS NOT NULL"
            }
        return try opening.translated { () throws(SQLiteError) in try connection.integer(query) }
    }
}
