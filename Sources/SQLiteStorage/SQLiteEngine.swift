internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// Writes to the SQLite database, on the thread that writes.
final class SQLiteEngine: BlockingEngine {
    private let state: StoreState
    private let checkpoints: ConditionLock<CheckpointPolicy>
    private let open: () throws(StoreError) -> SQLiteConnection
    /// Nil after a failure, until another connection is open.
    private var transaction: WriteTransaction<SQLiteWriter>?
    /// A connection that failed, kept open until there is another: the last one to close would leave the log to be read
    /// again from the disk.
    private var failed: WriteTransaction<SQLiteWriter>?
    /// The files as they were at the start: the store never writes to another database that took their place.
    private let files: OpenFiles

    /// - Parameters:
    ///   - transaction: on the first connection.
    ///   - state: the state that the store's threads share.
    ///   - opening: opens the connection again after a failure.
    ///   - checkpoints: decides when the log is copied.
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
        do throws(StoreError) {
            try files.check()
        } catch {
            throw EngineFailure(error, endsBatch: true, endsConnection: false)
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
        try run { transaction throws(SQLiteError) in try transaction.perform(write) }
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
            checkpoints.withLock { $0.noteCommit(logPages: pages) }
        }
    }

    func rollback() {
        guard let transaction else { return }
        transaction.didRollBack()
        // Where SQLite cannot undo any more, it has undone already, or the connection is given up.
        try? transaction.writer.connection.rollback()
    }

    /// Lets the log begin again from its start.
    ///
    /// Writes that follow each other without a pause would make it grow without end, because SQLite goes back to
    /// its start only when all of it has been copied.
    func tidy() throws(EngineFailure) {
        switch checkpoints.withLock({ $0.copier }) {
        case .writer:
            try run { transaction throws(SQLiteError) in
                let checkpoint = try transaction.writer.connection.checkpoint(.passive)
                // Readers that begin now read the database alone, so that the next write may go back to the start.
                if checkpoint.copiedPages == checkpoint.logPages { state.renewSnapshots() }
            }
        case .background: state.jobs.ask(for: .checkpoint)
        case nil: break
        }
    }

    /// Opens a connection after a failure, and writes over what the failure may have left.
    ///
    /// A commit whose sync failed can be in the log completely: SQLite goes on as if it were not there, but a start
    /// would read it back (sqlite.org/walformat.html, 4.1), and clicks would be consumed by claims whose checks were
    /// asked to try again. A commit in the same place makes the rest of the log unreadable, synced or not.
    func reopen() throws(EngineFailure) {
        let isFirstTry = transaction != nil
        if let transaction { failed = transaction }
        transaction = nil
        do throws(StoreError) {
            try files.check()
            transaction = try makeTransaction()
            failed = nil
        } catch {
            // The connection that failed may itself hold the lock.
            if !isFirstTry, error.code == .locked { failed = nil }
            throw EngineFailure(error, endsBatch: true, endsConnection: true)
        }
    }

    private func makeTransaction() throws(StoreError) -> WriteTransaction<SQLiteWriter> {
        let connection = try open()
        do throws(SQLiteError) {
            try connection.transaction(.immediate) { () throws(SQLiteError) in
                try connection.statement(Self.overwrite).run()
            }
            return try WriteTransaction(SQLiteWriter(connection: connection), state)
        } catch {
            throw StoreError(error)
        }
    }

    /// Sets another value each time, or SQLite would write nothing.
    private static let overwrite: SQL = """
        INSERT INTO progress VALUES ('failures', 1) ON CONFLICT DO UPDATE SET value = value + 1
        """

    /// Leaves everything that was written in the database's own file.
    func close() {
        // Two cannot copy the log at once, and the second one is not made to wait (sqlite.org/c3ref/wal_checkpoint_v2.html).
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
            // Where SQLite has undone the transaction by itself, nothing of it can be kept.
            throw EngineFailure(
                StoreError(error),
                endsBatch: error.endsBatch || !transaction.writer.connection.isInTransaction,
                endsConnection: error.endsConnection
            )
        }
    }
}
