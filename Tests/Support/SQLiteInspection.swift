public import SQLite

/// Values that only tests read from a connection's database.
extension SQLiteConnection {
    /// Returns a number that changes whenever another connection has committed since the last call.
    public func dataVersion() throws(SQLiteError) -> Int64 { try integer("PRAGMA data_version") }

    /// Returns SQLite's plan for a statement, a line for each table that it reads (sqlite.org/eqp.html).
    public func queryPlan(of sql: SQL) throws(SQLiteError) -> [String] {
        try prepare(text: "EXPLAIN QUERY PLAN " + sql.description).all { $0.text(3) }
    }
}

/// Lets the text of a statement contain a case, as the number that the database stores for it.
extension DefaultStringInterpolation {
    /// Appends the raw value.
    public mutating func appendInterpolation(_ code: some RawRepresentable<Int64> & CaseIterable) {
        appendLiteral(String(code.rawValue))
    }
}
