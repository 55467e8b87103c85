public import Attribution
internal import SQLite
internal import Storage

// All of these wait for the disk: never called on a loop.

extension SQLiteStore {
    /// Remembers by their ``ServerKey/checkValue`` which server keys the store is used with from now on, the present one first.
    ///
    /// What was there before is not changed where it was stored under another key than these.
    public func confirm(serverKeys checks: [KeyedHash], at now: Timestamp) throws(StoreError)
        -> ServerKeyRecognition
    {
        guard
            case .serverKeys(let recognition) = try shared.queue.perform(.keys(.confirm(checks, at: now)))
        else { throw .mismatch }
        return recognition
    }

    /// Which keys may be destroyed, as of a moment of the store's own clock.
    public func keyNeeds() throws(StoreError) -> RequiredKeys {
        let now = shared.configuration.clock.now()
        // Not by the writer, whose commits say that the disk takes writes.
        let (needs, hasPastDays) = try opening.translated { () throws(SQLiteError) in
            let connection = try opening.openReader()
            let hasPastDays = try connection.statement(KeySQL.hasPastDays).first(now.milliseconds) {
                $0.integer(0)
            }
            return (try SQLiteReader(connection: connection).requiredKeys(at: now), hasPastDays == 1)
        }
        guard hasPastDays, isClockSettled else { return needs }
        try shared.queue.perform(.keys(.forgetAddressDays(before: now)))
        return needs
    }

    /// Forgets a server key under which nothing is stored any more, by the first word of its check.
    public func forget(serverKey check: UInt64) throws(StoreError) {
        try shared.queue.perform(.keys(.forget(serverKey: check)))
    }
}

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
