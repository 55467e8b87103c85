#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Reads records of checks, in the order of their numbers.
extension PostgreSQLReader {
    func checks(_ rows: NumberedRows, _ body: (JoinedCheck) -> Bool) throws(PostgreSQLError) {
        let statements = try connection.isCitus() ? Self.joinedOnCitus : Self.joined
        try readRows(
            rows,
            of: .checks,
            by: rows.order == .ascending ? statements.ascending : statements.descending
        ) { parameters in
            parameters.append(rows.scope?.number)
            parameters.append(rows.onlyMatches)
            parameters.append(rows.isJoined)
        } read: { row throws(PostgreSQLError) in
            let check = JoinedCheck(try row.record(), &row)
            return (check.number, check)
        } _: {
            body($0)
        }
    }

    private static let joined = (
        ascending: checks(.ascending, "ASC"), descending: checks(.descending, "DESC")
    )
    private static let joinedOnCitus = (
        ascending: checksOnCitus(.ascending, "ASC"), descending: checksOnCitus(.descending, "DESC")
    )

    private static func checks(_ order: NumberedRows.Order, _ word: StaticString) -> PreparedStatement {
        """
        \(parts(order)) SELECT \(columns) FROM part LEFT JOIN LATERAL (
        SELECT \(JoinedCheck.columns) FROM clicks WHERE $7 AND \(home) LIMIT 1) h
        ON true ORDER BY part.id \(word)
        """
    }

    /// Reads the clicks of all records before it joins them, because Citus joins them in no other way.
    private static func checksOnCitus(_ order: NumberedRows.Order, _ word: StaticString)
        -> PreparedStatement
    {
        PreparedStatement(
            """
            \(parts(order)), h AS MATERIALIZED (SELECT id, \(JoinedCheck.columns)
            FROM (SELECT DISTINCT click FROM part WHERE $7) part JOIN clicks ON \(home))
            SELECT \(columns) FROM part LEFT JOIN h ON h.id = part.click ORDER BY part.id \(word)
            """
        )
    }

    private static func parts(_ order: NumberedRows.Order) -> SQLText {
        NumberedPart.text(
            .checks,
            "\(CheckRecord.columns)",
            order,
            where: "AND ($5::int8 IS NULL OR scope = $5) AND (NOT $6 OR outcome = 'match')"
        )
    }

    private static let columns: SQLText = """
        \(CheckRecord.columns, of: "part"), \(JoinedCheck.columns, of: "h")
        """
    private static let home: SQLText = """
        slot = \(RowChange.slot(of: "part.click")) AND b = (part.click & 63) AND id = part.click
        """
    private static let traces: PreparedStatement = """
        \(NumberedPart.text(.checks, "\(CheckTrace.columns)", .ascending))
        SELECT \(CheckTrace.columns) FROM part ORDER BY id
        """

    func checkRecordBounds() throws(PostgreSQLError) -> ClosedRange<Int64>? {
        let bounds = try first(Self.bounds) { row throws(PostgreSQLError) in
            (first: row.get("first") as Int64?, last: row.get("last") as Int64)
        }
        guard let bounds, let first = bounds.first else { return nil }
        return first...max(first, bounds.last)
    }

    private static let bounds: PreparedStatement = """
        SELECT min(first) AS first, max(last) AS last FROM buckets AS k
        CROSS JOIN LATERAL (SELECT min(id) AS first, max(id) AS last FROM checks WHERE b = k.b) f
        """

    func checkTraces(
        from first: Timestamp,
        before end: Timestamp,
        atMost limit: Int,
        _ body: (CheckTrace) -> Void
    ) throws(PostgreSQLError) {
        let (first, last) = (RowIdentifier.first(at: first), RowIdentifier.first(at: end) - 1)
        try readRows(
            NumberedRows(.ascending, after: first - 1, through: last, limit: limit),
            of: .checks,
            by: Self.traces
        ) { _ in
        } read: { row throws(PostgreSQLError) in
            let trace = CheckTrace(&row)
            return (Int64(bitPattern: trace.id), trace)
        } _: { trace in
            body(trace)
            return true
        }
    }
}

/// Searches records of checks.
extension PostgreSQLReader {
    func newestCheck(_ search: CheckSearch, among limit: Int) throws(PostgreSQLError) -> UInt64? {
        switch search {
        case .request(let text): try find(Self.ofRequest, among: limit) { $0.append(text) }
        case .fingerprint(let key):
            try find(Self.ofFingerprint, among: limit) { parameters in
                parameters.append(key.index)
                parameters.append(key.rest)
            }
        case .click(let click): try find(Self.ofClick, among: limit) { $0.append(click.high) }
        }
    }

    func match(of click: ClickID, from time: Timestamp, among limit: Int) throws(PostgreSQLError) -> UInt64? {
        let range = RowIdentifier.first(at: time)...Int64.max
        return try find(Self.ofClaim, in: range, .ascending, among: limit) { $0.append(click.high) }
    }

    /// Returns the first record that a statement finds; `append` appends the statement's parameters from $5 on.
    private func find(
        _ statement: PreparedStatement,
        in range: ClosedRange<Int64> = 0...Int64.max,
        _ order: NumberedRows.Order = .descending,
        among limit: Int,
        _ append: (inout Parameters) -> Void
    ) throws(PostgreSQLError) -> UInt64? {
        var (result, remaining): (UInt64?, Int) = (nil, limit)
        try readParts(of: .checks, range, order, by: limit) {
            part throws(PostgreSQLError) in
            var parameters = part.parameters
            append(&parameters)
            let found = try all(statement, parameters) { row throws(PostgreSQLError) in
                (
                    count: row.get("count") as Int64, last: row.get("last") as Int64?,
                    row.get("found") as UInt64?
                )
            }.first
            guard let found else { return nil }
            result = found.2
            remaining -= Int(found.count)
            return result == nil && remaining > 0 ? (Int(found.count), found.last ?? 0) : nil
        }
        return result
    }

    private static func newest(_ columns: SQLText, _ condition: SQLText) -> PreparedStatement {
        """
        \(NumberedPart.text(.checks, columns, .descending))
        SELECT count(*) AS count, min(id) AS last, max(id) FILTER (WHERE \(condition)) AS found FROM part
        """
    }

    private static let ofRequest = newest("id, request_id", "request_id = $5")
    private static let ofFingerprint = newest(
        "id, fingerprint, fingerprint_rest",
        "fingerprint = $5 AND fingerprint_rest = $6"
    )
    private static let ofClick = newest("id, click", "click = $5")
    private static let ofClaim: PreparedStatement = """
        \(NumberedPart.text(.checks, "id, click, outcome", .ascending))
        SELECT count(*) AS count, max(id) AS last,
        min(id) FILTER (WHERE click = $5 AND outcome = 'match') AS found FROM part
        """
}
#endif
