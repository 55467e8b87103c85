internal import Attribution
internal import SQLite
internal import Storage

/// Reads apps and keys.
extension SQLiteReader: DirectoryReader {
    func directoryVersion() throws(SQLiteError) -> Int64 {
        try connection.integer("SELECT version FROM directory")
    }

    /// Returns the number by which the tables refer to an app; nil if there is no such app.
    func number(of app: AppID) throws(SQLiteError) -> Int64? {
        try connection.statement(Self.numberOfApp).first(app.high, app.low) { $0.integer(0) }
    }

    static let numberOfApp: SQL = "SELECT number FROM apps WHERE id_high = ?1 AND id_low = ?2"

    func directorySnapshot() throws(SQLiteError) -> DirectoryCache.Snapshot {
        let version = try directoryVersion()
        let fields = try appFields()
        var ids: [Int64: AppID] = [:]
        let apps = try connection.statement(Self.selectApps).all { row throws(SQLiteError) in
            var row = StatementRow(row)
            let number: Int64 = row.get("number")
            let record = try row.record(AppRecord.self)
            ids[number] = record.id
            return record.app(fields[number] ?? [:])
        }
        let keys = try connection.statement(Self.selectKeys).all(KeyRecord.self)
            .map { key in key.key(of: key.app.flatMap { ids[$0] }) }
        var numbers: [AppID: Int64] = [:]
        for (number, app) in ids { numbers[app] = number }
        let directory = Directory(apps: apps, keys: keys)
        return DirectoryCache.Snapshot(version: version, directory: directory, numbers: numbers)
    }

    /// Returns the settings of all apps whose values are lists, by the app's number and the setting's name.
    private func appFields() throws(SQLiteError) -> [Int64: [String: [String]]] {
        var fields: [Int64: [String: [String]]] = [:]
        try connection.statement(Self.selectAppFields).forEach { row in
            fields[row.integer(0), default: [:]][row.text(1), default: []].append(row.text(2))
        }
        return fields
    }

    private static let selectAppFields: SQL = """
        SELECT app, field, value FROM app_fields ORDER BY app, field, position
        """
    private static let selectApps: SQL = "SELECT number, \(AppRecord.columns) FROM apps ORDER BY number"
    private static let selectKeys: SQL = "SELECT \(KeyRecord.columns) FROM keys ORDER BY number"
}
