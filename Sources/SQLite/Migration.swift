/// One numbered change of the database schema, as SQL.
public struct Migration: Sendable {
    public let number: Int64
    public let name: String
    let text: String
    /// The digest of the text, which reveals that an applied migration was changed.
    public let digest: [UInt8]

    /// Returns the migrations in the order of the numbers that their file names start with.
    ///
    /// A file without a number is left out.
    public static func read(
        _ files: [(name: String, text: String)],
        digest: ([UInt8]) -> [UInt8]
    ) -> [Migration] {
        files
            .compactMap { file in
                Int64(file.name.prefix { $0 != "_" }).map {
                    let bytes = digest(Array(file.text.utf8))
                    return Migration(number: $0, name: file.name, text: file.text, digest: bytes)
                }
            }
            .sorted { $0.number < $1.number }
    }
}

/// The migrations that a database records as applied.
public struct AppliedMigrations: Sendable {
    public struct Row: Sendable {
        public let number: Int64
        public let name: String
        public let digest: [UInt8]
    }

    /// The number of the last migration; 0 for an empty database.
    public let version: Int64
    /// The rows in ascending order.
    public let rows: [Row]

    public init(of connection: SQLiteConnection) throws(SQLiteError) {
        version = try connection.integer("PRAGMA user_version")
        guard version > 0 else {
            rows = []
            return
        }
        rows = try connection.statement("SELECT number, name, digest FROM migrations ORDER BY number").all {
            Row(number: $0.integer(0), name: $0.text(1), digest: $0.bytes(2))
        }
    }

    /// Returns the rows of migrations that `known` does not contain.
    public func unknown(to known: [Migration]) -> [Row] {
        rows.filter { row in !known.contains { $0.number == row.number } }
    }

    /// Returns the migrations of `known` that no row records, although the database's version includes them.
    public func unrecorded(of known: [Migration]) -> [Migration] {
        known.filter { migration in
            migration.number <= version && !rows.contains { $0.number == migration.number }
        }
    }

    /// Returns the migrations of `known` whose row has another digest.
    public func changed(of known: [Migration]) -> [Migration] {
        known.filter { migration in
            rows.contains { $0.number == migration.number && $0.digest != migration.digest }
        }
    }

    /// Returns the migrations of `known` after the database's version.
    public func pending(of known: [Migration]) -> [Migration] { known.filter { $0.number > version } }
}

extension SQLiteConnection {
    /// Applies migrations, each in a transaction of its own.
    ///
    /// - Parameters:
    ///   - pending: the migrations after the database's version.
    ///   - id: the application id that a new database's header gets.
    ///   - milliseconds: the time to record, in milliseconds since 1970.
    /// - Throws: if a statement fails; its migration and those after it are then not applied.
    public func apply(_ pending: [Migration], ofApplication id: Int64, at milliseconds: Int64)
        throws(SQLiteError)
    {
        for migration in pending {
            try transaction(.immediate) { () throws(SQLiteError) in
                let version = try integer("PRAGMA user_version")
                // Another process that starts at the same time may have applied it.
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
