internal import CSQLite

/// Why SQLite could not do what it was asked.
///
/// Never holds bound values.
public struct SQLiteError: Error, Equatable, Sendable {
    public let code: ResultCode
    /// The code with its detail (`SQLITE_IOERR_FSYNC`).
    public let extendedCode: Int32
    /// The operating system's error number, where there was one; else 0.
    public let systemError: Int32
    /// SQLite's own words.
    public let message: String
    /// What was being done.
    public let context: String

    public init(
        extendedCode: Int32,
        systemError: Int32 = 0,
        message: String,
        context: String
    ) {
        code = ResultCode(extendedCode)
        self.extendedCode = extendedCode
        self.systemError = systemError
        self.message = message
        self.context = context
    }

    /// Whether a unique index or primary key refused the row.
    public var isUniqueViolation: Bool {
        extendedCode == afterlink_constraint_unique || extendedCode == afterlink_constraint_primary_key
            || extendedCode == afterlink_constraint_rowid
    }
}

extension SQLiteError {
    /// The error that `connection` reports for its last call.
    init(_ status: Int32, on connection: OpaquePointer?, context: String) {
        // The connection is open, or nil, which both functions answer with "out of memory".
        let message = unsafe sqlite3_errmsg(connection)
        // SQLite keeps the text, which ends in a zero, until the next call on the connection.
        let text = unsafe message.map { unsafe String(cString: $0) } ?? ""
        // Only reads a field of the open connection.
        let systemError = unsafe connection.map { unsafe sqlite3_system_errno($0) } ?? 0
        self.init(extendedCode: status, systemError: systemError, message: text, context: context)
    }
}

extension SQLiteError {
    /// What is stored cannot have been written by this program.
    public static func damaged(_ context: String) -> SQLiteError {
        SQLiteError(
            extendedCode: SQLITE_CORRUPT,
            message: "a stored value is none that this program writes",
            context: context
        )
    }
}
