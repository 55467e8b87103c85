/// Reads properties of a connection's database.
extension SQLiteConnection {
    /// Returns the first column of the first row, for pragmas and counts; 0 for NULL or without a row.
    public func integer(_ sql: SQL) throws(SQLiteError) -> Int64 {
        try statement(sql).first { $0.integer(0) } ?? 0
    }

    /// Returns the total size in bytes of the pages in this connection's snapshot, whether they are in the
    /// file or the log.
    public func databaseByteCount() throws(SQLiteError) -> Int64 {
        try integer("PRAGMA page_count") * integer("PRAGMA page_size")
    }

    /// Copies a snapshot of the database to `path`, a file that is empty or does not exist.
    ///
    /// The caller must sync the copy to disk.
    public func copy(into path: String) throws(SQLiteError) { try prepare("VACUUM INTO ?").run(path) }

    /// Returns the problems that SQLite's own check of the database finds, at most a hundred lines
    /// (sqlite.org/pragma.html#pragma_integrity_check).
    ///
    /// A thorough check also compares each index with its table. Corruption is returned and not thrown.
    public func integrityProblems(isThorough: Bool) throws(SQLiteError) -> [String] {
        try execute("PRAGMA cell_size_check = ON")
        let statement = try prepare(isThorough ? "PRAGMA integrity_check" : "PRAGMA quick_check")
        var lines: [String] = []
        do throws(SQLiteError) {
            while try statement.step() { lines.append(statement.text(0)) }
        } catch {
            // Corruption stopped the check, so report the error as a problem.
            guard error.code == .corrupt || error.code == .notADatabase else { throw error }
            lines.append(error.message)
        }
        statement.reset()
        return lines.filter { $0 != "ok" }
    }
}
