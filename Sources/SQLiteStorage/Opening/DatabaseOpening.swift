internal import Attribution
internal import Crypto
internal import SQLite
internal import Storage

/// Opens a database; refuses a file that is not Afterlink's, is damaged, or cannot be written to.
struct DatabaseOpening: Sendable {
    /// "AFLK": the number that distinguishes Afterlink's databases from databases of other programs.
    static let applicationID: Int64 = 0x4146_4C4B

    let file: DatabaseFile
    let configuration: SQLiteConfiguration
    /// The migrations of this program, in ascending order.
    let migrations: [Migration]

    init(_ configuration: SQLiteConfiguration) throws(StoreError) {
        self.configuration = configuration
        migrations = Migration.read(configuration.migrations) { SHA256.digest(of: $0).bytes }
        file = try StoreError.translating { () throws(SQLiteError) in
            try DatabaseFile(path: configuration.path)
        }
    }

    /// Returns the migrations that ``open()`` would apply, and changes nothing.
    func plan() throws(StoreError) -> MigrationPlan {
        guard DatabaseFile.byteCount(file.path) > 0 else {
            return MigrationPlan(applied: [], pending: migrations.map(\.name), backupPath: nil)
        }
        // If the write-ahead log is empty or missing, the file has all content, and an immutable connection creates no
        // files next to it.
        let hasLog = DatabaseFile.byteCount(file.logPath) > 0
        let applied = try inspect(connect(hasLog ? .readOnly : .immutable, busyMilliseconds: 2000))
        let pending = applied.pending(of: migrations)
        let needsBackup = applied.version > 0 && !pending.isEmpty
        let now = configuration.clock.now().milliseconds
        return MigrationPlan(
            applied: migrations.filter { $0.number <= applied.version }.map(\.name),
            pending: pending.map(\.name),
            backupPath: needsBackup ? file.backupPath(version: applied.version, at: now) : nil
        )
    }

    /// Opens the database for writing, creates it if it does not exist, and brings it up to date.
    ///
    /// - Returns: the connection, and whether the database is new.
    func open() throws(StoreError) -> (connection: SQLiteConnection, isNew: Bool) {
        try file.withExclusiveOpening { () throws(StoreError) in try openAlone() }
    }

    private func openAlone() throws(StoreError) -> (connection: SQLiteConnection, isNew: Bool) {
        try translated { () throws(SQLiteError) in
            try file.createIfMissing()
            try file.requireWritableFileSystem()
            try file.requireWritable()
        }
        file.makeCompanionsWritable()
        let connection = try connect(.readWrite, busyMilliseconds: 5000)
        // The file must not change before it is accepted, so this connection makes no checkpoint when it closes.
        try translated { () throws(SQLiteError) in try connection.setCheckpointOnClose(false) }
        let applied = try inspect(connection)
        try requireWritable(connection)
        try translated { () throws(SQLiteError) in
            try setUp(connection)
            // This fails if the process cannot write to the folder.
            try connection.begin(.immediate)
            // The disk may have failed under the previous process, so parts of the log may not be on disk.
            try file.rewriteLog()
            try connection.rollback()
        }
        let pending = applied.pending(of: migrations)
        if applied.version > 0, !pending.isEmpty { try backUp(connection, version: applied.version) }
        try translated { () throws(SQLiteError) in
            let now = configuration.clock.now().milliseconds
            try connection.apply(pending, ofApplication: Self.applicationID, at: now)
            try connection.setCheckpointOnClose(true)
            try connection.execute("PRAGMA busy_timeout = \(Self.writerBusyMilliseconds)")
        }
        return (connection, applied.version == 0)
    }

    /// Opens an existing database for writing; unlike ``open()``, it does not inspect the tables or apply migrations.
    func reopen() throws(StoreError) -> SQLiteConnection {
        try translated { () throws(SQLiteError) in try file.requireWritableFileSystem() }
        let connection = try connect(.readWrite, busyMilliseconds: Self.writerBusyMilliseconds)
        try requireWritable(connection)
        try translated { () throws(SQLiteError) in try setUp(connection) }
        return connection
    }

    /// Opens a database for reading, while another process may write to it; refuses a database that is not up to date.
    func openAccepted() throws(StoreError) -> SQLiteConnection {
        try translated { () throws(SQLiteError) in try file.requireWritableFileSystem() }
        let connection = try connect(.readOnly, busyMilliseconds: 2000)
        guard try inspect(connection).pending(of: migrations).isEmpty else {
            throw StoreError(.incompatible, "\(file.path) is of an older version; start the service once")
        }
        return connection
    }

    func openReader() throws(SQLiteError) -> SQLiteConnection { try .reader(path: file.path) }

    /// A short wait for a lock: the writer tries again, and the watchdog fails requests that wait too long.
    private static let writerBusyMilliseconds: Int32 = 100

    /// Throws if SQLite could open the file only for reading.
    private func requireWritable(_ connection: SQLiteConnection) throws(StoreError) {
        guard connection.isReadOnly else { return }
        throw StoreError(file.unwritable)
    }

    private func setUp(_ connection: SQLiteConnection) throws(SQLiteError) {
        let syncsCommits = configuration.durability == .full
        try connection.prepareForWriting(syncsCommits: syncsCommits, pageLimit: configuration.pageLimit)
    }

    private func backUp(_ connection: SQLiteConnection, version: Int64) throws(StoreError) {
        let path = try translated { () throws(SQLiteError) in
            let now = configuration.clock.now().milliseconds
            let (path, draft) = (file.backupPath(version: version, at: now), try file.createBackupDraft())
            do throws(SQLiteError) {
                try connection.copy(into: draft)
                try file.publishBackup(draft, as: path)
            } catch {
                try? DatabaseFile.remove(draft)
                throw error
            }
            return path
        }
        configuration.log.write(.information, "database: copied to \(path) before it is brought up to date")
    }

    func connect(_ access: SQLiteConnection.Access, busyMilliseconds: Int32) throws(StoreError)
        -> SQLiteConnection
    {
        try translated { () throws(SQLiteError) in
            try SQLiteConnection(path: file.path, access: access, busyMilliseconds: busyMilliseconds)
        }
    }

    /// Runs `body`, and adds the database's path to its errors, for the operator.
    func translated<Result>(_ body: () throws(SQLiteError) -> Result) throws(StoreError) -> Result {
        try StoreError.translating(file.path, body)
    }
}

/// Refuses databases that this program cannot use.
extension DatabaseOpening {
    /// The first of ten migrations that were never released; a single migration has replaced them.
    private static let developmentMigration = "0001_clicks_claims_counters.sql"

    /// Returns whether a version before the first release made the database; no release can read its tables.
    static func isOfDevelopmentVersion(_ applied: AppliedMigrations) -> Bool {
        applied.rows.contains { $0.number == 1 && $0.name == developmentMigration }
    }

    /// Returns the migrations that were applied to a database.
    ///
    /// - Throws: for a database of another program, or with unknown, missing or changed migrations.
    func inspect(_ connection: SQLiteConnection) throws(StoreError) -> AppliedMigrations {
        let (application, tables) = try translated { () throws(SQLiteError) in
            try connection.checkCells(true)
            return (
                try connection.integer("PRAGMA application_id"),
                try connection.integer("SELECT count(*) FROM sqlite_schema")
            )
        }
        let path = file.path
        guard application == Self.applicationID || (application == 0 && tables == 0) else {
            throw StoreError(.unsupported, "\(path) is the database of another program")
        }
        // If SQLite cannot switch the cell checks off, they only cost time.
        defer { try? connection.checkCells(false) }
        let applied = try translated { () throws(SQLiteError) in try AppliedMigrations(of: connection) }
        guard !Self.isOfDevelopmentVersion(applied) else {
            throw StoreError(
                .unsupported,
                "\(path) was made by a development version of Afterlink, whose databases no release can read; that version"
                    + " exports its links (`afterlink links export`)"
            )
        }
        try applied.requireFitting(migrations, of: path)
        return applied
    }
}
