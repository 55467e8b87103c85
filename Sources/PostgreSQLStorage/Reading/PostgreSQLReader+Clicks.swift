#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Reads clicks with the claims that consumed them, for explanations.
extension PostgreSQLReader {
    func home(ofClick number: UInt64) throws(PostgreSQLError) -> ClickHome? {
        guard case .home(let home) = try answer(.home(Int64(bitPattern: number))) else { return nil }
        return home
    }

    func claimTime(of click: ClickID) throws(PostgreSQLError) -> Timestamp? {
        try home(ofClick: click.high)?.claim?.claimedAt
    }

    func claimedClick(_ number: UInt64) throws(PostgreSQLError) -> ClaimedClick? {
        try home(ofClick: number).map {
            ClaimedClick($0.click, claimedAt: $0.claim?.claimedAt, method: $0.claim?.method)
        }
    }

    func indexedClicks(of key: KeyedHash, _ scope: Scope, areOpen: Bool, atMost limit: Int)
        throws(PostgreSQLError) -> [(click: UInt64, closedAs: String?)]
    {
        try all(Self.indexedClicks, key.index, key.rest, scope.number, areOpen, Int64(limit)) {
            row throws(PostgreSQLError) in
            (click: row.get("click") as UInt64, closedAs: row.get("closed_as") as String?)
        }
    }

    private static let indexedClicks: PreparedStatement = """
        SELECT f.click, f.closed_as FROM partitions p CROSS JOIN LATERAL (
        SELECT click, closed_as, coalesce(closed_at, since) AS since FROM click_index
        WHERE slot = p.slot AND b = ($1 & 63) AND scope = $3 AND hash = $1 AND hash_rest = $2
        AND (closed_at IS NULL) = $4 ORDER BY coalesce(closed_at, since) DESC, click DESC LIMIT $5) f
        ORDER BY since DESC, click DESC LIMIT $5
        """

    func indexState(of click: ClaimedClick) throws(PostgreSQLError) -> (isIndexed: Bool, closedAs: String?) {
        let record = click.record
        guard let key = record.hashes.first else { return (false, nil) }
        let (slot, since) = (RowHome(of: record.number).slot, record.facts.clickedAt.milliseconds)
        let found = try all(
            Self.indexRow,
            Parameters(slot, record.scope.number, key.index, key.rest, since, record.number)
        ) { row throws(PostgreSQLError) in row.get("closed_as") as String? }.first
        return (found != nil, found ?? nil)
    }

    private static let indexRow: PreparedStatement = """
        SELECT closed_as FROM click_index WHERE slot = $1 AND b = ($3 & 63) AND scope = $2 AND hash = $3
        AND hash_rest = $4 AND since = $5 AND click = $6
        """
}

/// Reads clicks in the order of their numbers.
extension PostgreSQLReader {
    func clicks(_ rows: NumberedRows, _ body: (ClaimedClick, LinkID?) -> Bool) throws(PostgreSQLError) {
        try readRows(
            rows,
            of: .clicks,
            by: rows.order == .ascending ? Self.ascendingClicks : Self.descendingClicks
        ) { parameters in
            parameters.append(rows.scope?.number)
        } read: { row throws(PostgreSQLError) in
            let click = ClaimedClick(try row.record(), &row)
            let (high, low): (UInt64?, UInt64) = (row.get("id_high"), row.get("id_low"))
            return (click.record.number, (click: click, link: high.map { LinkID(high: $0, low: low) }))
        } _: {
            body($0.click, $0.link)
        }
    }

    private static let ascendingClicks = clicks(.ascending, "ASC")
    private static let descendingClicks = clicks(.descending, "DESC")

    private static func clicks(_ order: NumberedRows.Order, _ word: StaticString) -> PreparedStatement {
        let columns: SQLText = "\(ClickRecord.columns), claimed_at, method"
        let scope: SQLText = "AND ($5::int8 IS NULL OR scope = $5)"
        return PreparedStatement(
            """
            \(NumberedPart.text(.clicks, columns, order, where: scope))
            SELECT \(ClickRecord.columns, of: "part"), claimed_at, method, l.id_high, l.id_low
            FROM part LEFT JOIN links l ON l.number = part.link ORDER BY part.id \(word)
            """
        )
    }

    func historyBounds(of scope: Scope) throws(PostgreSQLError) -> HistoryBounds {
        var bounds = HistoryBounds(of: scope)
        (bounds.lastClick, bounds.lastCheck) = (try newestClick(), try newestCheck())
        bounds.firstClickAt = try first(Self.firstClick, scope.number) { $0.get("at") }
        bounds.lastClickAt = try first(Self.lastClick, scope.number) { $0.get("at") }
        bounds.firstCheckAt = try first(Self.firstCheck, scope.number) { $0.get("at") }
        bounds.lastCheckAt = try first(Self.lastCheck, scope.number) { $0.get("at") }
        bounds.learningBegan = try learningEpoch(of: scope)?.began
        bounds.hasDeleted = try value(of: .deletedUpTo) != nil
        return bounds
    }

    private static let firstClick = time("clicks", "recorded_at", "ASC")
    private static let lastClick = time("clicks", "recorded_at", "DESC")
    private static let firstCheck = time("checks", "checked_at", "ASC")
    private static let lastCheck = time("checks", "checked_at", "DESC")

    /// The time of a scope's first or last row by number.
    private static func time(_ table: StaticString, _ column: StaticString, _ order: StaticString)
        -> PreparedStatement
    {
        PreparedStatement(
            """
            SELECT f.at FROM buckets AS k CROSS JOIN LATERAL (
            SELECT id, \(column) AS at FROM \(table) WHERE b = k.b AND scope = $1
            ORDER BY id \(order) LIMIT 1) f ORDER BY f.id \(order) LIMIT 1
            """
        )
    }
}
#endif
