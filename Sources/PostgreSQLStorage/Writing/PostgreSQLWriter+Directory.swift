#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Creates and changes apps and keys.
///
/// These statements change no row if they find a conflict, because PostgreSQL undoes the whole transaction if a unique
/// index refuses a statement. If two servers make the same change at the same time, one of them waits, and
/// may get the error of the index. Its batch is then done again, and finds the other server's row.
extension PostgreSQLWriter {
    func create(_ app: App, with keys: [APIKey]) throws(PostgreSQLError) -> StoreError? {
        let created = try run(Self.insertApp, AppRecord(app))
        guard created.count > 0 else { return nameIsTaken }
        try addLists(of: app.settings, to: try created.value(0, 0))
        for key in keys { if let refusal = try create(key) { return refusal } }
        return nil
    }

    private var nameIsTaken: StoreError { StoreError(.conflict, "another app has this name") }
    private static let insertApp: PreparedStatement = """
        INSERT INTO apps (\(AppRecord.columns)) SELECT * FROM \(rowsWith: AppRecord.columns)
        ON CONFLICT DO NOTHING RETURNING number
        """

    func update(_ app: AppID, to settings: App.Settings) throws(PostgreSQLError) -> StoreError? {
        let found = try batch.look(Self.lockApp, app.high, app.low)
        guard found.count > 0 else { return StoreError(.notFound, "this app does not exist") }
        var row = ResultRow(found, 0)
        let number: Int64 = row.get("number")
        var record = try row.record(AppRecord.self)
        record.settings = settings
        guard try run(Self.updateApp, record).affectedCount > 0 else { return nameIsTaken }
        try batch.run(Self.deleteAppFields, number)
        try addLists(of: settings, to: number)
        return nil
    }

    private static let lockApp: PreparedStatement =
        "SELECT number, \(AppRecord.columns) FROM apps WHERE id_high = $1 AND id_low = $2 FOR UPDATE"
    private static let updateApp: PreparedStatement = """
        UPDATE apps a SET \(assignmentsOf: AppRecord.columns, from: "r") FROM \(rowsWith: AppRecord.columns)
        WHERE a.id_high = r.id_high AND a.id_low = r.id_low
        AND NOT EXISTS (SELECT 1 FROM apps o WHERE o.name = r.name AND o.number <> a.number)
        """
    private static let deleteAppFields = PreparedStatement("DELETE FROM app_fields WHERE app = $1")

    private func addLists(of settings: App.Settings, to number: Int64) throws(PostgreSQLError) {
        let values = AppRecord.lists(of: settings).flatMap { list in
            list.values.enumerated().map { (list.name, Int64($0.offset), $0.element) }
        }
        try batch.run(Self.insertAppFields, number, values.map(\.0), values.map(\.1), values.map(\.2))
    }

    private static let insertAppFields: PreparedStatement =
        "INSERT INTO app_fields (app, field, position, value) SELECT $1, * FROM unnest($2, $3, $4)"

    func create(_ key: APIKey) throws(PostgreSQLError) -> StoreError? {
        var number: Int64?
        if let app = key.app {
            number = try reader.number(of: app)
            guard number != nil else { return StoreError(.notFound, "the key's app does not exist") }
        }
        let created = try run(Self.insertKey, KeyRecord(key, app: number))
        return created.affectedCount > 0 ? nil : StoreError(.conflict, "this key exists already")
    }

    private static let insertKey: PreparedStatement = """
        INSERT INTO keys (\(KeyRecord.columns)) SELECT * FROM \(rowsWith: KeyRecord.columns)
        ON CONFLICT DO NOTHING
        """

    func revoke(_ key: KeyID, at now: Timestamp) throws(PostgreSQLError) -> StoreError? {
        let changed = try batch.run(Self.revokeKey, key.high, key.low, now.milliseconds)
        return changed.affectedCount > 0 ? nil : StoreError(.notFound, "this key does not exist")
    }

    private static let revokeKey: PreparedStatement =
        "UPDATE keys SET revoked_at = coalesce(revoked_at, $3) WHERE id_high = $1 AND id_low = $2"

    /// Returns false: a key's use does not change the version of the directory, because all servers would read it again.
    func setUse(of key: KeyID, at now: Timestamp) -> Bool {
        batch.append(.keyUse) { row in
            row.put("id_high", key.high)
            row.put("id_low", key.low)
            row.put("last_used_at", now.milliseconds - now.milliseconds % 60_000)
        }
        return false
    }

    /// Runs a statement with one record, as an array for each column.
    func run<Row: Record>(_ statement: PreparedStatement, _ record: Row) throws(PostgreSQLError) -> ResultRows
    {
        var records = ColumnArrays(Row.columns)
        records.append(record)
        return try batch.run(statement, records)
    }
}

/// Stores which keys the stored hashes need, and named values.
extension PostgreSQLWriter {
    func removeAddressDays(before now: Timestamp) throws(PostgreSQLError) {
        try batch.run(Self.removeDays, now.milliseconds)
    }

    func addFormerServerKey(_ key: UInt64, replacedAt: Timestamp) throws(PostgreSQLError) {
        try batch.run(Self.addFormerKey, key, replacedAt.milliseconds)
    }

    func removeFormerServerKey(_ key: UInt64) throws(PostgreSQLError) {
        try batch.run(Self.removeFormerKey, key)
    }

    func set(_ name: StoredValue, to value: Int64) throws(PostgreSQLError) {
        try batch.run(Self.setValue, name.rawValue, value)
    }

    private static let removeDays = PreparedStatement("DELETE FROM address_days WHERE needed_until < $1")
    private static let addFormerKey: PreparedStatement = """
        INSERT INTO former_server_keys (key_check, replaced_at) VALUES ($1, $2)
        ON CONFLICT (key_check) DO UPDATE SET replaced_at = excluded.replaced_at
        """
    private static let removeFormerKey: PreparedStatement =
        "DELETE FROM former_server_keys WHERE key_check = $1"
    private static let setValue: PreparedStatement =
        "INSERT INTO progress VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
}
#endif
