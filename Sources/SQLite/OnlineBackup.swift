internal import CSQLite

/// A copy of one database into another, some pages at a time (sqlite.org/c3ref/backup_finish.html).
///
/// Where the source has a read transaction open, the copy is of the moment at which that began: what others write
/// meanwhile neither comes into it nor makes it start again. Writers are never waited for and never wait.
///
/// Belongs to the thread of both connections, which it keeps open.
///
/// Safe to use, because the pointer is live from `init` to ``finish()`` or `deinit`.
@safe public final class OnlineBackup {
    private let source: SQLiteConnection
    private let target: SQLiteConnection
    /// Nil once it is finished.
    private var pointer: OpaquePointer?

    /// - Parameters:
    ///   - source: what is copied.
    ///   - target: an empty database.
    /// - Throws: when the target is none, or in use.
    public init(from source: SQLiteConnection, to target: SQLiteConnection) throws(SQLiteError) {
        source.confinement.check()
        target.confinement.check()
        self.source = source
        self.target = target
        // Both connections are open and outlive the copy; "main" is the first database of each.
        unsafe pointer = sqlite3_backup_init(target.pointer, "main", source.pointer, "main")
        guard unsafe pointer != nil else {
            // The target keeps the code and the words of what failed.
            let status = unsafe sqlite3_extended_errcode(target.pointer)
            throw unsafe SQLiteError(status, on: target.pointer, context: "beginning a copy")
        }
    }

    deinit {
        // What is not finished is given up: the target is no database then. Nil is allowed.
        _ = unsafe sqlite3_backup_finish(pointer)
    }

    /// Copies so many pages.
    ///
    /// - Returns: whether there are more.
    public func step(pages: Int32) throws(SQLiteError) -> Bool {
        source.confinement.check()
        // The copy is live until it is finished; nil is answered with an error.
        let status = unsafe sqlite3_backup_step(pointer, pages)
        guard status != SQLITE_DONE else { return false }
        guard status == SQLITE_OK else { throw failure(status) }
        return true
    }

    /// Pages of the source, and those of them that are not copied yet, as of the last step.
    public var progress: (pageCount: Int, remaining: Int) {
        // The copy is live until it is finished.
        guard let pointer = unsafe pointer else { return (0, 0) }
        return unsafe (Int(sqlite3_backup_pagecount(pointer)), Int(sqlite3_backup_remaining(pointer)))
    }

    /// Ends the copy; the target is whole if this succeeds after the last step.
    public func finish() throws(SQLiteError) {
        source.confinement.check()
        // Live, and never used again.
        let status = unsafe sqlite3_backup_finish(pointer)
        unsafe pointer = nil
        guard status == SQLITE_OK else { throw failure(status) }
    }

    private func failure(_ status: Int32) -> SQLiteError {
        // A constant text for each code; the target is open.
        let message = unsafe sqlite3_errstr(status).map { unsafe String(cString: $0) } ?? ""
        return SQLiteError(
            extendedCode: status,
            systemError: unsafe sqlite3_system_errno(target.pointer),
            message: message,
            context: "copying a database"
        )
    }
}
