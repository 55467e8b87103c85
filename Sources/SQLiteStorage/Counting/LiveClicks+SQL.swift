internal import Attribution
internal import SQLite
internal import Storage

extension LiveClicks {
    /// Adds the changes.
    static func write(_ changes: [CountDeltas.ExpirySlot: Int64], to connection: SQLiteConnection)
        throws(SQLiteError)
    {
        let statement = try connection.statement(add)
        var hours: [CountDeltas.ExpirySlot: Int64] = [:]
        for (slot, change) in changes where change != 0 {
            try statement.run(slot.scope.number, "second", slot.second, change)
            let hour = CountDeltas.ExpirySlot(scope: slot.scope, second: hour(ofSecond: slot.second))
            hours[hour, default: 0] += change
        }
        for (slot, change) in hours where change != 0 {
            try statement.run(slot.scope.number, "hour", slot.second, change)
        }
    }

    /// Clicks of a scope whose window's last second is this one or later.
    static func count(of scope: Scope, at now: Timestamp, on connection: SQLiteConnection) throws(SQLiteError)
        -> Int64
    {
        let second = second(of: now)
        let hour = hour(ofSecond: second)
        let (scope, endOfHour) = (scope.number, (hour + 1) * 3600)
        let seconds = try connection.statement(sumOfSeconds).first(scope, second, endOfHour) { $0.integer(0) }
        let hours = try connection.statement(sumOfHours).first(scope, hour) { $0.integer(0) }
        return (seconds ?? 0) + (hours ?? 0)
    }

    /// Deletes rows of the past, some at a time.
    ///
    /// A little past is kept, for a clock that is set back.
    ///
    /// - Returns: whether there may be more.
    static func purge(_ scope: Scope, at now: Timestamp, atMost limit: Int, on connection: SQLiteConnection)
        throws(SQLiteError) -> Bool
    {
        let second = second(of: now) - keptSeconds
        try connection.statement(purge).run(scope.number, "second", second, limit)
        let seconds = connection.changeCount
        try connection.statement(purge).run(scope.number, "hour", hour(ofSecond: second), limit)
        return seconds >= Int64(limit) || connection.changeCount >= Int64(limit)
    }

    private static let keptSeconds: Int64 = 7200

    private static let add: StaticString = """
        INSERT INTO live_clicks VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT DO UPDATE SET count = count + excluded.count
        """
    static let sumOfSeconds: StaticString = """
        SELECT sum(count) FROM live_clicks
        WHERE scope = ?1 AND span = 'second' AND expires_in >= ?2 AND expires_in < ?3
        """
    static let sumOfHours: StaticString = """
        SELECT sum(count) FROM live_clicks WHERE scope = ?1 AND span = 'hour' AND expires_in > ?2
        """
    static let purge: StaticString = """
        DELETE FROM live_clicks
        WHERE scope = ?1 AND span = ?2 AND expires_in IN
            (SELECT expires_in FROM live_clicks
             WHERE scope = ?1 AND span = ?2 AND expires_in < ?3 ORDER BY expires_in LIMIT ?4)
        """
}
