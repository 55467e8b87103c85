/// Transactions and savepoints (sqlite.org/lang_transaction.html, lang_savepoint.html).
extension SQLiteConnection {
    public enum TransactionKind: Sendable {
        /// Takes its snapshot with the first read.
        case deferred
        /// Takes the write lock at once, so that nothing it reads can change before it writes.
        case immediate
    }

    public func begin(_ kind: TransactionKind) throws(SQLiteError) {
        switch kind {
        case .deferred: try statement("BEGIN DEFERRED").run()
        case .immediate: try statement("BEGIN IMMEDIATE").run()
        }
    }

    public func commit() throws(SQLiteError) {
        try statement("COMMIT").run()
    }

    /// Undoes the open transaction, if there still is one.
    public func rollback() throws(SQLiteError) {
        guard isInTransaction else { return }
        try statement("ROLLBACK").run()
    }

    /// Marks a point within the open transaction that ``rollbackToSavepoint()`` returns to.
    public func savepoint() throws(SQLiteError) {
        try statement("SAVEPOINT request").run()
    }

    /// Keeps what was done since ``savepoint()``, as part of the transaction.
    public func releaseSavepoint() throws(SQLiteError) {
        try statement("RELEASE request").run()
    }

    /// Undoes what was done since ``savepoint()``, and forgets the point.
    public func rollbackToSavepoint() throws(SQLiteError) {
        try statement("ROLLBACK TO request").run()
        try statement("RELEASE request").run()
    }

    /// Runs `body` in a transaction, which is committed when it returns and undone when it throws.
    public func transaction<Result>(
        _ kind: TransactionKind,
        _ body: () throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        try begin(kind)
        do throws(SQLiteError) {
            let result = try body()
            try commit()
            return result
        } catch {
            // The first error is the one to tell; the rollback can only fail where SQLite did it already.
            try? rollback()
            throw error
        }
    }
}
