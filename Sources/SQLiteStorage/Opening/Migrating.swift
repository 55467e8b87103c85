internal import SQLite
internal import Storage

extension AppliedMigrations {
    init(of connection: SQLiteConnection) throws(SQLiteError) {
        let version = try connection.integer("PRAGMA user_version")
        guard version > 0 else {
            self.init(version: 0, rows: [])
            return
        }
        let rows = try connection.statement("SELECT number, name, digest FROM migrations ORDER BY number").all
        { Row(number: $0.integer(0), name: $0.text(1), digest: $0.bytes(2)) }
        self.init(version: version, rows: rows)
    }
}

extension SQLiteConnection {
    /// Applies migrations, each in its own transaction.
    ///
    /// - Parameters:
    ///   - pending: the migrations after the database's version.
    ///   - id: the application id that a new database's header gets.
    ///   - milliseconds: the time to record, in milliseconds since 1970.
    /// - Throws: if a statement fails; its migration and those after it are then not applied.
    func apply(_ pending: [Migration], ofApplication id: Int64, at milliseconds: Int64)
        throws(SQLiteError)
    {
        for migration in pending {
            try transaction(.immediate) { () throws(SQLiteError) in
                let version = try integer("PRAGMA user_version")
                // Another process that starts at the same time may have applied the migration.
                guard version < migration.number else { return }
                if version == 0 {
                    try execute(Self.migrationTable)
                    try execute("PRAGMA application_id = \(id)")
                }
                try execute(migration.text)
                try prepare("INSERT INTO migrations VALUES (?1, ?2, ?3, ?4)")
                    .run(migration.number, migration.name, migration.digest, milliseconds)
                try execute("PRAGMA user_version = \(migration.number)")
            }
        }
    }

    private static let migrationTable = """
        -- Which migrations made this schema, so that none is changed afterwards.
        CREATE TABLE migrations (
            number INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            digest BLOB NOT NULL,
            applied_at INTEGER NOT NULL
        ) STRICT
        """
}
