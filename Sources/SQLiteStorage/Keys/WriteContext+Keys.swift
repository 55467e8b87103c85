internal import Attribution
internal import SQLite

/// Which keys what is stored was hashed under.
extension WriteContext {
    /// Remembers the keys, the present one first, that the store is used with from now on.
    func confirm(serverKeys checks: [KeyedHash], at now: Timestamp) throws(SQLiteError)
        -> ServerKeyRecognition
    {
        let words = checks.map { Int64(bitPattern: $0.index) }
        guard let present = words.first else { return .foreign }
        try connection.statement(KeySQL.remember).run(present)
        let stored = try connection.statement(KeySQL.present).first { $0.integer(0) }
        guard let stored, words.contains(stored) else { return .foreign }
        if stored != present {
            let newest = try connection.integer(KeySQL.newestRecord)
            let replacedAt = max(now.milliseconds, RowIdentifier.moment(of: newest).milliseconds)
            try connection.statement(KeySQL.addFormer).run(stored, replacedAt)
            try connection.statement(KeySQL.removeFormer).run(present)
            try connection.statement(KeySQL.replacePresent).run(present)
        }
        let former = try connection.statement(KeySQL.former).all { $0.integer(0) }
        return .own(missing: former.count { !words.contains($0) })
    }

    func forgetAddressDays(before now: Timestamp) throws(SQLiteError) {
        try connection.statement(KeySQL.removeDays).run(now.milliseconds)
    }

    /// Forgets a key under which nothing is stored any more.
    func forget(serverKey check: UInt64) throws(SQLiteError) {
        try connection.statement(KeySQL.removeFormer).run(Int64(bitPattern: check))
    }
}

extension SQLiteReader {
    func requiredKeys(at now: Timestamp) throws(SQLiteError) -> RequiredKeys {
        var required = RequiredKeys()
        for sql in [KeySQL.oldestClick, KeySQL.oldestCheck] {
            guard let id = try connection.statement(sql).first(read: { $0.integer(0) }) else { continue }
            let moment = RowIdentifier.moment(of: id)
            required.oldestRecord = min(moment, required.oldestRecord ?? moment)
        }
        var former: [UInt64: Timestamp] = [:]
        try connection.statement(KeySQL.former).forEach { row in
            former[UInt64(bitPattern: row.integer(0))] = Timestamp(milliseconds: row.integer(1))
        }
        required.replaced = former
        required.firstAddressDay = try connection.statement(KeySQL.firstDay).first(now.milliseconds) {
            $0.integer(0)
        }
        return required
    }
}

extension RowIdentifier {
    /// When a row with this identifier was recorded.
    static func moment(of id: Int64) -> Timestamp { Timestamp(milliseconds: id >> 16) }
}

enum KeySQL {
    static let remember: SQL =
        "INSERT INTO progress VALUES ('server_key', ?1) ON CONFLICT DO NOTHING"
    static let present: SQL = "SELECT value FROM progress WHERE name = 'server_key'"
    static let replacePresent: SQL = "UPDATE progress SET value = ?1 WHERE name = 'server_key'"
    static let former: SQL = "SELECT key_check, replaced_at FROM former_server_keys"
    static let addFormer: SQL = """
        INSERT INTO former_server_keys (key_check, replaced_at) VALUES (?1, ?2)
        ON CONFLICT DO UPDATE SET replaced_at = excluded.replaced_at
        """
    static let removeFormer: SQL = "DELETE FROM former_server_keys WHERE key_check = ?1"
    static let newestRecord: SQL = """
        SELECT max(ifnull((SELECT max(id) FROM clicks), 0), ifnull((SELECT max(id) FROM checks), 0))
        """
    static let oldestClick: SQL = "SELECT id FROM clicks ORDER BY id LIMIT 1"
    static let oldestCheck: SQL = "SELECT id FROM checks ORDER BY id LIMIT 1"
    static let needDay: SQL = """
        INSERT INTO address_days (day, needed_until) VALUES (?1, ?2)
        ON CONFLICT DO UPDATE SET needed_until = max(needed_until, excluded.needed_until)
        """
    static let removeDays: SQL = "DELETE FROM address_days WHERE needed_until < ?1"
    static let firstDay: SQL = """
        SELECT day FROM address_days WHERE needed_until >= ?1 ORDER BY day LIMIT 1
        """
    static let hasPastDays: SQL =
        "SELECT EXISTS (SELECT 1 FROM address_days WHERE needed_until < ?1)"
}
