import CSQLite

/// A value of a column.
enum PlainValue: Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

/// A compiled statement of a ``PlainDatabase``.
///
/// Safe to use, because the pointer is live from `init` to `deinit`; keeps its database open.
@safe final class PlainStatement {
    private let pointer: OpaquePointer
    private let database: PlainDatabase

    init(_ pointer: OpaquePointer, of database: PlainDatabase) {
        unsafe self.pointer = pointer
        self.database = database
    }

    deinit {
        // Compiled for this value and used no more.
        unsafe sqlite3_finalize(pointer)
    }

    /// Binds a parameter, the first of which is 1; what is bound stays bound.
    func bind(_ value: PlainValue, at index: Int32) {
        // The statement is live, SQLite copies texts and blobs, and a wrong index is answered with an error that
        // shows as a row of NULLs, which the tables refuse.
        switch value {
        case .null: _ = unsafe sqlite3_bind_null(pointer, index)
        case .integer(let number): bind(number, at: index)
        case .real(let number): _ = unsafe sqlite3_bind_double(pointer, index, number)
        case .text(var text):
            _ = text.withUTF8 { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) {
                    unsafe afterlink_bind_text(pointer, index, $0.baseAddress, $0.count)
                }
            }
        case .blob(let bytes):
            _ = unsafe bytes.withUnsafeBufferPointer {
                unsafe afterlink_bind_blob(pointer, index, $0.baseAddress, $0.count)
            }
        }
    }

    @inline(__always)
    func bind(_ number: Int64, at index: Int32) {
        // The statement is live; as above.
        unsafe sqlite3_bind_int64(pointer, index, number)
    }

    /// Binds two words as 16 bytes, the lowest of each first: a keyed hash as a click keeps it.
    func bind(_ first: Int64, _ second: Int64, at index: Int32) {
        var bytes = (first.littleEndian, second.littleEndian)
        // The statement is live, and SQLite copies the 16 bytes.
        unsafe withUnsafeBytes(of: &bytes) {
            _ = unsafe afterlink_bind_blob(pointer, index, $0.baseAddress, $0.count)
        }
    }

    /// Binds the lowest four bytes of a word, the lowest first: a fingerprint's mark in a row of addresses.
    func bindMark(_ word: Int64, at index: Int32) {
        var bytes = UInt32(truncatingIfNeeded: word).littleEndian
        // The statement is live, and SQLite copies the four bytes.
        unsafe withUnsafeBytes(of: &bytes) {
            _ = unsafe afterlink_bind_blob(pointer, index, $0.baseAddress, $0.count)
        }
    }

    /// Moves to the next row; false when there is none.
    func step() throws(BenchmarkError) -> Bool {
        // The statement is live.
        let status = unsafe sqlite3_step(pointer)
        if status == SQLITE_ROW { return true }
        guard status == SQLITE_DONE else { throw database.failure(status, "running a statement") }
        // The status repeats that of the step.
        _ = unsafe sqlite3_reset(pointer)
        return false
    }

    /// Runs to the end.
    @inline(__always)
    func run() throws(BenchmarkError) {
        while try step() {}
    }

    /// The row that ``step()`` moved to.
    func values() -> [PlainValue] {
        // The statement is live and on a row.
        let count = unsafe sqlite3_column_count(pointer)
        return (0..<count).map(value)
    }

    private func value(_ column: Int32) -> PlainValue {
        // The statement is live and on a row; addresses are used before the next step, for as many bytes as told.
        switch unsafe sqlite3_column_type(pointer, column) {
        case SQLITE_INTEGER: return .integer(unsafe sqlite3_column_int64(pointer, column))
        case SQLITE_FLOAT: return .real(unsafe sqlite3_column_double(pointer, column))
        case SQLITE_NULL: return .null
        case let type:
            let start = unsafe sqlite3_column_blob(pointer, column)
            let count = unsafe Int(sqlite3_column_bytes(pointer, column))
            let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
            return type == SQLITE_TEXT ? .text(String(decoding: bytes, as: UTF8.self)) : .blob(bytes)
        }
    }
}
