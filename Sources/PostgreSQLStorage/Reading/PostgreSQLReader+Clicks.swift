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

    private static let indexedClicks = PreparedStatement(
        """
        SELECT f.click, f.closed_as FROM partitions p CROSS JOIN LATERAL (
        SELECT click, closed_as, coalesce(closed_at, since) AS since FROM click_index
        WHERE slot = p.slot AND b = ($1 & 63) AND scope = $3 AND hash = $1 AND hash_rest = $2
        AND (closed_at IS NULL) = $4 ORDER BY coalesce(closed_at, since) DESC, click DESC LIMIT $5) f
        ORDER BY since DESC, click DESC LIMIT $5
        """
    )

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

    private static let indexRow = PreparedStatement(
        """
        SELECT closed_as FROM click_index WHERE slot = $1 AND b = ($3 & 63) AND scope = $2 AND hash = $3
        AND hash_rest = $4 AND since = $5 AND click = $6
        """
    )
}

/// Reads clicks in the order of their numbers.
extension PostgreSQLReader {
    /// The limit of each bucket's clicks in a part: a part has some 8,000 clicks if the buckets are about equal.
    private static let recentAtOnce = 160

    func recentClicks(of scope: Scope, before time: Timestamp, among limit: Int, atMost count: Int)
        throws(PostgreSQLError) -> [ClaimedClick]
    {
        let end = RowIdentifier.first(at: time)
        var (clicks, remaining): ([ClaimedClick], Int) = ([], limit)
        guard end > 0, count > 0 else { return [] }
        try readParts(of: .clicks, 0...(end - 1), .descending, by: Self.recentAtOnce) {
            part throws(PostgreSQLError) in
            var parameters = part.parameters
            parameters.append(scope.number)
            parameters.append(Int64(count - clicks.count))
            let rows = try all(Self.recentClicks, parameters) { row throws(PostgreSQLError) in
                let (total, last): (Int64, Int64?) = (row.get("total"), row.get("last"))
                return (total: Int(total), last: last, click: try Self.claimedClick(&row))
            }
            clicks += rows.compactMap(\.click)
            let total = rows.first?.total ?? 0
            remaining -= total
            return clicks.count < count && remaining > 0 ? (total, rows.first?.last ?? 0) : nil
        }
        return clicks
    }

    /// Reads a click with its claim; nil for a row without a click.
    private static func claimedClick(_ row: inout ResultRow) throws(PostgreSQLError) -> ClaimedClick? {
        let (claimedAt, method): (Timestamp?, AttributionMethod?) = (row.get("claimed_at"), row.get("method"))
        guard row.get("is_click") else { return nil }
        return ClaimedClick(try row.record(ClickRecord.self), claimedAt: claimedAt, method: method)
    }

    private static let recentClicks = PreparedStatement(
        """
        \(NumberedPart.text(.clicks, "\(ClickRecord.columns), claimed_at, method", .descending))
        SELECT t.total, t.last, n.claimed_at, n.method, (n.id IS NOT NULL)::int4 AS is_click,
        \(ClickRecord.columns, of: "n") FROM (SELECT count(*) AS total, min(id) AS last FROM part) t
        LEFT JOIN part n ON n.scope = $5 AND n.signals IS NOT NULL AND n.is_robot = 0 ORDER BY n.id DESC LIMIT $6
        """
    )

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

    func clicks(
        of scope: Scope,
        after number: Int64,
        through last: Int64,
        atMost limit: Int,
        _ body: (ClickRecord, _ claimedAt: Timestamp?) -> Void
    ) throws(PostgreSQLError) {
        try readRows(
            of: .clicks,
            after: number,
            through: last,
            by: Self.recorded,
            atMost: limit,
            atOnce: limit / 32 + 1,
            scope: scope,
            read: { row throws(PostgreSQLError) in
                let claimedAt: Timestamp? = row.get("claimed_at")
                let click = try row.record(ClickRecord.self)
                return (number: click.number, row: (click: click, claimedAt: claimedAt))
            }
        ) { body($0.click, $0.claimedAt) }
    }

    private static let recorded = PreparedStatement(
        """
        \(NumberedPart.text(.clicks, "\(ClickRecord.columns), claimed_at", .ascending, where: "AND scope = $5"))
        SELECT claimed_at, \(ClickRecord.columns) FROM part ORDER BY id
        """
    )
}
#endif
