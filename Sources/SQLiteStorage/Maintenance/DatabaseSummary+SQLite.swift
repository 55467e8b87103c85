internal import Attribution
internal import SQLite
internal import Storage

extension DatabaseSummary {
    /// Reads the summary of an open database.
    ///
    /// - Throws: if the database is not Afterlink's, or is of a newer version.
    init(_ opening: DatabaseOpening, _ connection: SQLiteConnection) throws(StoreError) {
        let schema = try opening.inspect(connection)
        guard schema.version > 0 else {
            throw StoreError(.incompatible, "\(opening.file.path) is an empty database")
        }
        self = try opening.translated { () throws(SQLiteError) in
            DatabaseSummary(
                apps: try connection.integer("SELECT count(*) FROM apps"),
                keys: try connection.integer("SELECT count(*) FROM keys"),
                clicks: try connection.integer("SELECT count(*) FROM clicks"),
                claims: try connection.integer("SELECT count(*) FROM claims"),
                newestClickAt: try connection.statement(
                    "SELECT recorded_at FROM clicks ORDER BY id DESC LIMIT 1"
                )
                .first { Timestamp(milliseconds: $0.integer(0)) },
                schemaVersion: schema.version,
                pendingMigrations: schema.pending.map(\.name),
                byteCount: try connection.databaseByteCount(),
                serverKey: try connection.statement(KeySQL.present)
                    .first { UInt64(bitPattern: $0.integer(0)) }
            )
        }
    }
}
