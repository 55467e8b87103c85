internal import Attribution
internal import SQLite
internal import Storage

/// A database that is looked at and left as it is, beside a server or alone.
struct DatabaseSnapshot {
    let opening: DatabaseOpening
    let connection: SQLiteConnection

    var file: DatabaseFile { opening.file }

    /// - Throws: when there is no database, or a file that is none.
    init(_ configuration: SQLiteConfiguration, migrations: [Migration] = Migration.embedded)
        throws(StoreError)
    {
        opening = try DatabaseOpening(configuration, migrations: migrations)
        let file = opening.file
        guard DatabaseFile.exists(file.path) else {
            throw StoreError(.notFound, "there is no database at \(file.path)")
        }
        try file.checkHeader()
        connection = try opening.translated { () throws(SQLiteError) in try Self.connect(file) }
    }

    private static func connect(_ file: DatabaseFile) throws(SQLiteError) -> SQLiteConnection {
        // A log with something in it is left to whoever writes next. Without one, the connection may write, so
        // that SQLite takes away with it what it puts beside the file.
        let hasLog = DatabaseFile.byteCount(file.logPath) > 0
        do throws(SQLiteError) {
            return try connect(file, hasLog ? .readOnly : .readWrite)
        } catch {
            // A folder in which nothing can be made; then nobody writes to the database either.
            guard !hasLog, error.code == .cannotOpen || error.code == .readOnly else { throw error }
            return try connect(file, .immutable)
        }
    }

    private static func connect(_ file: DatabaseFile, _ access: SQLiteConnection.Access) throws(SQLiteError)
        -> SQLiteConnection
    {
        let connection = try SQLiteConnection(path: file.path, access: access, busyMilliseconds: 5000)
        try connection.execute("PRAGMA query_only = ON")
        // A page whose cells lie is not read as if they did not.
        try connection.execute("PRAGMA cell_size_check = ON")
        // Opens the file and what is beside it, which SQLite puts off.
        _ = try connection.integer("PRAGMA schema_version")
        return connection
    }

    /// Runs `body` on one moment of the database, whatever is written meanwhile.
    func atOneMoment<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try opening.translated { () throws(SQLiteError) in
            try connection.begin(.deferred)
            // The snapshot is taken by the first read.
            _ = try connection.integer("SELECT count(*) FROM sqlite_schema")
        }
        // A read transaction has nothing to lose.
        defer { try? connection.rollback() }
        return try body()
    }

    func content() throws(StoreError) -> DatabaseSummary {
        try DatabaseSummary(opening, connection)
    }
}
