#if PostgreSQL
internal import PostgreSQL
internal import Storage

/// A part of the rows of `clicks` or `checks`: a limited number of one day's rows, in the order of their numbers.
///
/// The rows of a day are in the day's slot, and in slot -1 for long windows. The indexes start with the bucket, so each
/// bucket of both slots has a branch of the statement, with a limit of its own. If a branch reaches its limit, rows
/// after its last number may be missing, so the part ends at that number.
struct NumberedPart {
    enum Table {
        case clicks
        case checks

        var name: StaticString { self == .clicks ? "clicks" : "checks" }

        /// The maximum limit of a branch.
        ///
        /// A day's clicks are spread over all buckets, but all checks of a server are in one bucket.
        var rowsAtOnce: Int { self == .clicks ? 256 : 4096 }
    }

    let day: Int64
    let numbers: ClosedRange<Int64>
    /// The limit of each branch; if a part has fewer rows than this, no rows follow it.
    let limit: Int

    var parameters: Parameters { Parameters(day, numbers.lowerBound, numbers.upperBound, Int64(limit)) }

    /// The rows as a common table expression with the name `part`.
    ///
    /// The parameters are $1…$4 of ``parameters``; the columns contain `id`, and a further condition starts with AND.
    static func text(
        _ table: Table,
        _ columns: SQLText,
        _ order: NumberedRows.Order,
        where condition: SQLText = ""
    ) -> SQLText {
        let isAscending = order == .ascending
        let word: StaticString = isAscending ? "ASC" : "DESC"
        let end: SQLText =
            isAscending
            ? "<= (SELECT coalesce(min(last), $3) FROM (SELECT max(id) AS last"
            : ">= (SELECT coalesce(max(last), $2) FROM (SELECT min(id) AS last"
        func branch(_ slot: SQLText) -> SQLText {
            """
            (SELECT slot, b, \(columns) FROM \(table.name) WHERE slot = \(slot) AND b = k.b
            AND id BETWEEN $2 AND $3 \(condition) ORDER BY id \(word) LIMIT $4)
            """
        }
        return """
            WITH branches AS MATERIALIZED (SELECT r.* FROM buckets AS k CROSS JOIN LATERAL (
            \(branch("$1")) UNION ALL \(branch("\(RowHome.longSlot)"))) r), part AS (SELECT * FROM branches
            WHERE id \(end) FROM branches GROUP BY slot, b HAVING count(*) >= $4) f))
            """
    }

    /// Returns the numbers of a range that follow a number.
    fileprivate static func rest(
        _ range: ClosedRange<Int64>,
        after number: Int64,
        _ order: NumberedRows.Order
    ) -> ClosedRange<Int64>? {
        switch order {
        case .ascending: number < range.upperBound ? (number + 1)...range.upperBound : nil
        case .descending: number > range.lowerBound ? range.lowerBound...(number - 1) : nil
        }
    }

    /// Returns the numbers of a range that belong to a day; nil if there are none.
    fileprivate static func numbers(of day: Int64, in range: ClosedRange<Int64>) -> ClosedRange<Int64>? {
        let numbersOfDay = Int64(86_400_000) << 16
        func first(_ day: Int64) -> Int64 {
            let product = day.multipliedReportingOverflow(by: numbersOfDay)
            return product.overflow ? .max : product.partialValue
        }
        let (lower, upper) = (max(first(day), range.lowerBound), min(first(day + 1) - 1, range.upperBound))
        return lower <= upper ? lower...upper : nil
    }

    fileprivate static func isOneDay(_ range: ClosedRange<Int64>) -> Bool {
        day(of: range.upperBound) <= max(0, day(of: range.lowerBound))
    }

    fileprivate static func day(of number: Int64) -> Int64 { (number >> 16) / 86_400_000 }
}

/// Reads rows in the order of their numbers, day by day.
extension PostgreSQLReader {
    /// Reads one part after the other, until `read` returns nil or no rows are left.
    ///
    /// `read` returns the count of the part's rows, and the number of the last one. The limit of each branch is `limit`
    /// in the first part, and grows from part to part: a caller that needs few rows reads few.
    func readParts(
        of table: NumberedPart.Table,
        _ range: ClosedRange<Int64>,
        _ order: NumberedRows.Order,
        by limit: Int,
        _ read: (NumberedPart) throws(PostgreSQLError) -> (count: Int, last: Int64)?
    ) throws(PostgreSQLError) {
        let days = NumberedPart.isOneDay(range) ? [] : try slots()
        var (rest, limit): (ClosedRange<Int64>?, Int) = (range, min(limit, table.rowsAtOnce))
        while let range = rest, let day = try nextDay(of: table, range, order, days) {
            guard let ofDay = NumberedPart.numbers(of: day, in: range) else { return }
            var unread: ClosedRange<Int64>? = ofDay
            while let numbers = unread {
                let part = NumberedPart(day: day, numbers: numbers, limit: limit)
                guard let found = try read(part) else { return }
                unread = found.count < limit ? nil : NumberedPart.rest(numbers, after: found.last, order)
                limit = min(4 * limit, table.rowsAtOnce)
            }
            let end = order == .ascending ? ofDay.upperBound : ofDay.lowerBound
            rest = NumberedPart.rest(range, after: end, order)
        }
    }

    /// Reads rows, until `body` returns false.
    ///
    /// `append` appends the statement's parameters from $5 on, and `read` returns a row and its number.
    func readRows<Row>(
        _ rows: NumberedRows,
        of table: NumberedPart.Table,
        by statement: PreparedStatement,
        _ append: (inout Parameters) -> Void,
        read: (inout ResultRow) throws(PostgreSQLError) -> (number: Int64, row: Row),
        _ body: (Row) -> Bool
    ) throws(PostgreSQLError) {
        var remaining = rows.limit ?? .max
        guard rows.after < rows.through, remaining > 0 else { return }
        // Each bucket has about the same number of clicks.
        let limit = rows.limit.map { table == .clicks ? $0 / 32 + 1 : $0 } ?? 32
        try readParts(of: table, (rows.after + 1)...rows.through, rows.order, by: limit) {
            part throws(PostgreSQLError) in
            var parameters = part.parameters
            append(&parameters)
            let found = try all(statement, parameters, read: read)
            for (_, row) in found {
                remaining -= 1
                guard body(row), remaining > 0 else { return nil }
            }
            return (found.count, found.last?.number ?? 0)
        }
    }

    /// Returns the next day with a partition, or with a row in slot -1.
    private func nextDay(
        of table: NumberedPart.Table,
        _ range: ClosedRange<Int64>,
        _ order: NumberedRows.Order,
        _ days: [Int64]
    ) throws(PostgreSQLError) -> Int64? {
        let first = max(0, NumberedPart.day(of: range.lowerBound))
        let last = NumberedPart.day(of: range.upperBound)
        guard first < last else { return first }
        let within = days.filter { $0 >= first && $0 <= last }
        let bounds = try self.first(
            table == .clicks ? Self.longClicks : Self.longChecks,
            range.lowerBound,
            range.upperBound
        ) { row throws(PostgreSQLError) in
            (first: row.get("first") as Int64?, last: row.get("last") as Int64?)
        }
        switch order {
        case .ascending:
            return [within.first, bounds?.first.map(NumberedPart.day(of:))].compactMap(\.self).min()
        case .descending:
            return [within.last, bounds?.last.map(NumberedPart.day(of:))].compactMap(\.self).max()
        }
    }

    private static let longClicks = longBounds(.clicks)
    private static let longChecks = longBounds(.checks)

    /// The first and the last number of slot -1 in a range.
    private static func longBounds(_ table: NumberedPart.Table) -> PreparedStatement {
        """
        SELECT min(f.first) AS first, max(f.last) AS last FROM buckets AS k
        CROSS JOIN LATERAL (SELECT min(id) AS first, max(id) AS last FROM \(table.name)
        WHERE slot = \(RowHome.longSlot) AND b = k.b AND id BETWEEN $1 AND $2) f
        """
    }
}
#endif
