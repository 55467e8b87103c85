internal import Attribution
internal import SQLite
internal import Storage

/// From a path to a connection whose database is this program's, whole, writable and up to date.
struct DatabaseOpening: Sendable {
    /// "AFLK": tells our databases from those of other programs.
    static let applicationID: Int64 = 0x4146_4C4B

    let file: DatabaseFile
    let configuration: SQLiteConfiguration
    let migrations: [Migration]

    init(_ configuration: SQLiteConfiguration, migrations: [Migration]) throws(StoreError) {
        self.configuration = configuration
        self.migrations = migrations
        file = try DatabaseFile(path: configuration.path)
    }

    /// What a start would do; changes nothing.
    func plan() throws(StoreError) -> MigrationPlan {
        let isThere = DatabaseFile.byteCount(file.path) > 0
        guard isThere else { return plan(applied: [], pending: migrations, backupPath: nil) }
        // Without a log, nobody has the file open, and it can be read without leaving anything beside it.
        let hasLog = DatabaseFile.byteCount(file.logPath) > 0
        let connection = try connect(hasLog ? .readOnly : .immutable, busyMilliseconds: 2000)
        let schema = try inspect(connection)
        let needsBackup = schema.version > 0 && !schema.pending.isEmpty
        let backupPath = file.backupPath(version: schema.version, at: configuration.clock.now())
        return plan(
            applied: schema.applied,
            pending: schema.pending,
            backupPath: needsBackup ? backupPath : nil
        )
    }

    /// Opens the database for writing, makes it where there is none, and brings it up to date.
    ///
    /// - Returns: the connection, and whether the database is new.
    func open() throws(StoreError) -> (connection: SQLiteConnection, isNew: Bool) {
        try file.whileNobodyElseOpens { () throws(StoreError) in try openAlone() }
    }

    private func openAlone() throws(StoreError) -> (connection: SQLiteConnection, isNew: Bool) {
        try file.createIfMissing()
        try file.checkFileSystemIsWritable()
        let connection = try connect(.readWrite, busyMilliseconds: 5000)
        // Until it is accepted, the file stays as it is, byte for byte, even when this connection closes.
        try translated { () throws(SQLiteError) in try connection.setCheckpointOnClose(false) }
        let schema = try inspect(connection)
        try checkIsWritable(connection)
        try translated { () throws(SQLiteError) in
            try setUp(connection)
            // A folder that cannot be written to shows here.
            try connection.begin(.immediate)
        }
        // The process before this one may have died of a disk that failed.
        try file.rewriteLog()
        try translated { () throws(SQLiteError) in try connection.rollback() }
        if !schema.pending.isEmpty {
            if schema.version > 0 { try backUp(connection, version: schema.version) }
            try translated { () throws(SQLiteError) in
                try schema.applyPending(on: connection, at: configuration.clock.now())
            }
        }
        try translated { () throws(SQLiteError) in
            try connection.setCheckpointOnClose(true)
            try connection.execute("PRAGMA busy_timeout = \(Self.writerBusyMilliseconds)")
        }
        return (connection, schema.version == 0)
    }

    /// Opens the database again after its connection was given up.
    ///
    /// It was accepted before.
    func reopen() throws(StoreError) -> SQLiteConnection {
        try file.checkFileSystemIsWritable()
        let connection = try connect(.readWrite, busyMilliseconds: Self.writerBusyMilliseconds)
        try checkIsWritable(connection)
        try translated { () throws(SQLiteError) in try setUp(connection) }
        return connection
    }

    /// Opens a database that is this program's and up to date, for reading: waits for nobody who writes.
    func openAccepted() throws(StoreError) -> SQLiteConnection {
        try file.checkFileSystemIsWritable()
        let connection = try connect(.readOnly, busyMilliseconds: 2000)
        guard try inspect(connection).pending.isEmpty else {
            throw StoreError(.incompatible, "\(file.path) is of an older version; start the service once")
        }
        return connection
    }

    func openReader() throws(SQLiteError) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: file.path, access: .readOnly, busyMilliseconds: 250)
        // The upper pages, which every look passes, and no more: the operating system keeps the rest. Four times as
        // much, or mapping the file into memory, made checks on two million live clicks no faster.
        try connection.execute("PRAGMA cache_size = -16384")
        try connection.execute("PRAGMA query_only = ON")
        return connection
    }

    /// Short: the writer asks again, and who waits too long is answered by the watchdog meanwhile.
    static let writerBusyMilliseconds: Int32 = 100

    /// SQLite opens a file for reading where it cannot be opened for writing.
    private func checkIsWritable(_ connection: SQLiteConnection) throws(StoreError) {
        guard connection.isReadOnly else { return }
        throw StoreError(.readOnly, "\(file.path) cannot be written to; check its mode and its owner")
    }

    private func setUp(_ connection: SQLiteConnection) throws(SQLiteError) {
        let mode = try connection.prepare("PRAGMA journal_mode = WAL").first { $0.text(0) }
        guard mode == "wal" else { throw .corrupt("switching to a write-ahead log") }
        switch configuration.durability {
        case .full: try connection.execute("PRAGMA synchronous = FULL")
        case .relaxed: try connection.execute("PRAGMA synchronous = NORMAL")
        }
        try connection.execute("PRAGMA foreign_keys = ON")
        // Checkpoints are for the background thread: never in somebody's commit.
        try connection.execute("PRAGMA journal_size_limit = \(CheckpointPolicy.limitBytes)")
        // Deleted content is overwritten wherever that costs no additional write.
        try connection.execute("PRAGMA secure_delete = FAST")
        // Not more: a commit after a page was split looks at every page in the cache, because SQLite numbers pages
        // anew by way of the one at 1 GiB (sqlite.org/fileformat2.html, 1.3.8). The system keeps the rest.
        try connection.execute("PRAGMA cache_size = -4096")
        try connection.execute("PRAGMA temp_store = MEMORY")
        if let pages = configuration.pageLimit { try connection.execute("PRAGMA max_page_count = \(pages)") }
    }

    /// Checks that the database is ours, and reads its schema.
    func inspect(_ connection: SQLiteConnection) throws(StoreError) -> SchemaState {
        let (application, tables) = try translated { () throws(SQLiteError) in
            // A page whose cells lie is not read as if they did not.
            try connection.execute("PRAGMA cell_size_check = ON")
            return (
                try connection.integer("PRAGMA application_id"),
                try connection.integer("SELECT count(*) FROM sqlite_schema")
            )
        }
        guard application == Self.applicationID || (application == 0 && tables == 0) else {
            throw StoreError(
                .incompatible,
                "\(file.path) is the database of another program; give another path"
            )
        }
        // Costs time on each page that is read; where it cannot be switched off, it does no harm.
        defer { try? connection.execute("PRAGMA cell_size_check = OFF") }
        return try SchemaState(of: connection, path: file.path, migrations: migrations)
    }

    private func backUp(_ connection: SQLiteConnection, version: Int64) throws(StoreError) {
        let path = try file.createBackupFile(version: version, at: configuration.clock.now())
        try translated { () throws(SQLiteError) in try connection.copy(into: path) }
        try file.sync(path)
        configuration.log.write(.information, "database: copied to \(path) before it is brought up to date")
    }

    func connect(_ access: SQLiteConnection.Access, busyMilliseconds: Int32) throws(StoreError)
        -> SQLiteConnection
    {
        try translated { () throws(SQLiteError) in
            try SQLiteConnection(path: file.path, access: access, busyMilliseconds: busyMilliseconds)
        }
    }

    /// Names the file in what an operator reads at start.
    func translated<Result>(_ body: () throws(SQLiteError) -> Result) throws(StoreError) -> Result {
        do throws(SQLiteError) {
            return try body()
        } catch {
            let cause = StoreError(error)
            throw StoreError(cause.code, "\(file.path): \(cause.explanation)")
        }
    }

    private func plan(applied: [Migration], pending: [Migration], backupPath: String?) -> MigrationPlan {
        MigrationPlan(
            applied: applied.map(\.name),
            pending: pending.map(\.name),
            backupPath: backupPath
        )
    }
}
