internal import SQLite

/// SQLite's own comparison of a database with itself (sqlite.org/pragma.html#pragma_integrity_check).
extension SQLiteReader {
    /// What it found, in SQLite's words and at most a hundred; empty when all is well.
    func integrityProblems(isThorough: Bool) throws(SQLiteError) -> [String] {
        try connection.execute("PRAGMA cell_size_check = ON")
        let statement = try connection.prepare(isThorough ? "PRAGMA integrity_check" : "PRAGMA quick_check")
        var lines: [String] = []
        do throws(SQLiteError) {
            while try statement.step() { lines.append(statement.text(0)) }
        } catch {
            // Where it cannot even go on, that is the finding.
            guard error.code == .corrupt || error.code == .notADatabase else { throw error }
            lines.append(error.message)
        }
        statement.reset()
        return lines == ["ok"] ? [] : lines.filter { $0 != "ok" }
    }
}
