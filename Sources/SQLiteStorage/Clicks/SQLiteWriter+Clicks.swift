internal import Attribution
internal import SQLite
internal import Storage

/// Records and deletes clicks.
extension SQLiteWriter {
    func insert(_ click: ClickRecord) throws(SQLiteError) {
        try connection.statement(Self.insertClick).run(click)
    }

    static let insertClick = SQL.insert("clicks", ClickRecord.columns)

    func delete(_ click: Int64) throws(SQLiteError) {
        // This deletes the click's claim as well (ON DELETE CASCADE).
        try connection.statement(Self.deleteClick).run(click)
    }

    static let deleteClick: SQL = "DELETE FROM clicks WHERE id = ?1"

    func adopt(_ idempotency: KeyedHash, by click: Int64) throws(SQLiteError) {
        try connection.statement(Self.adoptIdempotency).run(click, idempotency.index, idempotency.rest)
    }

    static let adoptIdempotency: SQL = """
        UPDATE clicks SET idempotency = ?2, idempotency_rest = ?3 WHERE id = ?1 AND idempotency IS NULL
        """

    func release(_ idempotency: KeyedHash, of click: Int64) throws(SQLiteError) {
        try connection.statement(Self.releaseIdempotency).run(click, idempotency.index, idempotency.rest)
    }

    private static let releaseIdempotency: SQL = """
        UPDATE clicks SET idempotency = NULL, idempotency_rest = NULL
        WHERE id = ?1 AND idempotency = ?2 AND idempotency_rest = ?3
        """
}

/// Writes the rows by which checks find clicks.
extension SQLiteWriter {
    func insert(_ entry: IndexEntry) throws(SQLiteError) {
        try connection.statement(Self.insertOpen).run(entry)
    }

    static let insertOpen = SQL.insert("click_index", IndexEntry.columns)

    func insertClosed(_ click: ClickRecord, under hash: KeyedHash, as reason: NoMatchReason)
        throws(SQLiteError)
    {
        let (scope, clickedAt) = (click.scope.number, click.facts.clickedAt.milliseconds)
        try connection.statement(Self.insertClosed)
            .run(scope, hash.index, clickedAt, click.number, hash.rest, reason.rawValue)
    }

    private static let insertClosed: SQL = """
        INSERT INTO click_index (
            scope, hash, state, since, click, hash_rest, clicked_at, closed_as
        ) VALUES (?1, ?2, 1, ?3, ?4, ?5, ?3, ?6)
        """

    func close(_ click: ClickRecord, under hash: KeyedHash, _ closing: ClickClosing) throws(SQLiteError)
        -> Bool
    {
        let (scope, clickedAt) = (click.scope.number, click.facts.clickedAt.milliseconds)
        let (closedAt, reason) = (closing.at.milliseconds, closing.reason.rawValue)
        try connection.statement(Self.closeClick)
            .run(scope, hash.index, clickedAt, click.number, closedAt, reason, closing.caller)
        return connection.changeCount > 0
    }

    /// Closes a row, but keeps its columns for counting the visitors who share the fingerprint.
    ///
    /// These columns are the platform and form of the fingerprint, the click's weight, and its visitor.
    static let closeClick: SQL = """
        UPDATE click_index
        SET state = 1, since = ?5, expires_at = NULL, visit = NULL, clicked_at = ?3, closed_as = ?6, caller = ?7,
            exact_address = NULL, near_address = NULL, destination = NULL, campaign = NULL, os_release = NULL, signal_marks = NULL
        WHERE scope = ?1 AND hash = ?2 AND state = 0 AND since = ?3 AND click = ?4
        """

    func removeOpen(_ click: ClickRecord, under hash: KeyedHash) throws(SQLiteError) {
        try connection.statement(Self.removeOpen)
            .run(click.scope.number, hash.index, click.facts.clickedAt.milliseconds, click.number)
    }

    private static let removeOpen: SQL = """
        DELETE FROM click_index
        WHERE scope = ?1 AND hash = ?2 AND state = 0 AND since = ?3 AND click = ?4
        """

    func removeClosed(_ click: ClickRecord, under hash: KeyedHash, at times: ClosingTimes) throws(SQLiteError)
    {
        let (expiresAt, clickedAt) = (times.expiresAt.milliseconds, times.clickedAt.milliseconds)
        let (scope, claimedAt) = (click.scope.number, times.claimedAt?.milliseconds)
        try connection.statement(Self.removeClosed)
            .run(scope, hash.index, claimedAt, expiresAt, clickedAt, click.number)
    }

    static let removeClosed: SQL = """
        DELETE FROM click_index
        WHERE scope = ?1 AND hash = ?2 AND state = 1 AND since IN (?3, ?4, ?5) AND click = ?6
        """

    func insertAddress(_ address: AddressHashes, of click: ClickRecord) throws(SQLiteError) {
        let (scope, clickedAt) = (click.scope.number, click.facts.clickedAt.milliseconds)
        let marks = HashPrefixes(click.hashes).bytes
        try connection.statement(Self.insertAddress)
            .run(scope, address.near, clickedAt, click.number, address.exact, marks)
    }

    private static let insertAddress: SQL = """
        INSERT INTO click_addresses (scope, near_address, clicked_at, click, exact_address, marks)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        """

    func removeAddress(_ near: UInt64, of click: ClickRecord) throws(SQLiteError) {
        try connection.statement(Self.removeAddress)
            .run(click.scope.number, near, click.facts.clickedAt.milliseconds, click.number)
    }

    private static let removeAddress: SQL = """
        DELETE FROM click_addresses WHERE scope = ?1 AND near_address = ?2 AND clicked_at = ?3 AND click = ?4
        """
}

/// Writes claims, and whether their responses were delivered.
extension SQLiteWriter {
    func insert(_ claim: ClaimRecord) throws(SQLiteError) {
        try connection.statement(Self.insertClaim).run(claim)
    }

    static let insertClaim = SQL.insert("claims", ClaimRecord.columns)

    func markUndelivered(_ click: ClickID) throws(SQLiteError) {
        try connection.statement(Self.markUndelivered).run(click.high)
    }

    static let markUndelivered: SQL = "UPDATE claims SET is_undelivered = 1 WHERE click = ?1"

    func markDelivered(_ click: Int64, to request: ClaimRequest) throws(SQLiteError) -> Bool {
        try connection.statement(Self.markDelivered).run(click)
        return connection.changeCount > 0
    }

    static let markDelivered: SQL = """
        UPDATE claims SET is_undelivered = 0 WHERE click = ?1 AND is_undelivered = 1
        """
}
