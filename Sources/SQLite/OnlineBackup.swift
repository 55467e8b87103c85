internal import CSQLite

/// A copy of one database into another, some pages at a time (sqlite.org/c3ref/backup_finish.html).
///
/// If the source has an open read transaction, the copy is the state at the start of that transaction: later writes
/// neither appear in the copy nor restart it. The copy never waits for writers, and writers never wait for it.
///
/// It belongs to the thread of both connections, and keeps them open.
///
/// Safe to use, because the pointer is valid from `init` to ``finish()`` or `deinit`.
@safe public final class OnlineBackup {
    private let source: SQLiteConnection
    private let target: SQLiteConnection
    /// Nil after ``finish()``.
    private var pointer: OpaquePointer?

    /// - Parameters:
    ///   - source: the database to copy.
    ///   - target: an empty database.
    /// - Throws: if the target is no database, or in use.
    public init(from source: SQLiteConnection, to target: SQLiteConnection) throws(SQLiteError) {
        source.confinement.check()
        target.confinement.check()
        (self.source, self.target) = (source, target)
        // Both connections are open and outlive the copy; "main" is the main database of each.
        unsafe pointer = sqlite3_backup_init(target.pointer, "main", source.pointer, "main")
        guard unsafe pointer != nil else {
            // The target stores the code and the message of the error.
            let status = unsafe sqlite3_extended_errcode(target.pointer)
            throw unsafe SQLiteError(status, on: target.pointer, context: "beginning a copy")
        }
    }

    deinit {
        // This abandons an unfinished copy, whose target is not a usable database. Nil is allowed.
        _ = unsafe sqlite3_backup_finish(pointer)
    }

    /// Copies up to the given number of pages.
    ///
    /// - Returns: whether there are more pages.
    public func step(pages: Int32) throws(SQLiteError) -> Bool {
        source.confinement.check()
        // The pointer is valid until the copy is finished; SQLite would dereference nil.
        guard let pointer = unsafe pointer else { throw failure(SQLITE_MISUSE) }
        let status = unsafe sqlite3_backup_step(pointer, pages)
        guard status != SQLITE_DONE else { return false }
        guard status == SQLITE_OK else { throw failure(status) }
        return true
    }

    /// The number of the source's pages, and how many of them were left to copy when the previous step ended.
    ///
    /// Both are 0 before the first step and after ``finish()``.
    public var progress: (pageCount: Int, remaining: Int) {
        // The pointer is valid until the copy is finished.
        guard let pointer = unsafe pointer else { return (0, 0) }
        return unsafe (Int(sqlite3_backup_pagecount(pointer)), Int(sqlite3_backup_remaining(pointer)))
    }

    /// Ends the copy; the target is complete if this succeeds after the last step.
    public func finish() throws(SQLiteError) {
        source.confinement.check()
        // The pointer is valid here, and never used again.
        let status = unsafe sqlite3_backup_finish(pointer)
        unsafe pointer = nil
        guard status == SQLITE_OK else { throw failure(status) }
    }

    private func failure(_ status: Int32) -> SQLiteError {
        // SQLite returns a constant text for each code; the target is open.
        let message = unsafe sqlite3_errstr(status).map { unsafe String(cString: $0) } ?? ""
        return SQLiteError(
            extendedCode: status,
            systemError: unsafe sqlite3_system_errno(target.pointer),
            message: message,
            context: "copying a database"
        )
    }
}
