internal import CSQLite

/// A prepared statement: compiled once, run many times.
///
/// It belongs to its connection's thread.
///
/// Safe to use, because the pointer is valid from `init` to `deinit`, and SQLite frees a closed connection
/// only after its last statement (`sqlite3_close_v2`).
@safe public final class Statement {
    private let pointer: OpaquePointer
    private let confinement: ThreadConfinement

    /// Compiles `sql`, which contains one statement.
    init(
        _ sql: UnsafeBufferPointer<UInt8>,
        on connection: OpaquePointer,
        confinement: ThreadConfinement
    ) throws(SQLiteError) {
        confinement.check()
        var pointer: OpaquePointer?
        // The text is valid during the call, and SQLite reads at most `count` bytes of it.
        let status = unsafe sql.withMemoryRebound(to: CChar.self) { text in
            unsafe sqlite3_prepare_v3(
                connection,
                text.baseAddress,
                Int32(text.count),
                UInt32(SQLITE_PREPARE_PERSISTENT),
                &pointer,
                nil
            )
        }
        guard status == SQLITE_OK, let pointer = unsafe pointer
        else { throw unsafe SQLiteError(status, on: connection, context: "preparing a statement") }
        unsafe self.pointer = pointer
        self.confinement = confinement
    }

    deinit {
        // The statement was created in `init` and is not used again.
        unsafe sqlite3_finalize(pointer)
    }

    /// Moves to the next row; returns false if there is none.
    public func step() throws(SQLiteError) -> Bool {
        confinement.check()
        // The statement is open.
        let status = unsafe sqlite3_step(pointer)
        switch status {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            // Read the error before the reset, which preserves only its code.
            let connection = unsafe sqlite3_db_handle(pointer)
            let error = unsafe SQLiteError(status, on: connection, context: "running a statement")
            reset()
            throw error
        }
    }

    /// Prepares the statement to run again, and releases its rows.
    ///
    /// Bound values remain until they are bound again.
    public func reset() {
        confinement.check()
        // The statement is open; the status repeats the error of the last step, which has been handled.
        _ = unsafe sqlite3_reset(pointer)
    }

    func check(_ status: Int32) throws(SQLiteError) {
        guard status != SQLITE_OK else { return }
        // The statement and its connection are open.
        throw unsafe SQLiteError(status, on: sqlite3_db_handle(pointer), context: "binding a value")
    }
}

/// Binds values; the first parameter is 1.
extension Statement {
    public func bindInteger(_ value: Int64, at index: Int32) throws(SQLiteError) {
        // The statement is open; SQLite returns an error for a wrong index.
        try check(unsafe sqlite3_bind_int64(pointer, index, value))
    }

    public func bindReal(_ value: Double, at index: Int32) throws(SQLiteError) {
        // The statement is open; SQLite returns an error for a wrong index.
        try check(unsafe sqlite3_bind_double(pointer, index, value))
    }

    public func bindNull(at index: Int32) throws(SQLiteError) {
        // The statement is open; SQLite returns an error for a wrong index.
        try check(unsafe sqlite3_bind_null(pointer, index))
    }

    public func bindText(_ value: String, at index: Int32) throws(SQLiteError) {
        var value = value
        // SQLite copies the bytes before the call returns.
        let status = value.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { text in
                unsafe afterlink_bind_text(pointer, index, text.baseAddress, text.count)
            }
        }
        try check(status)
    }

    public func bindBlob(_ value: [UInt8], at index: Int32) throws(SQLiteError) {
        // SQLite copies the bytes before the call returns. An empty array has an address too, so it is not NULL.
        let status = unsafe value.withUnsafeBufferPointer { bytes in
            unsafe afterlink_bind_blob(pointer, index, bytes.baseAddress, bytes.count)
        }
        try check(status)
    }

    /// The number of times that SQLite has compiled the statement again since it was prepared.
    public var recompilationCount: Int32 {
        // The statement is open; 0 does not reset the count.
        unsafe sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_REPREPARE, 0)
    }

    /// The number of parameters.
    @usableFromInline
    var parameterCount: Int32 {
        // The statement is open.
        unsafe sqlite3_bind_parameter_count(pointer)
    }
}

/// Reads the row that ``step()`` moved to; the first column is 0.
extension Statement {
    public func integer(_ column: Int32) -> Int64 {
        // The statement is open; a wrong column reads as NULL, which is 0.
        unsafe sqlite3_column_int64(pointer, column)
    }

    public func real(_ column: Int32) -> Double {
        // The statement is open; a wrong column reads as NULL, which is 0.
        unsafe sqlite3_column_double(pointer, column)
    }

    public func isNull(_ column: Int32) -> Bool {
        // The statement is open.
        unsafe sqlite3_column_type(pointer, column) == SQLITE_NULL
    }

    /// Returns whether the column has this name.
    public func isColumn(_ column: Int32, named name: StaticString) -> Bool {
        // The name is valid until the statement is compiled again, and a literal's bytes are constant; both
        // end with a zero.
        unsafe name.utf8Start.withMemoryRebound(to: CChar.self, capacity: name.utf8CodeUnitCount + 1) {
            name in
            unsafe sqlite3_stricmp(sqlite3_column_name(pointer, column), name) == 0
        }
    }

    /// Returns the text of the column; empty for NULL.
    ///
    /// Bytes that are not UTF-8 are replaced.
    public func text(_ column: Int32) -> String {
        // The text is valid until the next step or reset; its length must be read after its address.
        guard let start = unsafe sqlite3_column_text(pointer, column) else { return "" }
        let count = unsafe Int(sqlite3_column_bytes(pointer, column))
        // SQLite returned `count` bytes at `start`.
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    public func bytes(_ column: Int32) -> [UInt8] {
        // The bytes are valid until the next step or reset; their number must be read after their address.
        guard let start = unsafe sqlite3_column_blob(pointer, column) else { return [] }
        let count = unsafe Int(sqlite3_column_bytes(pointer, column))
        // SQLite returned `count` bytes at `start`.
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    @inlinable
    public func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    @inlinable
    public func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    @inlinable
    public func optionalReal(_ column: Int32) -> Double? { isNull(column) ? nil : real(column) }
}

/// Runs a statement completely, from binding its values to its reset.
extension Statement {
    /// Binds all parameters in order.
    @inlinable
    public func bind<each Value: Bindable>(_ values: repeat each Value) throws(SQLiteError) {
        var index: Int32 = 0
        for value in repeat each values {
            index += 1
            try value.bind(to: self, at: index)
        }
        assert(index == parameterCount, "there are as many values as parameters")
    }

    /// Runs the statement to its end and ignores its rows.
    @inlinable
    public func run<each Value: Bindable>(_ values: repeat each Value) throws(SQLiteError) {
        try bind(repeat each values)
        while try step() {}
        reset()
    }

    /// Returns the result of `read` for the first row; nil if there is none.
    @inlinable
    public func first<each Value: Bindable, Result>(
        _ values: repeat each Value,
        read: (Statement) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result? {
        try bind(repeat each values)
        defer { reset() }
        return try step() ? read(self) : nil
    }

    /// Returns the results of `read` for all rows.
    @inlinable
    public func all<each Value: Bindable, Result>(
        _ values: repeat each Value,
        read: (Statement) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> [Result] {
        var results: [Result] = []
        try forEach(repeat each values) { row throws(SQLiteError) in results.append(try read(row)) }
        return results
    }

    @inlinable
    public func forEach<each Value: Bindable>(
        _ values: repeat each Value,
        do body: (Statement) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        try bind(repeat each values)
        defer { reset() }
        while try step() { try body(self) }
    }
}

/// A value that can replace a `?` in SQL.
public protocol Bindable {
    /// Binds the value to the parameter with this number; the first is 1.
    func bind(to statement: Statement, at index: Int32) throws(SQLiteError)
}

extension Int64: Bindable {
    @inlinable
    public func bind(to statement: Statement, at index: Int32) throws(SQLiteError) {
        try statement.bindInteger(self, at: index)
    }
}

extension Int: Bindable {
    @inlinable
    public func bind(to statement: Statement, at index: Int32) throws(SQLiteError) {
        try statement.bindInteger(Int64(self), at: index)
    }
}

/// SQLite stores the signed integer of the same 64 bits.
extension UInt64: Bindable {
    @inlinable
    public func bind(to statement: Statement, at index: Int32) throws(SQLiteError) {
        try statement.bindInteger(Int64(bitPattern: self), at: index)
    }
}

/// SQLite stores 0 or 1.
extension Bool: Bindable {
    @inlinable
    public func bind(to statement: Statement, at index: Int32) throws(SQLiteError) {
        try statement.bindInteger(self ? 1 : 0, at: index)
    }
}

extension Double: Bindable {
    @inlinable
    public func bind(to statement: Statement, at index: Int32) throws(SQLiteError) {
        try statement.bindReal(self, at: index)
    }
}

extension String: Bindable {
    @inlinable
    public func bind(to statement: Statement, at index: Int32) throws(SQLiteError) {
        try statement.bindText(self, at: index)
    }
}

extension [UInt8]: Bindable {
    @inlinable
    public func bind(to statement: Statement, at index: Int32) throws(SQLiteError) {
        try statement.bindBlob(self, at: index)
    }
}

extension Optional: Bindable where Wrapped: Bindable {
    @inlinable
    public func bind(to statement: Statement, at index: Int32) throws(SQLiteError) {
        switch self {
        case .some(let value): try value.bind(to: statement, at: index)
        case .none: try statement.bindNull(at: index)
        }
    }
}
