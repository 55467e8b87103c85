internal import Attribution
internal import SQLite
internal import Storage

/// Reads records of checks (first launches' requests) with their clicks, for pages and explanations.
extension SQLiteReader: ReportReader {
    func checks(_ rows: NumberedRows, _ body: (JoinedCheck) -> Bool) throws(SQLiteError) {
        let statement = try connection.statement(
            rows.order == .ascending ? Self.ascendingChecks : Self.descendingChecks
        )
        let (scope, limit) = (rows.scope?.number, rows.limit ?? -1)
        try statement.bind(rows.after, rows.through, scope, rows.onlyMatches, rows.isJoined, limit)
        defer { statement.reset() }
        while try statement.step() {
            var row = StatementRow(statement)
            guard body(JoinedCheck(try row.record(), &row)) else { return }
        }
    }

    static let ascendingChecks = checks("ASC")
    static let descendingChecks = checks("DESC")

    private static func checks(_ order: StaticString) -> SQL {
        """
        SELECT \(CheckRecord.columns, of: "checks"), \(JoinedCheck.columns, of: "clicks")
        FROM checks LEFT JOIN clicks ON clicks.id = iif(?5, checks.click, NULL)
        WHERE checks.id > ?1 AND checks.id <= ?2 AND (?3 IS NULL OR checks.scope = ?3)
            AND (NOT ?4 OR outcome = 'match')
        ORDER BY checks.id \(order) LIMIT ?6
        """
    }

    func newestCheck(_ search: CheckSearch, among limit: Int) throws(SQLiteError) -> UInt64? {
        switch search {
        case .request(let text):
            try connection.statement(Self.checkOfRequest).first(limit, text) { $0.word(0) }
        case .fingerprint(let key):
            try connection.statement(Self.checkOfFingerprint).first(limit, key.index, key.rest) { $0.word(0) }
        case .click(let click):
            try connection.statement(Self.checkOfClick).first(limit, click.high) { $0.word(0) }
        }
    }

    // Each statement reads at most ?1 records, newest first, and ends at the first record that matches.
    private static let checkOfRequest: SQL = """
        SELECT id FROM (SELECT id, request_id FROM checks ORDER BY id DESC LIMIT ?1) WHERE request_id = ?2 LIMIT 1
        """
    private static let checkOfFingerprint: SQL = """
        SELECT id FROM (SELECT id, fingerprint, fingerprint_rest FROM checks ORDER BY id DESC LIMIT ?1)
        WHERE fingerprint = ?2 AND fingerprint_rest = ?3 LIMIT 1
        """
    private static let checkOfClick: SQL = """
        SELECT id FROM (SELECT id, click FROM checks ORDER BY id DESC LIMIT ?1) WHERE click = ?2 LIMIT 1
        """

    func match(of click: ClickID, from time: Timestamp, among limit: Int) throws(SQLiteError) -> UInt64? {
        let first = RowIdentifier.first(at: time)
        return try connection.statement(Self.checkOfClaim).first(click.high, first, limit) { $0.word(0) }
    }

    static let checkOfClaim: SQL = """
        SELECT id FROM (SELECT id, click, outcome FROM checks WHERE id >= ?2 ORDER BY id LIMIT ?3)
        WHERE click = ?1 AND outcome = 'match' LIMIT 1
        """

    func claimTime(of click: ClickID) throws(SQLiteError) -> Timestamp? {
        try claimTime(ofClick: Int64(bitPattern: click.high))
    }

    func checkTraces(
        from first: Timestamp,
        before end: Timestamp,
        atMost limit: Int,
        _ body: (CheckTrace) -> Void
    ) throws(SQLiteError) {
        let (first, end) = (RowIdentifier.first(at: first), RowIdentifier.first(at: end))
        try connection.statement(Self.checkTraces).forEach(first, end, limit) { row in
            var row = StatementRow(row)
            body(CheckTrace(&row))
        }
    }

    static let checkTraces: SQL = """
        SELECT \(CheckTrace.columns) FROM checks WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3
        """
}

/// Reads clicks with the claims that consumed them, for explanations.
extension SQLiteReader {
    func claimedClick(_ number: UInt64) throws(SQLiteError) -> ClaimedClick? {
        try connection.statement(Self.claimedClick).first(number) { row throws(SQLiteError) in
            var row = StatementRow(row)
            return ClaimedClick(try row.record(), &row)
        }
    }

    func clicks(_ rows: NumberedRows, _ body: (ClaimedClick, LinkID?) -> Bool) throws(SQLiteError) {
        let statement = try connection.statement(
            rows.order == .ascending ? Self.ascendingClicks : Self.descendingClicks
        )
        try statement.bind(rows.after, rows.through, rows.scope?.number, rows.isJoined, rows.limit ?? -1)
        defer { statement.reset() }
        while try statement.step() {
            var row = StatementRow(statement)
            let click = ClaimedClick(try row.record(), &row)
            let (high, low): (UInt64?, UInt64) = (row.get("id_high"), row.get("id_low"))
            guard body(click, high.map { LinkID(high: $0, low: low) }) else { return }
        }
    }

    static let ascendingClicks = clicks("ASC")
    static let descendingClicks = clicks("DESC")

    private static func clicks(_ order: StaticString) -> SQL {
        """
        SELECT \(ClickRecord.columns, of: "clicks"), claimed_at, method, links.id_high, links.id_low
        FROM clicks LEFT JOIN claims ON claims.click = iif(?4, clicks.id, NULL)
            LEFT JOIN links ON links.number = clicks.link
        WHERE clicks.id > ?1 AND clicks.id <= ?2 AND (?3 IS NULL OR clicks.scope = ?3)
        ORDER BY clicks.id \(order) LIMIT ?5
        """
    }

    private static let claimedClick: SQL = """
        SELECT \(ClickRecord.columns, of: "clicks"), claimed_at, method
        FROM clicks LEFT JOIN claims ON click = id
        WHERE id = ?1
        """

    func indexedClicks(of key: KeyedHash, _ scope: Scope, areOpen: Bool, atMost limit: Int)
        throws(SQLiteError) -> [(click: UInt64, closedAs: String?)]
    {
        try connection.statement(Self.indexedClicks).all(scope.number, key.index, !areOpen, key.rest, limit) {
            ($0.word(0), $0.optionalText(1))
        }
    }

    private static let indexedClicks: SQL = """
        SELECT click, closed_as FROM click_index
        WHERE scope = ?1 AND hash = ?2 AND state = ?3 AND hash_rest = ?4
        ORDER BY since DESC, click DESC LIMIT ?5
        """

    func indexState(of click: ClaimedClick) throws(SQLiteError) -> (isIndexed: Bool, closedAs: String?) {
        let (record, claimedAt) = (click.record, click.claimedAt?.milliseconds)
        guard let key = record.hashes.first else { return (false, nil) }
        let (clickedAt, expiresAt) = (record.facts.clickedAt.milliseconds, record.expiresAt.milliseconds)
        let rows = try connection.statement(Self.indexRow)
            .all(record.scope.number, key.index, clickedAt, expiresAt, claimedAt, record.number) {
                (rest: $0.word(0), closedAs: $0.optionalText(1))
            }
        guard let row = rows.first(where: { $0.rest == key.rest }) else { return (false, nil) }
        return (true, row.closedAs)
    }

    /// In an open row, `since` is the click's time; in a closed row, the time of the click, its expiry or its claim.
    static let indexRow: SQL = """
        SELECT hash_rest, closed_as FROM click_index
        WHERE scope = ?1 AND hash = ?2 AND state IN (0, 1) AND since IN (?3, ?4, ?5) AND click = ?6
        """
}
