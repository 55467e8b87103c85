/// What a connection can tell about its database.
extension SQLiteConnection {
    /// The first column of the only row: for pragmas and counts.
    public func integer(_ sql: SQL) throws(SQLiteError) -> Int64 {
        try statement(sql).first { $0.integer(0) } ?? 0
    }

    /// Changes whenever another connection has committed since this one last asked.
    public func dataVersion() throws(SQLiteError) -> Int64 {
        try integer("PRAGMA data_version")
    }

    /// Bytes of the database file as this connection's snapshot sees it, without the log.
    public func databaseByteCount() throws(SQLiteError) -> Int64 {
        try integer("PRAGMA page_count") * integer("PRAGMA page_size")
    }

    /// Copies the database, as one snapshot, into `path`: a file that is empty or does not exist.
    ///
    /// The copy is not synced to disk; that is left to the caller.
    public func copy(into path: String) throws(SQLiteError) {
        try prepare("VACUUM INTO ?").run(path)
    }

    /// How SQLite goes about a statement, a line for each table it reads (sqlite.org/eqp.html).
    public func queryPlan(of sql: SQL) throws(SQLiteError) -> [String] {
        let plan = try prepare(text: "EXPLAIN QUERY PLAN " + sql.description)
        defer { plan.reset() }
        var lines: [String] = []
        while try plan.step() { lines.append(plan.text(3)) }
        return lines
    }
}
