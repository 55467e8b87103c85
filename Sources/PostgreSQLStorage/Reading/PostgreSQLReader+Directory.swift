#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Reads apps and keys.
extension PostgreSQLReader {
    func directoryVersion() throws(PostgreSQLError) -> Int64 {
        try connection.execute(Self.version).value(0, 0)
    }

    func directorySnapshot() throws(PostgreSQLError) -> DirectoryCache.Snapshot {
        // Each statement has its own snapshot, even in one transaction. The version is read first: if a change comes
        // between two statements, this version is old, so the next poll reads everything again.
        let version = try directoryVersion()
        var fields: [Int64: [String: [String]]] = [:]
        let texts = try all(Self.appFields) { row throws(PostgreSQLError) in
            (
                app: row.get("app") as Int64, field: row.get("field") as String,
                value: row.get("value") as String
            )
        }
        for text in texts { fields[text.app, default: [:]][text.field, default: []].append(text.value) }
        var numbers: [AppID: Int64] = [:]
        var ids: [Int64: AppID] = [:]
        let apps = try all(Self.apps) { row throws(PostgreSQLError) in
            let number: Int64 = row.get("number")
            let record = try row.record(AppRecord.self)
            (numbers[record.id], ids[number]) = (number, record.id)
            return record.app(fields[number] ?? [:])
        }
        let keys = try all(Self.keys) { row throws(PostgreSQLError) in try row.record(KeyRecord.self) }
            .map { key in key.key(of: key.app.flatMap { ids[$0] }) }
        let directory = Directory(apps: apps, keys: keys)
        return DirectoryCache.Snapshot(version: version, directory: directory, numbers: numbers)
    }

    private static let version = PreparedStatement("SELECT version FROM directory")
    private static let appFields: PreparedStatement =
        "SELECT app, field, value FROM app_fields ORDER BY app, field, position"
    private static let apps: PreparedStatement =
        "SELECT number, \(AppRecord.columns) FROM apps ORDER BY number"
    private static let keys = PreparedStatement("SELECT \(KeyRecord.columns) FROM keys ORDER BY number")
}
#endif
