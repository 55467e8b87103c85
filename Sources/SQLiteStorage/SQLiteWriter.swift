internal import Attribution
internal import SQLite
internal import Storage

/// The writing thread's connection; extensions in the folders `Clicks`, `Links` and others add its statements.
struct SQLiteWriter: StoreWriter {
    let connection: SQLiteConnection

    /// A reader of the state that the open transaction sees.
    var reader: SQLiteReader { SQLiteReader(connection: connection) }
}

/// Writes the records of checks (first launches' requests), and numbers that are stored under a name.
extension SQLiteWriter {
    func insert(_ check: CheckRecord) throws(SQLiteError) {
        try connection.statement(Self.insertCheck).run(check)
    }

    static let insertCheck = SQL.insert("checks", CheckRecord.columns)

    func deleteChecks(before id: Int64, atMost limit: Int64) throws(SQLiteError) -> Int64 {
        try connection.statement(Self.deleteOldestChecks).run(id, limit)
        return connection.changeCount
    }

    static let deleteOldestChecks: SQL = """
        DELETE FROM checks WHERE id IN (SELECT id FROM checks WHERE id < ?1 ORDER BY id LIMIT ?2)
        """

    func set(_ name: StoredValue, to value: Int64) throws(SQLiteError) {
        try connection.statement(Self.setValue).run(name.rawValue, value)
    }

    private static let setValue: SQL = """
        INSERT INTO progress VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value
        """

    func add(_ count: Int64, to name: StoredValue) throws(SQLiteError) {
        try connection.statement(Self.addToValue).run(name.rawValue, count)
    }

    private static let addToValue: SQL = """
        INSERT INTO progress VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = value + excluded.value
        """
}

extension SQLiteReader {
    func value(of name: StoredValue) throws(SQLiteError) -> Int64? {
        try connection.statement(Self.storedValue).first(name.rawValue) { $0.integer(0) }
    }

    private static let storedValue: SQL = "SELECT value FROM progress WHERE name = ?1"
}

/// Stores which keys the stored hashes need.
extension SQLiteWriter {
    func setNeed(ofAddressDay day: Int64, until: Int64) throws(SQLiteError) {
        try connection.statement(Self.setAddressDay).run(day, until)
    }

    private static let setAddressDay: SQL = """
        INSERT INTO address_days (day, needed_until) VALUES (?1, ?2)
        ON CONFLICT DO UPDATE SET needed_until = max(needed_until, excluded.needed_until)
        """

    func removeAddressDays(before now: Timestamp) throws(SQLiteError) {
        try connection.statement("DELETE FROM address_days WHERE needed_until < ?1").run(now.milliseconds)
    }

    func addFormerServerKey(_ key: UInt64, replacedAt: Timestamp) throws(SQLiteError) {
        try connection.statement(Self.addFormerKey).run(key, replacedAt.milliseconds)
    }

    private static let addFormerKey: SQL = """
        INSERT INTO former_server_keys (key_check, replaced_at) VALUES (?1, ?2)
        ON CONFLICT DO UPDATE SET replaced_at = excluded.replaced_at
        """

    func removeFormerServerKey(_ key: UInt64) throws(SQLiteError) {
        try connection.statement("DELETE FROM former_server_keys WHERE key_check = ?1").run(key)
    }

    /// Stores the minute of a key's use; returns false if this minute or a later one is stored, or the key is unknown.
    ///
    /// So a key costs at most one write a minute, not one for each request.
    func setUse(of key: KeyID, at now: Timestamp) throws(SQLiteError) -> Bool {
        let minute = now.milliseconds - now.milliseconds % 60_000
        try connection.statement(Self.setUse).run(key.high, key.low, minute)
        return connection.changeCount > 0
    }

    private static let setUse: SQL = """
        UPDATE keys SET last_used_at = ?3
        WHERE id_high = ?1 AND id_low = ?2 AND (last_used_at IS NULL OR last_used_at < ?3)
        """
}

extension SQLiteReader {
    func formerServerKeys() throws(SQLiteError) -> [UInt64: Timestamp] {
        var former: [UInt64: Timestamp] = [:]
        try connection.statement("SELECT key_check, replaced_at FROM former_server_keys").forEach { row in
            former[row.word(0)] = row.time(1)
        }
        return former
    }

    func requiredKeys(at now: Timestamp) throws(SQLiteError) -> RequiredKeys {
        var required = RequiredKeys()
        let oldest: [SQL] = [
            "SELECT min(id) FROM clicks", "SELECT min(id) FROM checks", "SELECT min(number) FROM events",
            "SELECT min(matched_at) << 16 FROM attributed_installs",
        ]
        for sql in oldest {
            let id = try connection.statement(sql).first { $0.optionalInteger(0) } ?? nil
            guard let time = id.map(RowIdentifier.time(of:)) else { continue }
            required.oldestRecord = min(time, required.oldestRecord ?? time)
        }
        required.replaced = try formerServerKeys()
        required.firstAddressDay = try connection.statement(Self.firstAddressDay).first(now.milliseconds) {
            $0.integer(0)
        }
        return required
    }

    private static let firstAddressDay: SQL = """
        SELECT day FROM address_days WHERE needed_until >= ?1 ORDER BY day LIMIT 1
        """

    /// Returns whether the address key of any stored day is no longer needed at the given time.
    func hasPastAddressDays(at now: Timestamp) throws(SQLiteError) -> Bool {
        try connection.statement(Self.pastAddressDay).first(now.milliseconds) { _ in true } ?? false
    }

    private static let pastAddressDay: SQL = "SELECT 1 FROM address_days WHERE needed_until < ?1 LIMIT 1"
}
