/// Opens connections with the settings for their purpose.
extension SQLiteConnection {
    /// Switches to a write-ahead log, and applies the settings of a writing connection.
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
        // SQLite truncates the log to this size when it resets the log. Commits do not copy the log into the database,
        // because the connection's hook replaces SQLite's automatic checkpoint.
        try execute("PRAGMA journal_size_limit = \(CheckpointPolicy.limitBytes)")
        // Overwrites deleted content, also in pages that become free, so that an erasure leaves nothing of a row.
        try execute("PRAGMA secure_delete = ON")
        // 4 MiB and not more. When SQLite splits a page of a tree, it renumbers pages by way of the number of the page
        // at 1 GiB (sqlite.org/fileformat2.html, 1.3.8). The commit then searches every page in the cache. The
        // operating system caches the rest.
        try execute("PRAGMA cache_size = -4096")
        try execute("PRAGMA temp_store = MEMORY")
        if let pageLimit { try execute("PRAGMA max_page_count = \(pageLimit)") }
    }

    /// Opens a database for the reads of one thread.
    public static func reader(path: String) throws(SQLiteError) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path, access: .readOnly, busyMilliseconds: 250)
        // 16 MiB, enough for the upper pages of the trees, which every query reads; the operating system
        // caches the rest. Four times as much, or mapping the file into memory, made the matching of first
        // launches with two million live clicks no faster.
        try connection.execute("PRAGMA cache_size = -16384")
        try connection.execute("PRAGMA query_only = ON")
        return connection
    }

    /// Opens a database to examine it without changes, even while other processes use it.
    public static func examiner(of file: DatabaseFile) throws(SQLiteError) -> SQLiteConnection {
        // If the log has content, leave it to the next writer. If not, open for writing, so that SQLite
        // deletes the files that it creates beside the database.
        let hasLog = DatabaseFile.byteCount(file.logPath) > 0
        do throws(SQLiteError) {
            return try examiner(of: file, hasLog ? .readOnly : .readWrite)
        } catch {
            // This process cannot create files in the folder; no process is likely to write to such a database.
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
        // SQLite opens the file and the files beside it only at the first read.
        _ = try connection.integer("PRAGMA schema_version")
        return connection
    }

    /// Sets whether SQLite verifies the structure of each page that it reads, which takes time.
    public func checkCells(_ isOn: Bool) throws(SQLiteError) {
        try execute("PRAGMA cell_size_check = \(isOn ? "ON" : "OFF")")
    }
}
