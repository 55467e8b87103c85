public import Attribution
internal import SQLite
public import Storage

/// Reports on a database to operators, without changing the database.
public enum DatabaseSurvey {
    /// Examines the database, whether a server runs or not.
    ///
    /// - Throws: if there is no database, or if it is empty, another program's, of an unknown version, or damaged.
    public static func report(_ configuration: SQLiteConfiguration) throws(StoreError) -> DatabaseReport {
        let path = try StoreError.translating { () throws(SQLiteError) in
            try DatabaseFile(path: configuration.path).path
        }
        // Find the holder before this process opens the file itself.
        let holder = DatabaseFile.holder(of: path)
        let snapshot = try DatabaseSnapshot(configuration)
        let (file, connection) = (snapshot.file, snapshot.connection)
        let logBytes = DatabaseFile.byteCount(file.logPath)
        let dayBefore = configuration.clock.now().advanced(byMilliseconds: -86_400_000)
        return try snapshot.atOneMoment { () throws(StoreError) in
            let summary = try snapshot.summary()
            return try snapshot.opening.translated { () throws(SQLiteError) in
                let directory = try snapshot.reader.directorySnapshot().directory
                var report = DatabaseReport(path: file.path, summary, directory)
                report.holder = holder
                report.writeAheadLogBytes = logBytes
                report.freeBytes = DatabaseFile.freeByteCount(inFolder: file.folder)
                let clicks = try connection.prepare(Self.clicksSince)
                report.clicksOfLastDay = try clicks.first(dayBefore.milliseconds) { $0.integer(0) } ?? 0
                let first = try connection.prepare(Self.firstDay).first { $0.optionalInteger(0) } ?? nil
                report.firstDay = first.map(Timestamp.init(milliseconds:))
                return report
            }
        }
    }

    /// Returns the id of a process that has a database open; 0 if the id is not visible, nil for no process.
    ///
    /// Call this only while this process does not have the database open.
    public static func holder(of path: String) -> Int32? { DatabaseFile.holder(of: path) }

    /// Verifies by its first bytes that a file can be a database.
    ///
    /// - Throws: `notFound` for a missing or empty file, `corrupted` for a file of another format, `incompatible` for a
    ///   folder or a device.
    public static func checkIsDatabase(_ path: String) throws(StoreError) {
        guard DatabaseFile.byteCount(path) > 0 else {
            throw StoreError(.notFound, "\(path) is missing or empty")
        }
        try StoreError.translating { () throws(SQLiteError) in try DatabaseFile(path: path).requireHeader() }
    }

    /// Returns whether a file is a database of Afterlink, by its first bytes.
    ///
    /// Call this only while this process does not have the database open: closing a file releases the locks that the
    /// process has on it.
    public static func isOwn(_ path: String) -> Bool {
        DatabaseFile.isDatabase(path, ofApplication: DatabaseOpening.applicationID)
    }

    /// The version of the SQLite library.
    public static var libraryVersion: String { SQLiteLibrary.version }

    static let clicksSince: SQL = """
        SELECT sum(count) FROM \(scopes) CROSS JOIN counts ON scope = scopes.number
        WHERE campaign = '' AND dimension = \(Dimension.total) AND span = \(Granularity.hour)
            AND period >= ?1 AND metric IN ('clicks', 'robots')
        """
    static let firstDay: SQL = """
        SELECT min((
            SELECT min(period) FROM counts
            WHERE scope = scopes.number AND campaign = '' AND dimension = \(Dimension.total)
                AND span = \(Granularity.day)
        )) FROM \(scopes)
        """
    /// All scopes.
    ///
    /// The key of counts starts with the scope, so a query without scopes would read all counts.
    private static let scopes: SQL = """
        (SELECT number * 2 AS number FROM apps UNION ALL SELECT number * 2 + 1 FROM apps) AS scopes
        """
}

/// A database that is open only for reading, with or without a running server.
struct DatabaseSnapshot {
    let opening: DatabaseOpening
    let connection: SQLiteConnection

    var file: DatabaseFile { opening.file }
    var reader: SQLiteReader { SQLiteReader(connection: connection) }

    /// - Throws: if the file does not exist, or is not a database.
    init(_ configuration: SQLiteConfiguration) throws(StoreError) {
        let opening = try DatabaseOpening(configuration)
        let file = opening.file
        guard DatabaseFile.exists(file.path) else {
            throw StoreError(.notFound, "there is no database at \(file.path)")
        }
        connection = try opening.translated { () throws(SQLiteError) in
            try file.requireHeader()
            return try SQLiteConnection.examiner(of: file)
        }
        self.opening = opening
    }

    /// Runs `body` in one snapshot of the database, while other processes may write.
    func atOneMoment<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try opening.translated { () throws(SQLiteError) in
            try connection.begin(.deferred)
            // The first read takes the snapshot.
            _ = try connection.integer("SELECT count(*) FROM sqlite_schema")
        }
        // The transaction has only read, so its rollback loses nothing.
        defer { try? connection.rollback() }
        return try body()
    }

    func summary() throws(StoreError) -> DatabaseSummary { try DatabaseSummary(opening, connection) }
}

extension DatabaseSummary {
    /// Reads the summary of an open database.
    ///
    /// - Throws: if the database is empty, not Afterlink's, or of an unknown version.
    init(_ opening: DatabaseOpening, _ connection: SQLiteConnection) throws(StoreError) {
        let applied = try opening.inspect(connection)
        guard applied.version > 0 else {
            throw StoreError(.incompatible, "\(opening.file.path) is an empty database")
        }
        let pending = applied.pending(of: opening.migrations).map(\.name)
        self.init(schemaVersion: applied.version, pendingMigrations: pending)
        try opening.translated { () throws(SQLiteError) in
            apps = try connection.integer("SELECT count(*) FROM apps")
            keys = try connection.integer("SELECT count(*) FROM keys")
            clicks = try connection.integer("SELECT count(*) FROM clicks")
            claims = try connection.integer("SELECT count(*) FROM claims")
            let newest = try connection.statement("SELECT recorded_at FROM clicks ORDER BY id DESC LIMIT 1")
            newestClickAt = try newest.first { $0.time(0) }
            byteCount = try connection.databaseByteCount()
            let reader = SQLiteReader(connection: connection)
            serverKey = try reader.value(of: .serverKey).map { UInt64(bitPattern: $0) }
            formerServerKeys = try reader.formerServerKeys().keys.sorted()
        }
    }
}
