#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Erases clicks and checks, and records the erasure.
extension PostgreSQLWriter {
    func erase(_ click: ClickRecord, _ claim: ClaimRecord?) throws(PostgreSQLError) -> Bool {
        let (number, slot, clickedAt) = (click.number, RowHome(of: click.number).slot, click.facts.clickedAt)
        guard let row = try batch.click(number) else { return false }
        for hash in Set(click.hashes) {
            batch.append(.erasedEntry(slot: slot)) { row in
                row.put("scope", click.scope.number)
                row.put("hash", hash.index)
                row.put("since", clickedAt)
                row.put("click", number)
            }
        }
        if let near = click.address?.near {
            batch.append(.erasedAddress(slot: slot)) { row in
                row.put("scope", click.scope.number)
                row.put("near_address", near)
                row.put("clicked_at", clickedAt)
                row.put("click", number)
            }
        }
        for owner in [claim?.install, claim?.caller].compactMap(\.self) {
            removePointer(of: owner, to: click, isErased: true)
        }
        if let key = click.idempotency { try release(key, of: number) }
        batch.append(.erasedClick(slot: slot)) { $0.put("id", number) }
        batch.rows.remove(number)
        return row.wasOpen && row.closed.isEmpty
    }

    func erase(_ checks: [CheckID]) throws(PostgreSQLError) -> Int64 {
        for check in checks {
            batch.append(.erasedCheck(slot: RowHome.day(of: Int64(bitPattern: check.high)))) { row in
                row.put("id", check.high)
                row.put("id_low", check.low)
            }
        }
        // Another erasure, or the end of the retention, may have deleted some of them since they were found.
        return try batch.sendErasedChecks()
    }

    /// Deletes the further idempotency keys of clicks, which no index finds, from some blocks of their table.
    func finishErasure(of clicks: [Int64], from block: Int64) throws(PostgreSQLError) -> Int64? {
        guard !clicks.isEmpty else { return nil }
        // A table that Citus distributes has blocks only in its shards.
        guard !batch.shards.isCitus else {
            try batch.run(Self.eraseIdempotencies, clicks)
            return nil
        }
        let end = block + Self.blocksAtOnce
        let found = try batch.run(Self.eraseIdempotenciesOfBlocks, clicks, "(\(block),0)", "(\(end),0)")
        let blockCount: Int64 = try found.value(0, 0)
        return end < blockCount ? end : nil
    }

    /// The blocks that one step of an erasure searches, some 100,000 rows.
    private static let blocksAtOnce: Int64 = 1024

    func insert(_ rows: [ErasedRecord]) throws(PostgreSQLError) {
        var records = ColumnArrays(ErasedRecord.columns)
        for row in rows { records.append(row) }
        try batch.run(Self.insertErased, records)
    }

    func add(_ record: ErasureRecord) throws(PostgreSQLError) { _ = try run(Self.addErasure, record) }

    func removeErasures(before time: Timestamp, atMost limit: Int64) throws(PostgreSQLError) -> Bool {
        let first = RowIdentifier.first(at: time)
        try batch.run(Self.removeErasures, first, time.milliseconds)
        return try batch.run(Self.removeErased, first, limit).affectedCount >= limit
    }

    private static let eraseIdempotencies: PreparedStatement =
        "DELETE FROM idempotencies WHERE click = ANY ($1)"
    /// Deletes the keys of the clicks in a range of blocks, and returns the number of the table's blocks.
    ///
    /// With `IS TRUE`, PostgreSQL puts the clicks into a hash table; else it would compare each row with every click.
    private static let eraseIdempotenciesOfBlocks: PreparedStatement = """
        WITH gone AS (DELETE FROM idempotencies WHERE ctid >= $2::text::tid AND ctid < $3::text::tid
        AND (click IN (SELECT unnest($1))) IS TRUE)
        SELECT pg_relation_size('idempotencies') / current_setting('block_size')::int8
        """
    private static let insertErased: PreparedStatement =
        "INSERT INTO erased_rows (\(ErasedRecord.columns)) SELECT * FROM \(rowsWith: ErasedRecord.columns)"
    private static let addErasure: PreparedStatement = """
        INSERT INTO erasures AS e (\(ErasureRecord.columns))
        SELECT * FROM \(rowsWith: ErasureRecord.columns)
        ON CONFLICT (id_high, id_low) DO UPDATE SET clicks = e.clicks + excluded.clicks,
        click_index = e.click_index + excluded.click_index,
        click_addresses = e.click_addresses + excluded.click_addresses, claims = e.claims + excluded.claims,
        checks = e.checks + excluded.checks, learnt_counters = e.learnt_counters + excluded.learnt_counters,
        events = e.events + excluded.events,
        attributed_installs = e.attributed_installs + excluded.attributed_installs
        """
    /// Finds the records by their identifiers, which contain the time of the erasure: no index has `erased_at`.
    private static let removeErasures: PreparedStatement =
        "DELETE FROM erasures WHERE id_high < $1 AND erased_at < $2"
    /// Finds the names of erased rows by their numbers, which contain the time of the erasure.
    ///
    /// Skips locked names, because two servers that delete the same names would wait for each other.
    private static let removeErased: PreparedStatement = """
        DELETE FROM erased_rows WHERE number IN (SELECT number FROM erased_rows WHERE number < $1
        ORDER BY number LIMIT $2 FOR UPDATE SKIP LOCKED)
        """
}

/// Reads what is stored about a person.
extension PostgreSQLReader: PrivacyRows {
    /// Searches some blocks of a partition: no index has the installations of clicks, and the row of an installation names
    /// only its last click.
    ///
    /// The position is the slot's number plus one, in the upper 32 bits, and the first block.
    func clicks(ofInstall install: KeyedHash, in scope: Scope, from position: Int64)
        throws(PostgreSQLError) -> (clicks: [UInt64], next: Int64?)
    {
        let from = (position >> 32) - 1
        let slots = try slots().filter { $0 >= from }
        guard let slot = slots.first else { return ([], nil) }
        let rest = slots.dropFirst().first.map { ($0 + 1) << 32 }
        // A partition that Citus distributes has blocks only in its shards.
        guard try !connection.isCitus() else {
            let clicks = try all(Self.clicksOfInstall, slot, scope.number, install.index, install.rest) {
                $0.get("id") as UInt64
            }
            return (clicks, rest)
        }
        let block = slot == from ? position & 0xffff_ffff : 0
        let end = block + Self.blocksAtOnce
        let clicks = try all(
            Self.clicksOfInstallInBlocks,
            slot,
            "(\(block),0)",
            "(\(end),0)",
            scope.number,
            install.index,
            install.rest
        ) { $0.get("id") as UInt64 }
        let blockCount = try Partitions(connection: connection).blockCount(of: .clicks, slot)
        return (clicks, end < blockCount ? (slot + 1) << 32 | end : rest)
    }

    /// The blocks that one read searches, half a gigabyte.
    private static let blocksAtOnce: Int64 = 65_536
    private static let clicksOfInstall: PreparedStatement =
        "SELECT id FROM clicks WHERE slot = $1 AND scope = $2 AND install = $3 AND install_rest = $4"
    private static let clicksOfInstallInBlocks: PreparedStatement = """
        SELECT id FROM clicks WHERE slot = $1 AND ctid >= $2::text::tid AND ctid < $3::text::tid
        AND scope = $4 AND install = $5 AND install_rest = $6
        """

    func erasures(atMost limit: Int) throws(PostgreSQLError) -> [ErasureRecord] {
        try all(Self.newestErasures, Int64(limit)) { row throws(PostgreSQLError) in
            try row.record(ErasureRecord.self)
        }
    }

    private static let newestErasures: PreparedStatement = """
        SELECT \(ErasureRecord.columns) FROM erasures ORDER BY erased_at DESC, id_low DESC LIMIT $1
        """

    func holdings() throws(PostgreSQLError) -> [TableHolding] {
        var holdings: [TableHolding] = []
        for (table, statement) in Self.holdings {
            let holding = try first(statement, TableHolding.maximumCount) { row throws(PostgreSQLError) in
                (count: row.get("count") as Int64, oldest: row.get("oldest") as Timestamp?)
            }
            holdings.append(TableHolding(table: table, count: holding?.count ?? 0, oldest: holding?.oldest))
        }
        return holdings
    }

    /// Claims are not listed: they are columns of `clicks`, so PostgreSQL would read all clicks to count the few with a
    /// claim.
    private static let holdings: [(table: String, statement: PreparedStatement)] = [
        ("clicks", holding("clicks", oldest("clicks"))),
        ("click_index", holding("click_index", "NULL::int8")),
        ("click_addresses", holding("click_addresses", "NULL::int8")),
        ("checks", holding("checks", oldest("checks"))),
        ("installs", holding("installs", "NULL::int8")),
        ("idempotencies", holding("idempotencies", "NULL::int8")),
        ("learnt_counters", holding("learnt_counters", "NULL::int8")),
        ("events", holding("events", "(SELECT min(number) >> 16 FROM events)")),
        (
            "attributed_installs",
            holding("attributed_installs", "(SELECT min(matched_at) FROM attributed_installs)")
        ),
        ("outbox_events", holding("outbox_events", "NULL::int8")),
        (
            "dashboard_sessions",
            holding("dashboard_sessions", "(SELECT min(created_at) FROM dashboard_sessions)")
        ),
        ("erasures", holding("erasures", "(SELECT min(erased_at) FROM erasures)")),
        ("erased_rows", holding("erased_rows", "(SELECT min(number) >> 16 FROM erased_rows)")),
    ]

    private static func holding(_ rows: StaticString, _ oldest: SQLText) -> PreparedStatement {
        """
        SELECT count(*) AS count, \(oldest) AS oldest FROM (SELECT 1 FROM \(rows) LIMIT $1) f
        """
    }

    /// The time in the first number of a table with partitions.
    static func oldest(_ table: StaticString) -> SQLText {
        """
        (SELECT min(n) >> 16 FROM buckets AS k CROSS JOIN LATERAL (SELECT min(id) AS n FROM \(table) WHERE b = k.b) f)
        """
    }
}
#endif
