import CSQLite

/// A SQLite database by its C API, without anything between: a yardstick, and the fastest way to store much.
///
/// Safe to use, because the pointer is live from `init` to `deinit`; belongs to one thread.
@safe final class PlainDatabase {
    private let pointer: OpaquePointer

    init(_ path: String) throws {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        // The path is valid for the length of the call; SQLite stores a connection even where it fails.
        let status = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard status == SQLITE_OK, let pointer = unsafe opened else {
            // Closed once and never used again; nil is allowed.
            unsafe sqlite3_close_v2(opened)
            throw BenchmarkError("\(path) cannot be opened: SQLite says \(status).")
        }
        unsafe self.pointer = pointer
    }

    deinit {
        // Opened in `init` and used no more.
        unsafe sqlite3_close_v2(pointer)
    }

    func execute(_ sql: String) throws(BenchmarkError) {
        // The text is valid for the length of the call; no callback and no message is asked for.
        let status = unsafe sqlite3_exec(pointer, sql, nil, nil, nil)
        guard status == SQLITE_OK else { throw failure(status, sql) }
    }

    func prepare(_ sql: String) throws(BenchmarkError) -> PlainStatement {
        var statement: OpaquePointer?
        // The text is valid for the length of the call, and its end is where its zero is.
        let status = unsafe sqlite3_prepare_v2(pointer, sql, -1, &statement, nil)
        guard status == SQLITE_OK, let prepared = unsafe statement else { throw failure(status, sql) }
        return unsafe PlainStatement(prepared, of: self)
    }

    /// All rows of a query.
    func rows(_ sql: String) throws(BenchmarkError) -> [[PlainValue]] {
        let statement = try prepare(sql)
        var rows: [[PlainValue]] = []
        while try statement.step() { rows.append(statement.values()) }
        return rows
    }

    /// The first column of the first row; 0 when there is none.
    func integer(_ sql: String) throws(BenchmarkError) -> Int64 {
        guard case .integer(let value) = try rows(sql).first?.first else { return 0 }
        return value
    }

    /// Refuses a table that has other columns than these: what is written to it by name would not be all of it.
    func require(_ columns: [String], of table: String) throws(BenchmarkError) {
        let found = try rows("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid").compactMap(
            \.first
        )
        guard found == columns.map({ PlainValue.text($0) }) else {
            throw BenchmarkError("The table \(table) has other columns now: tell the benchmark's Storage.")
        }
    }

    func failure(_ status: Int32, _ action: String) -> BenchmarkError {
        // The message is valid until the next call on this connection.
        let message = unsafe sqlite3_errmsg(pointer).map { unsafe String(cString: $0) } ?? ""
        return BenchmarkError("SQLite refused with \(status), \(message): \(action.prefix(200))")
    }
}
