internal import Attribution
internal import SQLite

/// Until when the clicks of each day can be matched: so long its key for addresses is needed.
///
/// Writer's thread only. Kept in the click's own transaction, so that no process destroys a key that another one's click
/// is compared under.
struct AddressKeyDeadlines {
    /// What is stored, as far as it was written here.
    private var stored: [Int64: Int64] = [:]
    private static let hour: Int64 = 3_600_000

    /// What a click asks for that is not stored yet; nil for one without an address.
    func need(of click: NewClick) -> (day: Int64, until: Int64)? {
        guard click.evidence.address != nil, !click.facts.isRobot else { return nil }
        let day = AddressKeys.day(of: click.facts.recordedAt)
        let end = click.facts.expiresAt.advanced(byMilliseconds: Self.hour).milliseconds
        // Rounded up, so that a day's row is written once an hour and not with each click.
        let until = end / Self.hour * Self.hour
        if let known = stored[day], known >= until { return nil }
        return (day, until)
    }

    func write(_ need: (day: Int64, until: Int64), to connection: SQLiteConnection) throws(SQLiteError) {
        try connection.statement(KeySQL.needDay).run(need.day, need.until)
    }

    mutating func note(_ need: (day: Int64, until: Int64)) {
        stored[need.day] = need.until
        if stored.count > Self.mostDays { stored = [need.day: need.until] }
    }

    mutating func rollback() {
        stored = [:]
    }

    private static let mostDays = 64
}
