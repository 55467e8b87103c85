internal import CSQLite

/// An error of an SQLite call, or of the files of a database.
///
/// It never contains bound values.
public struct SQLiteError: Error, Equatable, Sendable {
    public let code: ResultCode
    /// SQLite's extended code, which has more detail (`SQLITE_IOERR_FSYNC`).
    public let extendedCode: Int32
    /// The operating system's error number; 0 if there is none.
    public let systemError: Int32
    /// SQLite's message, or the message of a refusal.
    public let message: String
    /// The operation that failed; empty for a refusal.
    public let context: String
    /// Whether this program refused the operation, and not SQLite; ``message`` is then a sentence for the operator.
    public private(set) var isRefusal = false
    /// The file to name in the operator's message; nil for a refusal, and until ``naming(_:)`` sets it.
    public private(set) var path: String?

    public init(extendedCode: Int32, systemError: Int32 = 0, message: String, context: String) {
        code = ResultCode(extendedCode)
        (self.extendedCode, self.systemError) = (extendedCode, systemError)
        (self.message, self.context) = (message, context)
    }

    /// Returns an error whose message is a sentence for the operator.
    public static func refused(_ code: ResultCode, _ message: String) -> SQLiteError {
        var error = SQLiteError(extendedCode: code.rawValue, message: message, context: "")
        error.isRefusal = true
        return error
    }

    /// Returns the error with the file of the operation; a refusal names its file already.
    public func naming(_ path: String) -> SQLiteError {
        guard !isRefusal else { return self }
        var error = self
        error.path = path
        return error
    }

    /// Whether a unique index or a primary key rejected the row.
    public var isUniqueViolation: Bool {
        extendedCode == afterlink_constraint_unique || extendedCode == afterlink_constraint_primary_key
            || extendedCode == afterlink_constraint_rowid
    }

    /// Creates the error that `connection` reports for its last call.
    init(_ status: Int32, on connection: OpaquePointer?, context: String) {
        // The connection is open or nil, for which SQLite returns "out of memory".
        let message = unsafe sqlite3_errmsg(connection)
        // The text ends with a zero, and is valid until the next call on the connection.
        let text = unsafe message.map { unsafe String(cString: $0) } ?? ""
        // The call only reads a field of the open connection.
        let systemError = unsafe connection.map { unsafe sqlite3_system_errno($0) } ?? 0
        self.init(extendedCode: status, systemError: systemError, message: text, context: context)
    }

    /// Returns the error for a stored value that this program cannot have written; `context` is the operation.
    public static func corrupt(_ context: String) -> SQLiteError {
        let message = "this program cannot have written the stored value"
        return SQLiteError(extendedCode: SQLITE_CORRUPT, message: message, context: context)
    }
}

/// A primary result code of SQLite (sqlite.org/rescode.html).
public struct ResultCode: Hashable, Sendable {
    public let rawValue: Int32

    /// Creates the primary code of any code, including extended ones.
    public init(_ code: Int32) { rawValue = code & 0xff }

    /// The SQL or its use is wrong.
    public static let error = ResultCode(SQLITE_ERROR)
    /// Another connection has the lock.
    public static let busy = ResultCode(SQLITE_BUSY)
    public static let locked = ResultCode(SQLITE_LOCKED)
    public static let outOfMemory = ResultCode(SQLITE_NOMEM)
    public static let readOnly = ResultCode(SQLITE_READONLY)
    public static let interrupted = ResultCode(SQLITE_INTERRUPT)
    public static let inputOutput = ResultCode(SQLITE_IOERR)
    public static let corrupt = ResultCode(SQLITE_CORRUPT)
    /// The disk is full, or the database has reached its size limit.
    public static let full = ResultCode(SQLITE_FULL)
    public static let cannotOpen = ResultCode(SQLITE_CANTOPEN)
    /// A row or a file exists already, or a file of that name cannot be replaced.
    public static let constraint = ResultCode(SQLITE_CONSTRAINT)
    /// There is no such file.
    public static let missing = ResultCode(SQLITE_NOTFOUND)
    /// The file is not one that this program can open.
    public static let mismatch = ResultCode(SQLITE_MISMATCH)
    public static let notADatabase = ResultCode(SQLITE_NOTADB)
}
