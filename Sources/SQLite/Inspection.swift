/// Reads properties of a connection's database.
extension SQLiteConnection {
    /// Returns the first column of the only row, for pragmas and counts.
    public func integer(_ sql: SQL) throws(SQLiteError) -> Int64 {
        try statement(sql).first { $0.integer(0) } ?? 0
    }

    /// Returns a number that changes whenever another connection has committed since the last call.
    public func dataVersion() throws(SQLiteError) -> Int64 { try integer("PRAGMA data_version") }

    /// Returns the size of the database file in bytes in this connection's snapshot, without the log.
    public func databaseByteCount() throws(SQLiteError) -> Int64 {
        try integer("PRAGMA page_count") * integer("PRAGMA page_size")
    }

    /// Copies a snapshot of the database to `path`, a file that is empty or does not exist.
    ///
    /// The caller must sync the copy to disk.
    public func copy(into path: String) throws(SQLiteError) { try prepare("VACUUM INTO ?").run(path) }

    /// Returns SQLite's plan for a statement, a line for each table that it reads (sqlite.org/eqp.html).
    public func queryPlan(of sql: SQL) throws(SQLiteError) -> [String] {
        let plan = try prepare(text: "EXPLAIN QUERY PLAN " + sql.description)
        defer { plan.reset() }
        var lines: [String] = []
        while try plan.step() { lines.append(plan.text(3)) }
        return lines
    }
}
