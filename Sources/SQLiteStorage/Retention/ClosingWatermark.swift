internal import Attribution
internal import SQLite

/// How far expired clicks have been closed: every click that expires before this moment is closed.
///
/// A click that expires earlier still, which a clock that leapt ahead and back again makes, moves it back.
struct ClosingWatermark {
    private(set) var moment = Timestamp(milliseconds: .min)
    private var committed = Timestamp(milliseconds: .min)

    mutating func lower(to other: Timestamp) {
        moment = min(moment, other)
    }

    mutating func raise(to other: Timestamp) {
        moment = max(moment, other)
    }

    mutating func load(from connection: SQLiteConnection) throws(SQLiteError) {
        let value = try connection.statement(Self.read).first { $0.integer(0) }
        committed = Timestamp(milliseconds: value ?? .min)
        moment = committed
    }

    func write(to connection: SQLiteConnection) throws(SQLiteError) {
        guard moment != committed else { return }
        try connection.statement(Self.save).run(moment.milliseconds)
    }

    mutating func commit() {
        committed = moment
    }

    mutating func rollback() {
        moment = committed
    }

    static let read: SQL = "SELECT value FROM progress WHERE name = 'closed_before'"
    static let save: SQL = """
        INSERT INTO progress VALUES ('closed_before', ?1) ON CONFLICT DO UPDATE SET value = excluded.value
        """
}
