internal import Attribution
internal import SQLite
internal import Storage

/// How many clicks came from a crowded address: counted anew every now and then and not for each check.
struct AddressClickCount: Sendable {
    struct Key: Hashable, Sendable {
        let scope: Scope
        let address: AddressHashes
    }

    let exact: Double
    let near: Double
    /// When it was counted, by the time of the checks.
    private let at: Timestamp

    private static let oldMilliseconds: Int64 = 60_000
    private static let day: Int64 = 86_400_000

    /// Whether so much may have come since that it is to be counted anew.
    func isOld(at moment: Timestamp) -> Bool {
        let age = moment.milliseconds(since: at)
        return age > Self.oldMilliseconds || age < -Self.oldMilliseconds
    }

    static func make(_ key: Key, at moment: Timestamp, on connection: SQLiteConnection) throws(SQLiteError)
        -> AddressClickCount
    {
        var (exact, near, oldest) = (0, 0, moment.milliseconds)
        let statement = try connection.statement(clicks)
        let most = Int(AddressTraffic.countLimit)
        try statement.forEach(key.scope.number, key.address.near, most) { row in
            oldest = row.integer(0)
            near += 1
            if UInt64(bitPattern: row.integer(1)) == key.address.exact { exact += 1 }
        }
        // What was counted in the latest part of a day, for the whole of it.
        let covered = min(max(moment.milliseconds - oldest, 1000), day)
        let scale = near < most ? 1 : Double(day) / Double(covered)
        return AddressClickCount(exact: Double(exact) * scale, near: Double(near) * scale, at: moment)
    }

    static let clicks: StaticString = """
        SELECT clicked_at, exact_address FROM click_addresses
        WHERE scope = ?1 AND near_address = ?2 ORDER BY clicked_at DESC, click DESC LIMIT ?3
        """
}
