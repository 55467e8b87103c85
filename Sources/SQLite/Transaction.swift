/// Transactions and savepoints (sqlite.org/lang_transaction.html, lang_savepoint.html).
extension SQLiteConnection {
    public enum TransactionKind: Sendable {
        /// Starts its snapshot at the first read.
        case deferred
        /// Takes the write lock at its start, so that no row that it reads can change before it writes.
        case immediate
    }

    public func begin(_ kind: TransactionKind) throws(SQLiteError) {
        switch kind {
        case .deferred: try statement("BEGIN DEFERRED").run()
        case .immediate: try statement("BEGIN IMMEDIATE").run()
        }
    }

    public func commit() throws(SQLiteError) { try statement("COMMIT").run() }

    /// Undoes the open transaction; does nothing if none is open, for example because an error has ended it.
    public func rollback() throws(SQLiteError) {
        guard isInTransaction else { return }
        try statement("ROLLBACK").run()
    }

    /// Starts a savepoint, to which ``rollbackToSavepoint()`` returns, within the open transaction.
    public func savepoint() throws(SQLiteError) { try statement("SAVEPOINT request").run() }

    /// Makes the changes since ``savepoint()`` part of the transaction.
    public func releaseSavepoint() throws(SQLiteError) { try statement("RELEASE request").run() }

    /// Undoes the changes since ``savepoint()``, and removes the savepoint.
    public func rollbackToSavepoint() throws(SQLiteError) {
        try statement("ROLLBACK TO request").run()
        try statement("RELEASE request").run()
    }

    /// Runs `body` in a transaction; commits if it returns, and rolls back if it throws.
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
            // Report the first error; the rollback can fail only if SQLite has already rolled back.
            try? rollback()
            throw error
        }
    }
}
