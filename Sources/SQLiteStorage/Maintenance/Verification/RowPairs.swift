internal import SQLite
internal import Storage

/// A value that a row is found by.
enum RowKeyPart: Comparable {
    case integer(Int64)
    /// In bytes, as SQLite compares them.
    case text([UInt8])

    static func < (left: RowKeyPart, right: RowKeyPart) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left < right
        case (.text(let left), .text(let right)): left.lexicographicallyPrecedes(right)
        case (.integer, .text): true
        case (.text, .integer): false
        }
    }

    var number: Int64 {
        if case .integer(let number) = self { number } else { 0 }
    }

    var words: String {
        switch self {
        case .integer(let number): String(number)
        case .text(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }
}

/// A table that is counted in: what its rows are found by, and what they count.
struct CountingTable {
    /// All rows, in the order of their key.
    let select: StaticString
    /// For each column of the key, whether it is text; the key's columns come first.
    let keyIsText: [Bool]
    let countColumns: Int

    struct Row {
        let key: [RowKeyPart]
        var counts: [Int64]
    }

    /// Walks through the rows of two databases in step; where one has no row, its counts are zero.
    func forEachPair(
        _ expected: SQLiteConnection,
        _ found: SQLiteConnection,
        _ body: (_ expected: Row, _ found: Row) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        let (left, right) = (try expected.prepare(select), try found.prepare(select))
        defer {
            left.reset()
            right.reset()
        }
        var (one, other) = (try next(left), try next(right))
        while let key = [one?.key, other?.key].compactMap(\.self).min(by: { $0.lexicographicallyPrecedes($1) }
        ) {
            let none = Row(key: key, counts: Array(repeating: 0, count: countColumns))
            let (isInOne, isInOther) = (one?.key == key, other?.key == key)
            try body(isInOne ? one ?? none : none, isInOther ? other ?? none : none)
            if isInOne { one = try next(left) }
            if isInOther { other = try next(right) }
        }
    }

    private func next(_ statement: Statement) throws(SQLiteError) -> Row? {
        guard try statement.step() else { return nil }
        let key = keyIsText.enumerated().map { index, isText in
            isText
                ? RowKeyPart.text(statement.bytes(Int32(index))) : .integer(statement.integer(Int32(index)))
        }
        let counts = (0..<countColumns).map { statement.integer(Int32(keyIsText.count + $0)) }
        return Row(key: key, counts: counts)
    }

    static let counters = CountingTable(
        select: """
            SELECT scope, campaign, dimension, granularity, period, value, clicks, duplicates, robots, checks, matches,
                replays, no_match_no_click, no_match_expired, no_match_already_claimed, no_match_robot_click,
            no_match_below_threshold, no_match_ambiguous, no_match_other_app,
            no_match_token_invalid, no_match_token_used, no_match_fingerprint_disabled
            FROM counters ORDER BY scope, campaign, dimension, granularity, period, value
            """,
        keyIsText: [false, true, true, true, false, true],
        countColumns: 16
    )
    static let installDelays = CountingTable(
        select: """
            SELECT scope, campaign, granularity, period, bin, count
            FROM install_delays ORDER BY scope, campaign, granularity, period, bin
            """,
        keyIsText: [false, true, true, false, false],
        countColumns: 1
    )
    static let liveClicks = CountingTable(
        select: "SELECT scope, span, expires_in, count FROM live_clicks ORDER BY scope, span, expires_in",
        keyIsText: [false, true, false],
        countColumns: 1
    )
}
