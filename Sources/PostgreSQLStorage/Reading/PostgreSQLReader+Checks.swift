#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Reads records of checks, in the order of their numbers.
extension PostgreSQLReader {
    typealias Joined = (record: CheckRecord, low: UInt64, campaign: String?, clickedAt: Timestamp?)

    /// A statement that reads records of checks, each with the second half of its click's identifier, the click's
    /// campaign and the click's time.
    struct JoinedStatement {
        fileprivate let plain: PreparedStatement
        /// Reads the clicks of all records before it joins them, because Citus joins them in no other way.
        fileprivate let citus: PreparedStatement

        init(_ order: NumberedPart.Order, _ word: StaticString, where condition: SQLText = "") {
            let part = NumberedPart.text(.checks, "\(CheckRecord.columns)", order, where: condition)
            let columns: SQLText = """
                \(CheckRecord.columns, of: "part"), h.id_low AS click_low, h.campaign_key, h.clicked_at
                """
            let home: SQLText = """
                slot = \(RowChange.slot(of: "part.click")) AND b = (part.click & 63) AND id = part.click
                """
            plain = PreparedStatement(
                """
                \(part) SELECT \(columns) FROM part LEFT JOIN LATERAL (
                SELECT id_low, campaign_key, clicked_at FROM clicks WHERE \(home) LIMIT 1) h
                ON true ORDER BY part.id \(word)
                """
            )
            citus = PreparedStatement(
                """
                \(part), h AS MATERIALIZED (SELECT id, id_low, campaign_key, clicked_at
                FROM (SELECT DISTINCT click FROM part) part JOIN clicks ON \(home))
                SELECT \(columns) FROM part LEFT JOIN h ON h.id = part.click ORDER BY part.id \(word)
                """
            )
        }

        func statement(_ connection: BlockingConnection) throws(PostgreSQLError) -> PreparedStatement {
            try connection.isCitus() ? citus : plain
        }
    }

    static let ascending = JoinedStatement(.ascending, "ASC")
    private static let descending = JoinedStatement(.descending, "DESC")
    private static let traces = PreparedStatement(
        """
        \(NumberedPart.text(.checks, "\(CheckTrace.columns)", .ascending))
        SELECT \(CheckTrace.columns) FROM part ORDER BY id
        """
    )
    private static let ofScope = PreparedStatement(
        """
        \(NumberedPart.text(.checks, "\(CheckRecord.columns)", .ascending, where: "AND scope = $5"))
        SELECT \(CheckRecord.columns) FROM part ORDER BY id
        """
    )

    /// The limit of each branch of a list that operators read.
    private static let recordsOfPage = 200
    private static let recordsAtOnce = 4096

    static func joinedCheck(_ row: inout ResultRow)
        throws(PostgreSQLError) -> (number: Int64, row: Joined)
    {
        let record = try row.record(CheckRecord.self)
        let number = Int64(bitPattern: record.id.high)
        return (number, (record, row.get("click_low"), row.get("campaign_key"), row.get("clicked_at")))
    }

    func checks(
        before id: CheckID?,
        within times: (from: Timestamp?, to: Timestamp?),
        _ body: (JoinedCheck) -> Bool
    ) throws(PostgreSQLError) {
        let start = times.from.map(RowIdentifier.first(at:)) ?? 0
        let end = min(
            id.map { Int64(bitPattern: $0.high) } ?? .max,
            times.to.map(RowIdentifier.first(at:)) ?? .max
        )
        guard start < end else { return }
        try readRows(
            of: .checks,
            start...(end - 1),
            by: Self.descending.statement(connection),
            .descending,
            atOnce: Self.recordsOfPage,
            read: Self.joinedCheck
        ) { body(JoinedCheck($0.record, clickLow: $0.low, campaign: $0.campaign)) }
    }

    func check(_ number: UInt64) throws(PostgreSQLError) -> JoinedCheck? {
        let number = Int64(bitPattern: number)
        let part = NumberedPart(
            day: RowIdentifier.time(of: number).milliseconds / 86_400_000,
            numbers: number...number,
            limit: 1
        )
        return try all(Self.ascending.statement(connection), part.parameters, read: Self.joinedCheck).first
            .map { JoinedCheck($0.row.record, clickLow: $0.row.low, campaign: $0.row.campaign) }
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
        SELECT min(first) AS first, max(last) AS last FROM buckets AS k
        CROSS JOIN LATERAL (SELECT min(id) AS first, max(id) AS last FROM checks WHERE b = k.b) f
        """
    )

    func checkRecords(
        after id: Int64,
        atMost limit: Int,
        _ body: (CheckRecord, _ clickedAt: Timestamp?) -> Void
    ) throws(PostgreSQLError) {
        try readRows(
            of: .checks,
            after: id,
            by: Self.ascending.statement(connection),
            atMost: limit,
            atOnce: Self.recordsAtOnce,
            read: Self.joinedCheck
        ) { body($0.record, $0.clickedAt) }
    }

    func checkTraces(
        from first: Timestamp,
        before end: Timestamp,
        atMost limit: Int,
        _ body: (CheckTrace) -> Void
    ) throws(PostgreSQLError) {
        try readRows(
            of: .checks,
            after: RowIdentifier.first(at: first) - 1,
            through: RowIdentifier.first(at: end) - 1,
            by: Self.traces,
            atMost: limit,
            atOnce: Self.recordsAtOnce,
            read: { row throws(PostgreSQLError) in
                let trace = CheckTrace(&row)
                return (number: Int64(bitPattern: trace.id), row: trace)
            },
            body
        )
    }

    func checks(
        of scope: Scope,
        after number: Int64,
        through last: Int64,
        atMost limit: Int,
        _ body: (CheckRecord) -> Void
    ) throws(PostgreSQLError) {
        try readRows(
            of: .checks,
            after: number,
            through: last,
            by: Self.ofScope,
            atMost: limit,
            atOnce: Self.recordsAtOnce,
            scope: scope,
            read: { row throws(PostgreSQLError) in
                let record = try row.record(CheckRecord.self)
                return (number: Int64(bitPattern: record.id.high), row: record)
            },
            body
        )
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

    /// Returns the first record that a statement finds; `append` appends the statement's parameters from $5
    /// on.
    private func find(
        _ statement: PreparedStatement,
        in range: ClosedRange<Int64> = 0...Int64.max,
        _ order: NumberedPart.Order = .descending,
        among limit: Int,
        _ append: (inout Parameters) -> Void
    ) throws(PostgreSQLError) -> UInt64? {
        var (result, remaining): (UInt64?, Int) = (nil, limit)
        try readParts(of: .checks, range, order, by: min(limit, Self.recordsAtOnce)) {
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
        PreparedStatement(
            """
            \(NumberedPart.text(.checks, columns, .descending))
            SELECT count(*) AS count, min(id) AS last, max(id) FILTER (WHERE \(condition)) AS found FROM part
            """
        )
    }

    private static let ofRequest = newest("id, request_id", "request_id = $5")
    private static let ofFingerprint = newest(
        "id, fingerprint, fingerprint_rest",
        "fingerprint = $5 AND fingerprint_rest = $6"
    )
    private static let ofClick = newest("id, click", "click = $5")
    private static let ofClaim = PreparedStatement(
        """
        \(NumberedPart.text(.checks, "id, click, outcome", .ascending))
        SELECT count(*) AS count, max(id) AS last,
        min(id) FILTER (WHERE click = $5 AND outcome = 'match') AS found FROM part
        """
    )
}
#endif
