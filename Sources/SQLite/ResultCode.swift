internal import CSQLite

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
    public static let constraint = ResultCode(SQLITE_CONSTRAINT)
    public static let notADatabase = ResultCode(SQLITE_NOTADB)
}
