internal import Attribution
internal import SQLite
internal import Storage

/// Reads clicks and claims, for checks and for the writer.
extension SQLiteReader {
    func newestClick() throws(SQLiteError) -> Int64 {
        try connection.integer("SELECT ifnull(max(id), 0) FROM clicks")
    }

    func click(numbered number: Int64) throws(SQLiteError) -> ClickRecord? {
        try connection.statement(Self.clickByNumber).first(ClickRecord.self, number)
    }

    static let clickByNumber: SQL = "SELECT \(ClickRecord.columns) FROM clicks WHERE id = ?1"

    func click(_ id: ClickID) throws(SQLiteError) -> ClickRecord? {
        try connection.statement(Self.clickByIdentifier).first(ClickRecord.self, id.high, id.low)
    }

    static let clickByIdentifier: SQL =
        "SELECT \(ClickRecord.columns) FROM clicks WHERE id = ?1 AND id_low = ?2"

    func linkID(numbered number: Int64) throws(SQLiteError) -> LinkID? {
        try connection.statement(Self.linkByNumber).first(number) {
            LinkID(high: $0.word(0), low: $0.word(1))
        }
    }

    static let linkByNumber: SQL = "SELECT id_high, id_low FROM links WHERE number = ?1"

    func claim(ofClick number: Int64) throws(SQLiteError) -> ClaimRecord? {
        try connection.statement(Self.claimOfClick).first(ClaimRecord.self, number)
    }

    static let claimOfClick: SQL = "SELECT \(ClaimRecord.columns) FROM claims WHERE click = ?1"

    func claimTime(ofClick number: Int64) throws(SQLiteError) -> Timestamp? {
        try connection.statement(Self.timeOfClaim).first(number) { $0.time(0) }
    }

    static let timeOfClaim: SQL = "SELECT claimed_at FROM claims WHERE click = ?1"

    func claim(ofInstall hash: KeyedHash, in scope: Scope, at now: Timestamp) throws(SQLiteError)
        -> ClaimRecord?
    {
        try connection.statement(Self.claimOfInstall)
            .first(ClaimRecord.self, scope.number, hash.index, hash.rest, now.milliseconds)
    }

    static let claimOfInstall: SQL = """
        SELECT \(ClaimRecord.columns, of: "claims")
        FROM claims CROSS JOIN clicks ON clicks.id = claims.click
        WHERE claims.scope = ?1 AND install = ?2 AND install_rest = ?3 AND expires_at >= ?4
        ORDER BY claimed_at DESC LIMIT 1
        """
}

/// Reads rows that only the writer needs.
extension SQLiteReader {
    func posts(from click: Int64, atMost limit: Int) throws(SQLiteError) -> [StoredPost] {
        try connection.statement(Self.recentPosts).all(click, limit) { row in
            StoredPost(
                click: row.integer(0),
                scope: Scope(number: row.integer(1)),
                hash: KeyedHash(index: row.word(2), rest: row.word(3)),
                recordedAt: row.time(4)
            )
        }
    }

    static let recentPosts: SQL = """
        SELECT id, scope, post, post_rest, recorded_at FROM clicks WHERE id >= ?1 ORDER BY id DESC LIMIT ?2
        """

    func hashes(after click: Int64, atMost limit: Int, _ body: ([KeyedHash]) -> Void) throws(SQLiteError) {
        try connection.statement(Self.hashesOfClicks).forEach(click, limit) { row in
            body(ClickRecord.unpackedHashes(row.bytes(0)))
        }
    }

    static let hashesOfClicks: SQL = "SELECT fingerprints FROM clicks WHERE id > ?1 ORDER BY id LIMIT ?2"

    func click(ofIdempotency key: KeyedHash, in scope: Scope) throws(SQLiteError) -> Int64? {
        try connection.statement(Self.clickOfIdempotency).first(scope.number, key.index, key.rest) {
            $0.integer(0)
        }
    }

    static let clickOfIdempotency: SQL = """
        SELECT id FROM clicks WHERE scope = ?1 AND idempotency = ?2 AND idempotency_rest = ?3 LIMIT 1
        """

    func visits(ofVisitor visitor: UInt64, _ search: VisitSearch) throws(SQLiteError) -> [UInt64] {
        let (first, last) = (search.first.milliseconds, search.last.milliseconds)
        return try connection.statement(Self.visitsOfVisitor)
            .all(search.scope.number, search.key.index, first, last, visitor) { $0.word(0) }
    }

    /// Searches at most the newest 256 clicks of the fingerprint in the given time.
    ///
    /// A flood of clicks must not delay the writer.
    static let visitsOfVisitor: SQL = """
        SELECT visit
        FROM (
            SELECT visit, visitor FROM click_index
            WHERE scope = ?1 AND hash = ?2 AND state = 0 AND since BETWEEN ?3 AND ?4
            ORDER BY since DESC LIMIT 256
        )
        WHERE visitor = ?5
        """

    func clicks(ofVisit visit: UInt64, near: UInt64?, _ search: VisitSearch) throws(SQLiteError) -> [Int64] {
        let (scope, hash) = (search.scope.number, search.key.index)
        let (first, last) = (search.first.milliseconds, search.last.milliseconds)
        guard let near else {
            return try connection.statement(Self.clicksOfVisit).all(scope, hash, first, last, visit) {
                $0.integer(0)
            }
        }
        return try connection.statement(Self.clicksOfVisitNear).all(scope, hash, first, last, visit, near) {
            $0.integer(0)
        }
    }

    /// Searches at most the newest 4,096 clicks of the network (the address hash `near_address`).
    static let clicksOfVisitNear: SQL = """
        SELECT around.click
        FROM (
            SELECT click, clicked_at FROM click_addresses
            WHERE scope = ?1 AND near_address = ?6 AND clicked_at BETWEEN ?3 AND ?4
            ORDER BY clicked_at DESC LIMIT 4096
        ) AS around
        CROSS JOIN click_index AS f ON f.scope = ?1 AND f.hash = ?2 AND f.state = 0
            AND f.since = around.clicked_at AND f.click = around.click
        WHERE f.visit = ?5
        """
    /// Searches at most the newest 512 clicks of the fingerprint in the given time.
    ///
    /// A flood of clicks must not delay the writer.
    static let clicksOfVisit: SQL = """
        SELECT click
        FROM (
            SELECT click, visit FROM click_index
            WHERE scope = ?1 AND hash = ?2 AND state = 0 AND since BETWEEN ?3 AND ?4
            ORDER BY since DESC LIMIT 512
        )
        WHERE visit = ?5
        """

    func clicks(expiringFrom start: Timestamp, before end: Timestamp, atMost limit: Int) throws(SQLiteError)
        -> [ClickRecord]
    {
        try connection.statement(Self.clicksByExpiry)
            .all(ClickRecord.self, start.milliseconds, end.milliseconds, limit)
    }

    static let clicksByExpiry: SQL = """
        SELECT \(ClickRecord.columns) FROM clicks
        WHERE expires_at >= ?1 AND expires_at < ?2 ORDER BY expires_at LIMIT ?3
        """

    func newestCheck() throws(SQLiteError) -> Int64 {
        try connection.integer("SELECT ifnull(max(id), 0) FROM checks")
    }

    func campaign(hashed hash: UInt64, _ expected: PendingCheckRecords.Expected, in scope: Scope)
        throws(SQLiteError) -> String?
    {
        if let click = expected.click {
            return try connection.statement("SELECT campaign_key FROM clicks WHERE id = ?1")
                .first(click) { $0.optionalText(0) } ?? nil
        }
        guard let key = expected.fingerprint else { return nil }
        return try connection.statement(Self.campaignOfHash)
            .first(scope.number, key.index, key.rest, hash) { $0.optionalText(0) } ?? nil
    }

    /// Searches at most the newest 4,096 clicks of the fingerprint.
    static let campaignOfHash: SQL = """
        SELECT campaign_key
        FROM (
            SELECT click, campaign FROM click_index
            WHERE scope = ?1 AND hash = ?2 AND state = 0 AND hash_rest = ?3
            ORDER BY since DESC, click DESC LIMIT 4096
        ) AS open CROSS JOIN clicks ON clicks.id = open.click
        WHERE open.campaign = ?4
        LIMIT 1
        """
}

/// Reads the rows from which the filter of fingerprints is built.
extension SQLiteReader {
    /// A row's position in the order of the index.
    struct IndexPosition {
        let scope, hash, state, since, click: Int64

        /// The position before all rows.
        static let first = IndexPosition(scope: .min, hash: .min, state: .min, since: .min, click: .min)
    }

    private static func position(_ row: Statement) -> IndexPosition {
        let (scope, hash, state) = (row.integer(0), row.integer(1), row.integer(2))
        let (since, click) = (row.integer(3), row.integer(4))
        return IndexPosition(scope: scope, hash: hash, state: state, since: since, click: click)
    }

    func indexPosition(after position: IndexPosition?, count: Int) throws(SQLiteError) -> IndexPosition? {
        let last = position ?? .first
        return try connection.statement(Self.indexRowAfter)
            .first(last.scope, last.hash, last.state, last.since, last.click, count - 1) { Self.position($0) }
    }

    func indexHashes(after position: IndexPosition?, count: Int, _ body: (UInt64) -> Void)
        throws(SQLiteError) -> IndexPosition?
    {
        let start = position ?? .first
        var (rows, last) = (0, start)
        try connection.statement(Self.indexRows)
            .forEach(start.scope, start.hash, start.state, start.since, start.click, count) { row in
                rows += 1
                last = Self.position(row)
                body(UInt64(bitPattern: last.hash))
            }
        return rows < count ? nil : last
    }

    static let indexRows: SQL = """
        SELECT scope, hash, state, since, click FROM click_index
        WHERE (scope, hash, state, since, click) > (?1, ?2, ?3, ?4, ?5)
        ORDER BY scope, hash, state, since, click LIMIT ?6
        """
    /// Selects the row that is ?6 + 1 rows after the given position.
    static let indexRowAfter: SQL = """
        SELECT scope, hash, state, since, click FROM click_index
        WHERE (scope, hash, state, since, click) > (?1, ?2, ?3, ?4, ?5)
        ORDER BY scope, hash, state, since, click LIMIT 1 OFFSET ?6
        """
}
