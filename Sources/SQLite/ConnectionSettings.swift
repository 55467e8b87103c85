/// Connections with the settings of their use.
extension SQLiteConnection {
    /// Switches to a write-ahead log, and sets what a writing connection needs.
    ///
    /// - Parameters:
    ///   - syncsCommits: whether each commit is synced to disk before it returns.
    ///   - pageLimit: the maximum size of the database in pages; nil for no limit.
    /// - Throws: `corrupt` if the database stays in another journal mode.
    public func prepareForWriting(syncsCommits: Bool, pageLimit: Int64?) throws(SQLiteError) {
        let mode = try prepare("PRAGMA journal_mode = WAL").first { $0.text(0) }
        guard mode == "wal" else { throw .corrupt("switching to a write-ahead log") }
        try execute("PRAGMA synchronous = \(syncsCommits ? "FULL" : "NORMAL")")
        try execute("PRAGMA foreign_keys = ON")
        // A background thread copies the log; a commit never does.
        try execute("PRAGMA journal_size_limit = \(CheckpointPolicy.limitBytes)")
        // Overwrites deleted content wherever that costs no additional write.
        try execute("PRAGMA secure_delete = FAST")
        // Not more: a commit after a page was split searches every page in the cache, because SQLite renumbers pages
        // by way of the one at 1 GiB (sqlite.org/fileformat2.html, 1.3.8). The operating system caches the rest.
        try execute("PRAGMA cache_size = -4096")
        try execute("PRAGMA temp_store = MEMORY")
        if let pageLimit { try execute("PRAGMA max_page_count = \(pageLimit)") }
    }

    /// Opens a database for the reads of one thread.
    public static func reader(path: String) throws(SQLiteError) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path, access: .readOnly, busyMilliseconds: 250)
        // The upper pages, which every query passes, and no more: the operating system caches the rest. Four times as
        // much, or mapping the file into memory, made checks on two million live clicks no faster.
        try connection.execute("PRAGMA cache_size = -16384")
        try connection.execute("PRAGMA query_only = ON")
        return connection
    }

    /// Opens a database to examine it, and changes nothing, whether other processes use it or not.
    public static func examiner(of file: DatabaseFile) throws(SQLiteError) -> SQLiteConnection {
        // The next writer copies a log that has content. Without one, the connection may write, so that SQLite deletes
        // the files that it creates beside the database.
        let hasLog = DatabaseFile.byteCount(file.logPath) > 0
        do throws(SQLiteError) {
            return try examiner(of: file, hasLog ? .readOnly : .readWrite)
        } catch {
            // No file can be created in the folder; then no other process writes to the database either.
            guard !hasLog, error.code == .cannotOpen || error.code == .readOnly else { throw error }
            return try examiner(of: file, .immutable)
        }
    }

    private static func examiner(of file: DatabaseFile, _ access: Access) throws(SQLiteError)
        -> SQLiteConnection
    {
        let connection = try SQLiteConnection(path: file.path, access: access, busyMilliseconds: 5000)
        try connection.execute("PRAGMA query_only = ON")
        try connection.checkCells(true)
        // Opens the file and the files beside it, which SQLite delays.
        _ = try connection.integer("PRAGMA schema_version")
        return connection
    }

    /// Sets whether SQLite verifies the structure of each page that it reads, which takes time.
    public func checkCells(_ isOn: Bool) throws(SQLiteError) {
        try execute("PRAGMA cell_size_check = \(isOn ? "ON" : "OFF")")
    }
}
