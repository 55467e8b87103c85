internal import Attribution
internal import SQLite
internal import Storage

/// Reads the rows for a check (a first launch's request), in the snapshot of the reader's connection.
extension SQLiteReader {
    /// Reads the clicks of a key (a fingerprint's keyed hash) with one statement.
    ///
    /// Most checks find nothing, so their main cost is the start of each statement.
    func read(_ selection: inout KeySelection, in scope: Scope) throws(SQLiteError) {
        let statement = try connection.statement(Self.clicksOfKey)
        try statement.bind(scope.number, selection.key.index, selection.key.rest)
        defer { statement.reset() }
        while try statement.step() {
            var row = StatementRow(statement)
            let closedAs: String? = row.get("closed_as")
            let click = try row.record(IndexRecord.self)
            guard let closedAs else {
                guard selection.add(click) else { break }
                continue
            }
            guard let reason = NoMatchReason(rawValue: closedAs) else {
                throw .corrupt("reading why a click was closed")
            }
            // In the row of a closed click, `since` is when the click was closed.
            let closed = KeySelection.Closed(
                RowPosition(clickedAt: row.get("clicked_at"), click: click.click),
                closedAt: click.clickedAt.milliseconds,
                reason: reason,
                mayBeUndelivered: row.get("is_undelivered")
            )
            selection.add(closed)
        }
    }

    /// Selects the click that was closed last, and then the open clicks, newest first.
    ///
    /// The limit -1 means no limit. It is there because SQLite may ignore the order of a subquery without a LIMIT.
    static let clicksOfKey: SQL = """
        SELECT * FROM (
            SELECT closed_as, \(IndexRecord.columns), clicked_at, EXISTS (
                SELECT 1 FROM claims WHERE is_undelivered = 1 AND scope = ?1 AND hash = ?2
            ) AS is_undelivered
            FROM click_index
            WHERE scope = ?1 AND hash = ?2 AND state = 1 AND hash_rest = ?3
            ORDER BY since DESC, click DESC LIMIT 1
        )
        UNION ALL
        SELECT * FROM (
            SELECT NULL, \(IndexRecord.columns), NULL, NULL
            FROM click_index
            WHERE scope = ?1 AND hash = ?2 AND state = 0 AND hash_rest = ?3
            ORDER BY since DESC, click DESC LIMIT -1
        )
        """

    func openClick(_ position: RowPosition, of key: KeyedHash, in scope: Scope) throws(SQLiteError)
        -> IndexRecord?
    {
        try connection.statement(Self.openClick)
            .first(IndexRecord.self, scope.number, key.index, position.clickedAt, position.click, key.rest)
    }

    static let openClick: SQL = """
        SELECT \(IndexRecord.columns) FROM click_index
        WHERE scope = ?1 AND hash = ?2 AND state = 0 AND since = ?3 AND click = ?4 AND hash_rest = ?5
        """

    func read(_ selection: inout AddressSelection, in scope: Scope) throws(SQLiteError) {
        let (address, key) = (selection.address, selection.key)
        try connection.statement(Self.aroundAddress)
            .forEach(scope.number, address.near, AddressSelection.maximumRead) { row in
                var row = StatementRow(row)
                let position = RowPosition(clickedAt: row.get("clicked_at"), click: row.get("click"))
                let exact: UInt64 = row.get("exact_address")
                let isOfKey = HashPrefixes(bytes: row.get("marks")).mayContain(key)
                selection.add(position, isExact: exact == address.exact, isOfKey: isOfKey)
            }
    }

    static let aroundAddress: SQL = """
        SELECT clicked_at, click, exact_address, marks FROM click_addresses
        WHERE scope = ?1 AND near_address = ?2 ORDER BY clicked_at DESC, click DESC LIMIT ?3
        """

    func read(_ count: inout AddressClickCount.Builder, in scope: Scope) throws(SQLiteError) {
        try connection.statement(Self.clicksNearAddress)
            .forEach(scope.number, count.address.near, AddressClickCount.Builder.maximumRead) { row in
                count.add(clickedAt: row.time(0), exact: row.word(1))
            }
    }

    static let clicksNearAddress: SQL = """
        SELECT clicked_at, exact_address FROM click_addresses
        WHERE scope = ?1 AND near_address = ?2 ORDER BY clicked_at DESC, click DESC LIMIT ?3
        """

    func undeliveredClaim(of key: KeyedHash, in scope: Scope, at now: Timestamp) throws(SQLiteError)
        -> ClaimRecord?
    {
        try connection.statement(Self.undeliveredClaim)
            .first(ClaimRecord.self, scope.number, key.index, key.rest, now.milliseconds)
    }

    static let undeliveredClaim: SQL = """
        SELECT \(ClaimRecord.columns, of: "claims")
        FROM claims CROSS JOIN clicks ON clicks.id = claims.click
        WHERE is_undelivered = 1 AND claims.scope = ?1 AND hash = ?2 AND hash_rest = ?3
            AND expires_at >= ?4
        ORDER BY claimed_at DESC LIMIT 1
        """

    func claim(
        ofCaller caller: KeyedHash,
        by key: KeyedHash,
        in scope: Scope,
        during times: ClosedRange<Timestamp>
    ) throws(SQLiteError) -> ClaimRecord? {
        let (first, last) = (times.lowerBound.milliseconds, times.upperBound.milliseconds)
        return try connection.statement(Self.claimOfCaller)
            .first(ClaimRecord.self, scope.number, key.index, caller.index, caller.rest, first, last)
    }

    static let claimOfCaller: SQL = """
        SELECT \(ClaimRecord.columns, of: "claims")
        FROM click_index AS closed CROSS JOIN claims ON claims.click = closed.click
        WHERE closed.scope = ?1 AND closed.hash = ?2 AND closed.state = 1
            AND closed.since BETWEEN ?5 AND ?6 AND closed.caller = ?3 AND claims.caller = ?3 AND caller_rest = ?4
        ORDER BY closed.since DESC, closed.click DESC LIMIT 1
        """

    func hasClaim(of key: KeyedHash, in scope: Scope, since click: RowPosition) throws(SQLiteError) -> Bool {
        try connection.statement(Self.claimedSince)
            .first(scope.number, key.index, key.rest, click.clickedAt) { _ in true } ?? false
    }

    /// Among the 512 clicks of a key that were closed last, selects a claimed click that is not older than a
    /// given time.
    static let claimedSince: SQL = """
        SELECT 1
        FROM (
            SELECT clicked_at, closed_as FROM click_index
            WHERE scope = ?1 AND hash = ?2 AND state = 1 AND hash_rest = ?3
            ORDER BY since DESC LIMIT 512
        )
        WHERE closed_as = 'already_claimed' AND clicked_at >= ?4
        LIMIT 1
        """

    func newestClicks(_ query: NewestClicks, atMost count: Int) throws(SQLiteError) -> [ClickID] {
        let (scope, key, url) = (query.scope.number, query.key, query.destination.url)
        return try connection.statement(Self.newestOfDestination)
            .all(scope, key.index, key.rest, url, query.at.milliseconds, count) {
                ClickID(high: $0.word(0), low: 0)
            }
    }

    /// Searches at most the newest 4,096 clicks of the fingerprint (``NewestClicks/maximumRead``).
    static let newestOfDestination: SQL = """
        SELECT click
        FROM (
            SELECT click, destination, expires_at FROM click_index
            WHERE scope = ?1 AND hash = ?2 AND state = 0 AND hash_rest = ?3
            ORDER BY since DESC, click DESC LIMIT 4096
        )
        WHERE destination = ?4 AND expires_at >= ?5
        LIMIT ?6
        """
}
