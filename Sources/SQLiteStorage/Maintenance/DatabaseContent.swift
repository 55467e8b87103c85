public import Attribution
internal import SQLite

/// What a database holds, for those who copy it.
public struct DatabaseContent: Equatable, Sendable {
    public let apps: Int64
    /// API keys, revoked ones included.
    public let keys: Int64
    public let clicks: Int64
    public let claims: Int64
    /// When the newest click was recorded; nil without clicks.
    public let newestClickAt: Timestamp?
    /// Number of the last migration.
    public let schemaVersion: Int64
    /// Migrations of this program that the database does not have yet, as file names.
    public let pendingMigrations: [String]
    public let byteCount: Int64
    let serverKeyCheck: Int64?

    /// - Throws: when the database is not Afterlink's, or is of a newer version.
    init(_ opening: DatabaseOpening, _ connection: SQLiteConnection) throws(StoreError) {
        let schema = try opening.inspect(connection)
        schemaVersion = schema.version
        pendingMigrations = schema.pending.map(\.name)
        guard schema.version > 0 else {
            throw StoreError(.incompatible, "\(opening.file.path) is an empty database")
        }
        // In a name that this statement can be reached by, because only one initialiser may throw.
        let counts = try opening.translated { () throws(SQLiteError) in try Counts(connection) }
        apps = counts.apps
        keys = counts.keys
        clicks = counts.clicks
        claims = counts.claims
        newestClickAt = counts.newestClickAt
        byteCount = counts.byteCount
        serverKeyCheck = counts.serverKeyCheck
    }

    /// Whether one of the keys is the one under which the database stored last; nil where it does not say, because nothing
    /// was hashed.
    public func fits(_ keys: [ServerKey]) -> Bool? {
        serverKeyCheck.map { stored in keys.contains { stored == Int64(bitPattern: $0.checkValue.index) } }
    }

    private struct Counts {
        let apps, keys, clicks, claims, byteCount: Int64
        let newestClickAt: Timestamp?
        let serverKeyCheck: Int64?

        init(_ connection: SQLiteConnection) throws(SQLiteError) {
            apps = try connection.integer("SELECT count(*) FROM apps")
            keys = try connection.integer("SELECT count(*) FROM keys")
            clicks = try connection.integer("SELECT count(*) FROM clicks")
            claims = try connection.integer("SELECT count(*) FROM claims")
            byteCount = try connection.databaseByteCount()
            newestClickAt = try connection.statement(
                "SELECT recorded_at FROM clicks ORDER BY id DESC LIMIT 1"
            )
            .first { Timestamp(milliseconds: $0.integer(0)) }
            serverKeyCheck = try connection.statement(KeySQL.present).first { $0.integer(0) }
        }
    }
}
