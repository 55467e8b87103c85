#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Reads clicks with the claims that consumed them, for explanations.
extension PostgreSQLReader {
    private func home(_ number: UInt64) throws(PostgreSQLError) -> ClickHome? {
        guard case .home(let home) = try answer(.home(Int64(bitPattern: number))) else { return nil }
        return home
    }

    func claimTime(of click: ClickID) throws(PostgreSQLError) -> Timestamp? {
        try home(click.high)?.claim?.claimedAt
    }

    func claimedClick(_ number: UInt64) throws(PostgreSQLError) -> ClaimedClick? {
        try home(number).map {
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

/// Reads clicks in the order of their numbers: day by day, each day's partition together with that of long windows.
extension PostgreSQLReader {
    private static let day: Int64 = 86_400_000

    /// The clicks of one day with numbers from one number up to, and not including, another.
    ///
    /// $1 is the day, $2 and $3 are the numbers, and $4 is the limit.
    private static func clicks(_ order: StaticString, _ condition: SQLText) -> SQLText {
        func slot(_ slot: SQLText) -> SQLText {
            """
            (SELECT * FROM clicks WHERE slot = \(slot) AND b = k.b AND id >= $2 AND id < $3 \(condition)
            ORDER BY id \(order) LIMIT $4)
            """
        }
        return """
            (SELECT c.* FROM generate_series(0, 63) AS k (b) CROSS JOIN LATERAL (
            \(slot("$1")) UNION ALL \(slot("\(RowHome.longSlot)"))) c ORDER BY id \(order) LIMIT $4) c
            """
    }

    /// Returns the days from one number to another that may have clicks, in ascending order.
    private func clickDays(from first: Int64, to last: Int64) throws(PostgreSQLError) -> [Int64] {
        let bounds = try self.first(Self.bounds) { row throws(PostgreSQLError) in
            (first: row.get("first") as Int64?, last: row.get("last") as Int64)
        }
        guard let bounds, let oldest = bounds.first else { return [] }
        let start = (max(first, oldest) >> 16) / Self.day
        let end = (min(last, bounds.last) >> 16) / Self.day
        return start <= end ? Array(start...end) : []
    }

    /// The first and the last number; those of the days are exact to the day.
    private static let bounds = PreparedStatement(
        """
        SELECT min(first) AS first, max(last) AS last FROM partitions p
        CROSS JOIN generate_series(0, 63) AS k (b) CROSS JOIN LATERAL (
        SELECT (SELECT min(id) FROM clicks WHERE slot = p.slot AND b = k.b) AS first,
        (SELECT max(id) FROM clicks WHERE slot = p.slot AND b = k.b) AS last) f
        """
    )

    /// Returns the numbers of a day that lie between two numbers.
    private static func numbers(of day: Int64, from first: Int64, to end: Int64) -> (first: Int64, end: Int64)
    {
        let start = RowIdentifier.first(at: Timestamp(milliseconds: day * Self.day))
        let next = RowIdentifier.first(at: Timestamp(milliseconds: (day + 1) * Self.day))
        return (max(first, start), min(end, next))
    }

    func recentClicks(of scope: Scope, before time: Timestamp, among limit: Int, atMost count: Int)
        throws(PostgreSQLError) -> [ClaimedClick]
    {
        let end = RowIdentifier.first(at: time)
        var (found, remaining): ([ClaimedClick], Int64) = ([], Int64(limit))
        for day in try clickDays(from: 0, to: end).reversed() where remaining > 0 && found.count < count {
            let range = Self.numbers(of: day, from: 0, to: end)
            let wanted = Int64(count - found.count)
            let rows = try all(
                Self.recentClicks,
                Parameters(day, range.first, range.end, remaining, scope.number, wanted)
            ) { row throws(PostgreSQLError) in
                (row.get("total") as Int64, try Self.claimedClick(&row))
            }
            found += rows.compactMap(\.1)
            remaining -= rows.first?.0 ?? 0
        }
        return found
    }

    /// Reads a click with its claim; nil for a row without a click.
    private static func claimedClick(_ row: inout ResultRow) throws(PostgreSQLError) -> ClaimedClick? {
        let (claimedAt, method): (Timestamp?, AttributionMethod?) = (row.get("claimed_at"), row.get("method"))
        guard row.get("is_click") else { return nil }
        return ClaimedClick(try row.record(ClickRecord.self), claimedAt: claimedAt, method: method)
    }

    private static let recentClicks = PreparedStatement(
        """
        WITH newest AS MATERIALIZED (SELECT * FROM \(clicks("DESC", "")))
        SELECT t.total, n.claimed_at, n.method, (n.id IS NOT NULL)::int4 AS is_click, \(ClickRecord.columns, of: "n")
        FROM (SELECT count(*) AS total FROM newest) t
        LEFT JOIN newest n ON n.scope = $5 AND n.signals IS NOT NULL AND n.is_robot = 0 ORDER BY n.id DESC LIMIT $6
        """
    )

    func historyBounds(of scope: Scope) throws(PostgreSQLError) -> HistoryBounds {
        var bounds = HistoryBounds(of: scope)
        bounds.lastClick = try newestClick()
        bounds.lastCheck = try newestCheck()
        let clicks = try first(Self.clickSpan, scope.number, read: Self.span)
        let checks = try first(Self.checkSpan, scope.number, read: Self.span)
        (bounds.firstClickAt, bounds.lastClickAt) = (clicks?.first, clicks?.last)
        (bounds.firstCheckAt, bounds.lastCheckAt) = (checks?.first, checks?.last)
        bounds.learningBegan = try learningEpoch(of: scope)?.began
        bounds.hasDeleted = try value(of: .deletedUpTo) != nil
        return bounds
    }

    private static func span(_ row: inout ResultRow)
        throws(PostgreSQLError) -> (first: Timestamp?, last: Timestamp?)
    { (row.get("first"), row.get("last")) }

    private static let clickSpan = PreparedStatement(
        "SELECT min(recorded_at) AS first, max(recorded_at) AS last FROM clicks WHERE scope = $1"
    )
    private static let checkSpan = PreparedStatement(
        "SELECT min(checked_at) AS first, max(checked_at) AS last FROM checks WHERE scope = $1"
    )

    func clicks(
        of scope: Scope,
        after number: Int64,
        through last: Int64,
        atMost limit: Int,
        _ body: (ClickRecord, _ claimedAt: Timestamp?) -> Void
    ) throws(PostgreSQLError) {
        var remaining = Int64(limit)
        for day in try clickDays(from: number, to: last) where remaining > 0 {
            let range = Self.numbers(of: day, from: number + 1, to: last + 1)
            let rows = try all(Self.recorded, day, range.first, range.end, remaining, scope.number) {
                row throws(PostgreSQLError) in
                (claimedAt: row.get("claimed_at") as Timestamp?, click: try row.record(ClickRecord.self))
            }
            for row in rows { body(row.click, row.claimedAt) }
            remaining -= Int64(rows.count)
        }
    }

    private static let recorded = PreparedStatement(
        """
        SELECT claimed_at, \(ClickRecord.columns) FROM \(clicks("ASC", "AND scope = $5")) ORDER BY id
        """
    )
}
#endif
