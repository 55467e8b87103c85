#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Reads records of checks day by day, in the order of their numbers.
extension PostgreSQLReader {
    /// The records of one day with numbers from one number up to, and not including, another.
    ///
    /// $1 is the slot, $2 and $3 are the numbers, and $4 is the limit. An index starts with the bucket, which is the
    /// number of the server that wrote the record, so the newest records of each are merged.
    private static func records(_ order: StaticString) -> SQLText {
        """
        (SELECT c.* FROM generate_series(0, \(RowHome.maximumServer)) AS k (b) CROSS JOIN LATERAL (
        SELECT * FROM checks WHERE slot = $1 AND b = k.b AND id >= $2 AND id < $3 ORDER BY id \(order) LIMIT $4) c
        ORDER BY id \(order) LIMIT $4) checks
        """
    }

    /// A record with the low half, the campaign and the time of its click.
    private static func joined(_ order: StaticString) -> SQLText {
        """
        SELECT \(CheckRecord.columns, of: "checks"), h.id_low AS click_low, h.campaign_key, h.clicked_at
        FROM \(records(order)) LEFT JOIN clicks h ON h.slot = \(slotOfNumber("checks.click"))
        AND h.b = (checks.click & 63) AND h.id = checks.click ORDER BY checks.id \(order)
        """
    }

    /// The slot of a click's number; see ``RowHome``.
    private static func slotOfNumber(_ number: StaticString) -> SQLText {
        "(CASE WHEN \(number) & 64 = 0 THEN (\(number) >> 16) / 86400000 ELSE \(RowHome.longSlot) END)"
    }

    private static let ascending = PreparedStatement(joined("ASC"))
    private static let descending = PreparedStatement(joined("DESC"))
    private static let traces = PreparedStatement(
        "SELECT \(CheckTrace.columns) FROM \(records("ASC")) ORDER BY id"
    )
    private static let plain = PreparedStatement(
        """
        SELECT \(CheckRecord.columns) FROM (SELECT c.* FROM generate_series(0, \(RowHome.maximumServer)) AS k (b)
        CROSS JOIN LATERAL (SELECT * FROM checks WHERE slot = $1 AND b = k.b AND id >= $2 AND id < $3 AND scope = $5
        ORDER BY id LIMIT $4) c ORDER BY id LIMIT $4) checks ORDER BY id
        """
    )

    private static let rowsAtOnce = 200

    /// Returns the days with partitions from one number to another, in ascending order.
    private func days(from first: Int64, to last: Int64) throws(PostgreSQLError) -> [Int64] {
        let (first, last) = (Self.day(of: first), Self.day(of: last))
        return try slots().filter { $0 >= max(0, first) && $0 <= last }
    }

    private static func day(of number: Int64) -> Int64 {
        RowIdentifier.time(of: number).milliseconds / 86_400_000
    }

    private func joinedChecks(_ statement: PreparedStatement, _ range: Parameters)
        throws(PostgreSQLError) -> [(
            record: CheckRecord, low: UInt64, campaign: String?, clickedAt: Timestamp?
        )]
    {
        try all(statement, range) { row throws(PostgreSQLError) in
            let record = try row.record(CheckRecord.self)
            return (record, row.get("click_low"), row.get("campaign_key"), row.get("clicked_at"))
        }
    }

    func checks(
        before id: CheckID?,
        within times: (from: Timestamp?, to: Timestamp?),
        _ body: (JoinedCheck) -> Bool
    ) throws(PostgreSQLError) {
        let start = times.from.map(RowIdentifier.first(at:)) ?? 0
        var end = min(
            id.map { Int64(bitPattern: $0.high) } ?? .max,
            times.to.map(RowIdentifier.first(at:)) ?? .max
        )
        guard start < end else { return }
        for day in try days(from: start, to: end).reversed() {
            var isMore = true
            while isMore {
                let range = Parameters(day, start, end, Int64(Self.rowsAtOnce))
                let rows = try joinedChecks(Self.descending, range)
                for row in rows
                where !body(JoinedCheck(row.record, clickLow: row.low, campaign: row.campaign)) { return }
                isMore = rows.count == Self.rowsAtOnce
                if let last = rows.last { end = Int64(bitPattern: last.record.id.high) }
            }
        }
    }

    func check(_ number: UInt64) throws(PostgreSQLError) -> JoinedCheck? {
        let number = Int64(bitPattern: number)
        let range = Parameters(Self.day(of: number), number, number + 1, 1 as Int64)
        return try joinedChecks(Self.ascending, range).first.map {
            JoinedCheck($0.record, clickLow: $0.low, campaign: $0.campaign)
        }
    }

    func checkRecordBounds() throws(PostgreSQLError) -> ClosedRange<Int64>? {
        let bounds = try first(Self.bounds) { row throws(PostgreSQLError) in
            (first: row.get("first") as Int64?, last: row.get("last") as Int64)
        }
        guard let bounds, let first = bounds.first else { return nil }
        return first...max(first, bounds.last)
    }

    private static let bounds = PreparedStatement(
        """
        SELECT min(first) AS first, max(last) AS last FROM partitions p
        CROSS JOIN generate_series(0, \(RowHome.maximumServer)) AS k (b) CROSS JOIN LATERAL (
        SELECT (SELECT min(id) FROM checks WHERE slot = p.slot AND b = k.b) AS first,
        (SELECT max(id) FROM checks WHERE slot = p.slot AND b = k.b) AS last) f
        """
    )

    func checkRecords(
        after id: Int64,
        atMost limit: Int,
        _ body: (CheckRecord, _ clickedAt: Timestamp?) -> Void
    ) throws(PostgreSQLError) {
        var remaining = limit
        for day in try days(from: id, to: .max) where remaining > 0 {
            let rows = try joinedChecks(Self.ascending, Parameters(day, id + 1, Int64.max, Int64(remaining)))
            for row in rows { body(row.record, row.clickedAt) }
            remaining -= rows.count
        }
    }

    func checkTraces(
        from first: Timestamp,
        before end: Timestamp,
        atMost limit: Int,
        _ body: (CheckTrace) -> Void
    ) throws(PostgreSQLError) {
        let (first, end) = (RowIdentifier.first(at: first), RowIdentifier.first(at: end))
        var remaining = limit
        for day in try days(from: first, to: end) where remaining > 0 {
            let rows = try all(Self.traces, day, first, end, Int64(remaining)) { CheckTrace(&$0) }
            rows.forEach(body)
            remaining -= rows.count
        }
    }

    func checks(
        of scope: Scope,
        after number: Int64,
        through last: Int64,
        atMost limit: Int,
        _ body: (CheckRecord) -> Void
    ) throws(PostgreSQLError) {
        var remaining = limit
        for day in try days(from: number, to: last) where remaining > 0 {
            let rows = try all(Self.plain, day, number + 1, last + 1, Int64(remaining), scope.number) {
                row throws(PostgreSQLError) in try row.record(CheckRecord.self)
            }
            rows.forEach(body)
            remaining -= rows.count
        }
    }
}

/// Searches the newest records of checks.
extension PostgreSQLReader {
    func newestCheck(_ search: CheckSearch, among limit: Int) throws(PostgreSQLError) -> UInt64? {
        switch search {
        case .request(let text): try newestCheck(Self.ofRequest, among: limit, text)
        case .fingerprint(let key): try newestCheck(Self.ofFingerprint, among: limit, key.index, key.rest)
        case .click(let click): try newestCheck(Self.ofClick, among: limit, click.high)
        }
    }

    private func newestCheck<each Value: PostgreSQLValue>(
        _ statement: PreparedStatement,
        among limit: Int,
        _ values: repeat each Value
    ) throws(PostgreSQLError) -> UInt64? {
        var remaining = Int64(limit)
        for day in try days(from: 0, to: .max).reversed() where remaining > 0 {
            let counted = try first(statement, day, 0 as Int64, Int64.max, remaining, repeat each values) {
                row throws(PostgreSQLError) in (row.get("count") as Int64, row.get("found") as UInt64?)
            }
            if let found = counted?.1 { return found }
            remaining -= counted?.0 ?? 0
        }
        return nil
    }

    private static let ofRequest = PreparedStatement(
        "SELECT count(*), max(id) FILTER (WHERE request_id = $5) AS found FROM \(records("DESC"))"
    )
    private static let ofFingerprint = PreparedStatement(
        """
        SELECT count(*), max(id) FILTER (WHERE fingerprint = $5 AND fingerprint_rest = $6) AS found
        FROM \(records("DESC"))
        """
    )
    private static let ofClick = PreparedStatement(
        "SELECT count(*), max(id) FILTER (WHERE click = $5) AS found FROM \(records("DESC"))"
    )

    func match(of click: ClickID, from time: Timestamp, among limit: Int) throws(PostgreSQLError) -> UInt64? {
        let start = RowIdentifier.first(at: time)
        var remaining = Int64(limit)
        for day in try days(from: start, to: .max) where remaining > 0 {
            let counted = try first(Self.ofClaim, day, start, Int64.max, remaining, click.high) {
                row throws(PostgreSQLError) in (row.get("count") as Int64, row.get("found") as UInt64?)
            }
            if let found = counted?.1 { return found }
            remaining -= counted?.0 ?? 0
        }
        return nil
    }

    private static let ofClaim = PreparedStatement(
        """
        SELECT count(*), min(id) FILTER (WHERE click = $5 AND outcome = 'match') AS found FROM \(records("ASC"))
        """
    )
}
#endif
