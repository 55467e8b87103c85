internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// Runs the writing thread's transactions on a SQLite database.
final class SQLiteEngine: BlockingEngine {
    private let state: StoreState
    private let checkpoints: ConditionLock<CheckpointPolicy>
    private let open: () throws(StoreError) -> SQLiteConnection
    /// Nil after a failure, until another connection is open.
    private var transaction: WriteTransaction<SQLiteWriter>?
    /// The transaction of a connection that failed.
    ///
    /// It stays open until another connection exists: without an open connection, SQLite would read the log from the
    /// disk again.
    private var failed: WriteTransaction<SQLiteWriter>?
    /// The files at the start; if another database takes their place, the store must not write to it.
    private let files: OpenFiles
    /// The address of the dashboard that this process has stored; empty for none.
    private var dashboard = ""

    /// - Parameters:
    ///   - transaction: the transaction on the first connection.
    ///   - state: the state that the store's threads share.
    ///   - opening: opens another connection after a failure.
    ///   - checkpoints: decides when the write-ahead log (here: the log) is copied into the database.
    init(
        _ transaction: WriteTransaction<SQLiteWriter>,
        _ state: StoreState,
        _ opening: DatabaseOpening,
        checkpoints: ConditionLock<CheckpointPolicy>
    ) {
        self.transaction = transaction
        self.state = state
        self.checkpoints = checkpoints
        open = opening.reopen
        files = OpenFiles(path: opening.configuration.path)
    }

    func begin() throws(EngineFailure) {
        do throws(SQLiteError) {
            try files.verify()
        } catch {
            throw EngineFailure(StoreError(error), endsBatch: true, endsConnection: false)
        }
        try run { transaction throws(SQLiteError) in
            let connection = transaction.writer.connection
            try connection.begin(.immediate)
            do throws(SQLiteError) {
                try transaction.begin()
            } catch {
                try? connection.rollback()
                throw error
            }
        }
    }

    func perform(_ write: Write) throws(EngineFailure) -> Written {
        if case .sessions(.setDashboard(let url)) = write { dashboard = url }
        return try run { transaction throws(SQLiteError) in try transaction.perform(write) }
    }

    var changeCount: Int64 { transaction?.writer.connection.totalChangeCount ?? 0 }

    func savepoint() throws(EngineFailure) {
        try run { transaction throws(SQLiteError) in try transaction.writer.connection.savepoint() }
    }

    func release() throws(EngineFailure) {
        try run { transaction throws(SQLiteError) in try transaction.writer.connection.releaseSavepoint() }
    }

    func undo() throws(EngineFailure) {
        try run { transaction throws(SQLiteError) in try transaction.writer.connection.rollbackToSavepoint() }
    }

    func commit() throws(EngineFailure) {
        try run { transaction throws(SQLiteError) in
            let connection = transaction.writer.connection
            try transaction.writeGathered()
            try connection.commit()
            let pages = connection.logPageCount
            transaction.didCommit()
            checkpoints.withLock { $0.recordCommit(logPages: pages) }
        }
    }

    func rollback() {
        guard let transaction else { return }
        transaction.didRollBack()
        // If this fails, SQLite has rolled back already, or the connection will be replaced.
        try? transaction.writer.connection.rollback()
    }

    /// Copies a long log, or asks the checkpoint job to copy it, so that SQLite can write it from its start again.
    ///
    /// SQLite does that only when the whole log has been copied. Without this function, writes without a
    /// pause would make the log grow without limit.
    func tidy() throws(EngineFailure) {
        switch checkpoints.withLock({ $0.copier }) {
        case .writer:
            try run { transaction throws(SQLiteError) in
                let checkpoint = try transaction.writer.connection.checkpoint(.passive)
                // Snapshots that start now read nothing from the log, so the next write can reset the log.
                if checkpoint.copiedPages == checkpoint.logPages { state.renewSnapshots() }
            }
        case .background: state.jobs.ask(for: .checkpoint)
        case nil: break
        }
    }

    /// Opens a connection after a failure, and overwrites what the failure may have left in the log.
    ///
    /// The log can contain the whole of a commit whose sync failed. SQLite continues without this commit, but the next
    /// start of the process would read it back (sqlite.org/walformat.html, 4.1). Its claims would then have consumed
    /// clicks, although their checks got a retryable error. A new commit at the same position makes the rest of the
    /// log unreadable, even if its own sync fails.
    func reopen() throws(EngineFailure) -> TransactionFate {
        let isFirstTry = transaction != nil
        if let transaction { failed = transaction }
        transaction = nil
        do throws(StoreError) {
            transaction = try makeTransaction()
            failed = nil
            return .rolledBack
        } catch {
            // The connection that failed may itself hold the lock.
            if !isFirstTry, error.code == .locked { failed = nil }
            throw EngineFailure(error, endsBatch: true, endsConnection: true)
        }
    }

    private func makeTransaction() throws(StoreError) -> WriteTransaction<SQLiteWriter> {
        try StoreError.translating { () throws(SQLiteError) in try files.verify() }
        let connection = try open()
        return try StoreError.translating { () throws(SQLiteError) in
            try connection.transaction(.immediate) { () throws(SQLiteError) in
                try connection.statement(Self.overwrite).run()
            }
            return try WriteTransaction(SQLiteWriter(connection: connection), state)
        }
    }

    /// Changes a value with each failure, because SQLite does not write a row that stays the same.
    private static let overwrite: SQL = """
        INSERT INTO progress VALUES ('failures', 1) ON CONFLICT DO UPDATE SET value = value + 1
        """

    /// Deletes this process's address of the dashboard, copies the whole log into the database, and closes the connection.
    func close() {
        if !dashboard.isEmpty { try? transaction?.writer.removeDashboard(dashboard) }
        // If two threads copy the log at the same time, the second copy fails
        // (sqlite.org/c3ref/wal_checkpoint_v2.html).
        state.awaitBackgroundThreads()
        do throws(SQLiteError) {
            _ = try transaction?.writer.connection.checkpoint(.truncate)
        } catch {
            state.failures.note(StoreError(error), of: .writing, at: MonotonicTime.now().nanoseconds)
        }
        transaction = nil
    }

    private func run<Result>(
        _ body: (WriteTransaction<SQLiteWriter>) throws(SQLiteError) -> Result
    ) throws(EngineFailure) -> Result {
        guard let transaction else {
            let error = StoreError(.inputOutput, "the database could not be opened again yet")
            throw EngineFailure(error, endsBatch: true, endsConnection: true)
        }
        do throws(SQLiteError) {
            return try body(transaction)
        } catch {
            // If SQLite has rolled the transaction back itself, the whole batch has failed.
            let endsBatch = error.endsBatch || !transaction.writer.connection.isInTransaction
            throw EngineFailure(StoreError(error), endsBatch: endsBatch, endsConnection: error.endsConnection)
        }
    }
}
