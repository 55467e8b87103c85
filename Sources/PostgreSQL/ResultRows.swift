#if PostgreSQL
internal import CLibPQ

/// The rows that a statement returned, which are read in libpq's memory.
///
/// Safe to use, because the pointer is valid from `init` to `deinit`, and libpq checks rows and columns. Sendable,
/// because a result does not change after its creation, and several threads may read it (libpq's manual, "Behavior in
/// Threaded Programs").
@safe public final class ResultRows: @unchecked Sendable {
    private let pointer: OpaquePointer
    public let count: Int

    /// Takes ownership of a result of libpq.
    init(_ pointer: OpaquePointer) {
        unsafe self.pointer = pointer
        // The result is valid.
        count = unsafe Int(PQntuples(pointer))
    }

    deinit {
        // The result belongs to this object, which does not use it again.
        unsafe PQclear(pointer)
    }

    /// The command tag: the statement's keyword and its count of rows, such as `UPDATE 1`.
    var commandTag: String {
        // The text belongs to the result, which is valid.
        unsafe String(cString: PQcmdStatus(pointer))
    }

    /// The number of rows that the statement inserted, changed, deleted or returned.
    public var affectedCount: Int {
        // The text belongs to the result, which is valid; it is empty for a statement without a count.
        unsafe Int(String(cString: PQcmdTuples(pointer))) ?? 0
    }

    /// Returns whether the column has this name; false for a column that does not exist.
    public func isColumn(_ column: Int, named name: StaticString) -> Bool {
        // libpq returns NULL for a column that does not exist, else a text that belongs to the result.
        guard let found = unsafe PQfname(pointer, Int32(clamping: column)) else { return false }
        // A literal's bytes are constant and end with a zero.
        return unsafe strcmp(found, UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)) == 0
    }

    /// Returns a value; rows and columns count from 0.
    ///
    /// - Throws: `unexpectedValue` for another type, for NULL if `Value` is not optional, and for a row or column that
    ///   does not exist.
    public func value<Value: PostgreSQLValue>(
        _ row: Int,
        _ column: Int,
        as _: Value.Type = Value.self
    ) throws(PostgreSQLError) -> Value {
        let (row, column) = (Int32(clamping: row), Int32(clamping: column))
        // libpq returns 1 for a row or a column that does not exist.
        if unsafe PQgetisnull(pointer, row, column) != 0 {
            let exists = unsafe row >= 0 && row < count && column >= 0 && column < PQnfields(pointer)
            guard exists, let null = Value.null else { throw Self.unexpected(column, "no value") }
            return null
        }
        // The row and the column exist, because the value is not NULL.
        let type = unsafe TypeID(rawValue: PQftype(pointer, column))
        // libpq returns the address and the length of the field in the result.
        let bytes = unsafe UnsafeRawBufferPointer(
            start: PQgetvalue(pointer, row, column),
            count: Int(PQgetlength(pointer, row, column))
        ).bindMemory(to: UInt8.self)
        // This object outlives the call, which keeps no reference to the bytes.
        guard let value = unsafe Value(Span(_unsafeElements: bytes), type: type) else {
            throw Self.unexpected(column, "a value of the type \(type.rawValue)")
        }
        return value
    }

    private static func unexpected(_ column: Int32, _ what: String) -> PostgreSQLError {
        PostgreSQLError(
            .unexpectedValue,
            "Column \(column) of a result has \(what), which this program never stores."
        )
    }
}

#endif
