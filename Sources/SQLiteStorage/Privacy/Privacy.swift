internal import Attribution
internal import SQLite
internal import Storage

/// Erases clicks and checks, and records the erasures.
extension SQLiteWriter {
    func erase(_ click: ClickRecord, _ claim: ClaimRecord?) throws(SQLiteError) -> Bool {
        let times = ClosingTimes(
            claimedAt: claim?.claimedAt,
            expiresAt: click.expiresAt,
            clickedAt: click.facts.clickedAt
        )
        // A click without hashes has no index row that shows whether it is open; only its token finds it.
        var wasOpen = click.hashes.isEmpty && claim == nil && !click.facts.isRobot
        for hash in click.hashes {
            try removeOpen(click, under: hash)
            if connection.changeCount > 0 { wasOpen = true }
            try removeClosed(click, under: hash, at: times)
        }
        if let near = click.address?.near { try removeAddress(near, of: click) }
        try delete(click.number)
        return wasOpen
    }

    func erase(_ checks: [CheckID]) throws(SQLiteError) -> Int64 {
        var count: Int64 = 0
        for check in checks {
            try connection.statement(Self.eraseCheck).run(check.high, check.low)
            count += connection.changeCount
        }
        return count
    }

    func insert(_ rows: [ErasedRecord]) throws(SQLiteError) {
        for row in rows { try connection.statement(Self.insertErased).run(row) }
    }

    func newestErasedRow() throws(SQLiteError) -> Int64 {
        try connection.integer("SELECT ifnull(max(number), 0) FROM erased_rows")
    }

    func add(_ record: ErasureRecord) throws(SQLiteError) {
        try connection.statement(Self.addErasure).run(record)
    }

    func removeErasures(before time: Timestamp, atMost limit: Int64) throws(SQLiteError) -> Bool {
        let first = RowIdentifier.first(at: time)
        try connection.statement(Self.removeOldErasures).run(first, time.milliseconds)
        try connection.statement(Self.removeErased).run(first, limit)
        return connection.changeCount >= limit
    }

    /// Finds the records by their identifiers, which contain the time of the erasure: no index has `erased_at`.
    static let removeOldErasures: SQL = "DELETE FROM erasures WHERE id_high < ?1 AND erased_at < ?2"
    /// Finds the names of erased rows by their numbers, which contain the time of the erasure.
    static let removeErased: SQL = """
        DELETE FROM erased_rows WHERE number IN
            (SELECT number FROM erased_rows WHERE number < ?1 ORDER BY number LIMIT ?2)
        """

    private static let eraseCheck: SQL = "DELETE FROM checks WHERE id = ?1 AND id_low = ?2"
    private static let insertErased = SQL.insert("erased_rows", ErasedRecord.columns)
    private static let addErasure: SQL = """
        INSERT INTO erasures (\(ErasureRecord.columns)) VALUES (\(parametersFor: ErasureRecord.columns))
        ON CONFLICT DO UPDATE SET clicks = clicks + excluded.clicks, click_index = click_index + excluded.click_index,
            click_addresses = click_addresses + excluded.click_addresses, claims = claims + excluded.claims,
            checks = checks + excluded.checks, learnt_counters = learnt_counters + excluded.learnt_counters,
            events = events + excluded.events,
            attributed_installs = attributed_installs + excluded.attributed_installs
        """
}

/// Reads the rows that are stored about a person.
extension SQLiteReader: PrivacyRows {
    func home(ofClick number: UInt64) throws(SQLiteError) -> ClickHome? {
        let number = Int64(bitPattern: number)
        guard let click = try click(numbered: number) else { return nil }
        let link = try click.link.flatMap { (number) throws(SQLiteError) in try linkID(numbered: number) }
        return ClickHome(click, claim: try claim(ofClick: number), link: link)
    }

    /// Finds all clicks by an index, up to the limit of a search.
    func clicks(ofInstall install: KeyedHash, in scope: Scope, from position: Int64)
        throws(SQLiteError) -> (clicks: [UInt64], next: Int64?)
    {
        let clicks = try connection.statement(Self.clicksOfInstall)
            .all(scope.number, install.index, install.rest, HeldData.maximumClicks) { $0.word(0) }
        return (clicks, nil)
    }

    private static let clicksOfInstall: SQL = """
        SELECT click FROM claims WHERE scope = ?1 AND install = ?2 AND install_rest = ?3 LIMIT ?4
        """

    func erasures(atMost limit: Int) throws(SQLiteError) -> [ErasureRecord] {
        try connection.statement(Self.newestErasures).all(ErasureRecord.self, limit)
    }

    private static let newestErasures: SQL = """
        SELECT \(ErasureRecord.columns) FROM erasures ORDER BY erased_at DESC, id_low DESC LIMIT ?1
        """

    func holdings() throws(SQLiteError) -> [TableHolding] {
        var holdings: [TableHolding] = []
        for (table, count, oldest) in Self.holdings {
            let number = try connection.statement(count).first(TableHolding.maximumCount) { $0.integer(0) }
            let time = try connection.statement(oldest).first { $0.optionalInteger(0) } ?? nil
            let isNumber = ["clicks", "checks", "events", "erased_rows"].contains(table)
            holdings.append(
                TableHolding(
                    table: table,
                    count: number ?? 0,
                    oldest: time.map { isNumber ? RowIdentifier.time(of: $0) : Timestamp(milliseconds: $0) }
                )
            )
        }
        return holdings
    }

    private static let holdings: [(table: String, count: SQL, oldest: SQL)] = [
        ("clicks", count("clicks"), "SELECT min(id) FROM clicks"),
        ("click_index", count("click_index"), "SELECT NULL"),
        ("click_addresses", count("click_addresses"), "SELECT NULL"),
        ("claims", count("claims"), "SELECT claimed_at FROM claims ORDER BY click LIMIT 1"),
        ("checks", count("checks"), "SELECT min(id) FROM checks"),
        ("learnt_counters", count("learnt_counters"), "SELECT NULL"),
        ("events", count("events"), "SELECT min(number) FROM events"),
        (
            "attributed_installs", count("attributed_installs"),
            "SELECT min(matched_at) FROM attributed_installs"
        ),
        ("outbox_events", count("outbox_events"), "SELECT NULL"),
        ("dashboard_sessions", count("dashboard_sessions"), "SELECT min(created_at) FROM dashboard_sessions"),
        ("erasures", count("erasures"), "SELECT min(erased_at) FROM erasures"),
        ("erased_rows", count("erased_rows"), "SELECT min(number) FROM erased_rows"),
    ]

    private static func count(_ table: StaticString) -> SQL {
        "SELECT count(*) FROM (SELECT 1 FROM \(table) LIMIT ?1)"
    }
}
