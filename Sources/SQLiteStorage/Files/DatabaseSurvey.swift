public import Attribution
internal import SQLite
public import Storage

/// What an operator asks of a database without changing it.
public enum DatabaseSurvey {
    /// Examines the database beside a server or alone.
    ///
    /// - Throws: if there is no database, or one of another program, a newer or a damaged one.
    public static func report(_ configuration: SQLiteConfiguration) throws(StoreError) -> DatabaseReport {
        // Before this process has the file open itself.
        let holder = DatabaseFile.holder(of: try DatabaseFile(path: configuration.path).path)
        let look = try DatabaseSnapshot(configuration)
        let (file, connection) = (look.file, look.connection)
        let logBytes = DatabaseFile.byteCount(file.logPath)
        let dayBefore = configuration.clock.now().advanced(byMilliseconds: -86_400_000)
        return try look.atOneMoment { () throws(StoreError) in
            let summary = try look.content()
            return try look.opening.translated { () throws(SQLiteError) in
                let clicks = try connection.prepare(Self.clicksSince).first(dayBefore.milliseconds) {
                    $0.integer(0)
                }
                let first = try connection.prepare(Self.first).first { $0.optionalInteger(0) } ?? nil
                return DatabaseReport(
                    path: file.path,
                    holder: holder,
                    summary: summary,
                    directory: try SQLiteReader(connection: connection).directorySnapshot().directory,
                    writeAheadLogBytes: logBytes,
                    freeBytes: DatabaseFile.freeByteCount(inFolder: file.folder),
                    clicksOfLastDay: clicks ?? 0,
                    firstDay: first.map(Timestamp.init(milliseconds:))
                )
            }
        }
    }

    /// A process that has a database open; 0 where its number is not to be seen, nil where there is none.
    ///
    /// Not to be asked while this process has it open.
    public static func holder(of path: String) -> Int32? {
        DatabaseFile.holder(of: path)
    }

    /// Tells from its first bytes whether a file can be a database, before anything is asked of it.
    ///
    /// - Throws: `notFound` for an empty file, `corrupted` for one of something else.
    public static func checkIsDatabase(_ path: String) throws(StoreError) {
        guard DatabaseFile.byteCount(path) > 0 else {
            throw StoreError(.notFound, "there is nothing in \(path) yet")
        }
        try DatabaseFile(path: path).checkHeader()
    }

    /// The version of the SQLite library.
    public static var libraryVersion: String { SQLiteLibrary.version }

    private static let clicksSince: SQL = """
        SELECT sum(count) FROM counts
        WHERE campaign = '' AND dimension = 'total' AND span = 'hour' AND period >= ?1
            AND metric IN ('clicks', 'robots')
        """
    private static let first: SQL = """
        SELECT min(period) FROM counts WHERE campaign = '' AND dimension = 'total' AND span = 'day'
        """
}

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
                serverKey: try SQLiteReader(connection: connection).value(of: .serverKey)
                    .map { UInt64(bitPattern: $0) }
            )
        }
    }
}
