internal import Attribution
internal import SQLite
internal import Storage

/// What is known of an app's records before any is read.
struct HistoryFacts: Sendable {
    let scope: Scope
    /// What comes later is not read.
    let lastClick: Int64
    let lastCheck: Int64
    let firstCheckAt: Timestamp?
    let span: (first: Timestamp, last: Timestamp)?
    private let learningBegan: Timestamp?
    private let hasDeleted: Bool

    init(of scope: Scope, on connection: SQLiteConnection) throws(SQLiteError) {
        self.scope = scope
        func moment(_ sql: SQL) throws(SQLiteError) -> Timestamp? {
            try connection.statement(sql).first(scope.number) { Timestamp(milliseconds: $0.integer(0)) }
        }
        lastClick = try connection.statement(HistorySQL.lastClick).first { $0.integer(0) } ?? 0
        lastCheck = try connection.statement(HistorySQL.lastCheck).first { $0.integer(0) } ?? 0
        firstCheckAt = try moment(HistorySQL.firstCheckAt)
        let first = [try moment(HistorySQL.firstClickAt), firstCheckAt].compactMap(\.self).min()
        let last = [try moment(HistorySQL.lastClickAt), try moment(HistorySQL.lastCheckAt)]
            .compactMap(\.self).max()
        span = first.flatMap { first in last.map { (first, $0) } }
        learningBegan = try SQLiteReader(connection: connection).learningEpoch(of: scope)?.began
        hasDeleted = try connection.statement(RetentionSQL.deletedUpTo).first { $0.integer(0) } != nil
    }

    /// Whether all is there that was learnt from; records are kept for so many milliseconds.
    func isWhole(keeping milliseconds: Int64) -> Bool {
        guard !hasDeleted, let span, let learningBegan else { return !hasDeleted }
        return learningBegan >= span.first && span.last.milliseconds(since: span.first) <= milliseconds
    }
}
