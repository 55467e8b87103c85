internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// Apps and keys as they stand in their tables.
extension SQLiteReader {
    func directoryVersion() throws(SQLiteError) -> Int64 {
        try connection.integer("SELECT version FROM directory")
    }

    /// The number that the tables know an app by; nil for one that does not exist.
    func number(of app: AppID) throws(SQLiteError) -> Int64? {
        try connection.statement(Self.numberOfApp).first(app.high, app.low) { $0.integer(0) }
    }

    static let numberOfApp: SQL = "SELECT number FROM apps WHERE id_high = ?1 AND id_low = ?2"

    /// Everything, as of one moment where the caller has opened a transaction.
    func directorySnapshot() throws(SQLiteError) -> DirectoryCache.Snapshot {
        let version = try directoryVersion()
        let fields = try appFields()
        var ids: [Int64: AppID] = [:]
        let apps = try connection.statement(Self.selectApps).all { row throws(SQLiteError) in
            var row = StatementRow(row)
            let number: Int64 = row.get("number")
            let record = try row.record(AppRecord.self)
            ids[number] = record.id
            let fields = fields[number] ?? [:]
            var settings = record.settings
            settings.allowedOrigins = fields[AppList.allowedOrigins.rawValue] ?? []
            settings.destinations = fields[AppList.destinations.rawValue] ?? []
            settings.localizations = fields[AppList.localizations.rawValue] ?? []
            settings.links = Self.links(fields)
            return App(id: record.id, settings: settings, createdAt: record.createdAt)
        }
        let keys = try connection.statement(Self.selectKeys).all(KeyRecord.self)
            .map { key in key.key(of: key.app.flatMap { ids[$0] }) }
        return DirectoryCache.Snapshot(version: version, directory: Directory(apps: apps, keys: keys))
    }

    private static func links(_ fields: [String: [String]]) -> AppLinks {
        var links = AppLinkFields()
        // A field of a newer program is not understood.
        for (name, values) in fields { if let field = AppLinkField(rawValue: name) { links[field] = values } }
        return AppLinks(stored: links)
    }

    /// The settings of each app that are lists, by its number.
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

/// Lists among an app's settings that concern no link, under the names that they are stored by.
enum AppList: String {
    case allowedOrigins = "allowed_origins"
    case destinations, localizations
}

/// The apps and keys as last read, shared by all loops.
final class DirectoryCache: Sendable {
    struct Snapshot: Sendable {
        /// What the database counted when they were read.
        let version: Int64
        let directory: Directory

        /// The same as a directory of one's own: loops that count references to one take turns at it.
        func copy() -> Snapshot {
            Snapshot(version: version, directory: Directory(apps: directory.apps, keys: directory.keys))
        }
    }

    private let latest: ConditionLock<Snapshot>

    init(reading reader: SQLiteReader) throws(SQLiteError) {
        latest = ConditionLock(try reader.directorySnapshot())
    }

    var snapshot: Snapshot { latest.withLock { $0 } }

    /// What the database holds, read only if it is another version than the one at hand.
    func current(by reader: SQLiteReader) throws(SQLiteError) -> Snapshot {
        let version = try reader.directoryVersion()
        let known = snapshot
        if known.version == version { return known }
        let fresh = try reader.directorySnapshot()
        // Another loop may have read a later one meanwhile.
        latest.withLock { if $0.version < fresh.version { $0 = fresh } }
        return fresh
    }
}
