#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage
internal import Threads

/// Runs the writing thread's transactions on a PostgreSQL database, each in two trips: the first reads and locks what its
/// writes need, and the second sends all rows and commits.
final class PostgreSQLEngine: BlockingEngine {
    typealias Rules = PostgreSQLRules

    private let state: StoreState
    private let directory: DirectoryCache
    private let slots: SlotTable
    private let form: DatabaseForm
    private let connection: WriterConnection
    private let batch: WriteBatch
    /// Nil before the first connection.
    private var transaction: WriteTransaction<PostgreSQLWriter>?
    /// Whether it is unknown if the last transaction was committed.
    private var isInDoubt = false

    /// If this server's last transaction began this long ago, even a batch without changes commits a
    /// transaction, so that other servers see that this one runs.
    private static let silence = Duration.seconds(5)

    /// - Parameters:
    ///   - configuration: the database.
    ///   - state: the state that the store's threads share.
    ///   - form: the parameters with which the database was created.
    ///   - server: this server's number.
    ///   - directory: the apps and keys, to which this thread publishes its own changes.
    ///   - slots: the slots (days, and the one of long windows) that have partitions; when this thread makes the
    ///     partitions of a slot, it adds the slot.
    init(
        _ configuration: PostgreSQLConfiguration,
        _ state: StoreState,
        form: DatabaseForm,
        server: ServerRow,
        directory: DirectoryCache,
        slots: SlotTable
    ) {
        (self.state, self.form, self.directory, self.slots) = (state, form, directory, slots)
        connection = WriterConnection(configuration, server)
        batch = WriteBatch(connection, slots, shards: form.shards)
        // A failure may be ignored here: the first write connects again and reports it.
        _ = try? reopen()
    }

    /// Sends nothing: the transaction begins with the first statement, and a batch without statements needs
    /// no transaction.
    func begin() throws(EngineFailure) {
        try run { transaction throws(PostgreSQLError) in try transaction.begin() }
    }

    func prepare(_ writes: some Collection<Write>) throws(EngineFailure) {
        try run { transaction throws(PostgreSQLError) in
            if !connection.isInTransaction { try makePartitions() }
            try batch.prepare(writes, transaction)
        }
    }

    /// Makes the partitions that the last transaction did not find; they are missing if the clock jumped, or if a test
    /// made none.
    private func makePartitions() throws(PostgreSQLError) {
        for slot in batch.takeMissingSlots() {
            try connection.makePartitions(of: slot)
            slots.add(slot)
        }
    }

    func perform(_ write: Write) throws(EngineFailure) -> Written {
        try run { transaction throws(PostgreSQLError) in try transaction.perform(write) }
    }

    var changeCount: Int64 { batch.changeCount }

    func savepoint() throws(EngineFailure) {
        try run { transaction throws(PostgreSQLError) in
            try connection.savepoint()
            transaction.savepoint()
            batch.savepoint()
        }
    }

    /// Sends the rows of one write, so that a failure affects only this write.
    func release() throws(EngineFailure) {
        try run { _ throws(PostgreSQLError) in try connection.release { batch.flush(to: &$0) } }
    }

    func undo() throws(EngineFailure) {
        try run { transaction throws(PostgreSQLError) in
            try connection.undo()
            transaction.undo()
            batch.undo()
        }
    }

    func commit() throws(EngineFailure) {
        try run(isCommit: true) { transaction throws(PostgreSQLError) in
            try transaction.writeGathered()
            let changesDirectory = transaction.changesDirectory
            if batch.isEmpty, connection.seenAt.advanced(by: Self.silence) > .now() {
                // There are only locks to release.
                connection.rollback()
            } else {
                try connection.commit { steps in
                    batch.flush(to: &steps)
                    batch.flushCounts(to: &steps, bucket: transaction.numbers.batchBucket)
                    if changesDirectory { steps.append(Self.raiseVersion) }
                    if form.shards.isCitus { steps.append(CitusTables.commitInTwoPhases) }
                }
            }
            didCommit(transaction)
        }
    }

    private static let raiseVersion = PreparedStatement("UPDATE directory SET version = version + 1")

    /// Makes the commit visible to this process, before its callers are answered.
    private func didCommit(_ transaction: WriteTransaction<PostgreSQLWriter>) {
        // If this fails, the job that polls the version publishes the change a moment later.
        let hasChanged = transaction.changesDirectory || batch.mustReadDirectory
        if hasChanged, let fresh = try? connection.reader().directorySnapshot() {
            directory.publish(fresh)
            state.noteDirectoryChange()
        }
        batch.clear()
        transaction.didCommit()
    }

    func rollback() {
        isInDoubt = false
        connection.rollback()
        batch.clear()
        transaction?.didRollBack()
    }

    /// Connects again if too many statements are prepared, since each day has its own; otherwise renews the plans of
    /// the statements if they are old.
    func tidy() throws(EngineFailure) {
        guard !batch.dropStatements() else {
            _ = try reopen()
            return
        }
        try run { _ throws(PostgreSQLError) in try connection.renewPlans() }
    }

    /// Connects again, and reads from this server's row whether a transaction in doubt was committed.
    func reopen() throws(EngineFailure) -> TransactionFate {
        do throws(StoreError) {
            // If a statement below fails, `reopen()` is called again and must return the same fate. But only the
            // first call of `open()` finds the fate; later calls return true. So `isInDoubt` keeps what the first
            // call found: it becomes false if the transaction was not committed.
            isInDoubt = try connection.open() && isInDoubt
            let isCommitted = isInDoubt
            batch.movedUpTo = try StoreError.translating { () throws(PostgreSQLError) in
                try connection.reader().value(of: .movedUpTo) ?? 0
            }
            if let transaction {
                if isCommitted { didCommit(transaction) } else { rollback() }
            } else {
                transaction = try StoreError.translating { () throws(PostgreSQLError) in
                    try WriteTransaction(PostgreSQLWriter(batch: batch), state)
                }
            }
            let (number, shortSeconds) = (Int(connection.server.number), form.shortSeconds)
            if let numbers = NumberLayout(server: number, shortSeconds: shortSeconds) {
                transaction?.numbers = numbers
            }
            isInDoubt = false
            guard isCommitted else { return .rolledBack }
            // If a machine of Citus failed before the second phase of the commit, readers see its rows only after
            // Citus has recovered them.
            return form.shards.isCitus ? .unseen : .committed
        } catch { throw EngineFailure(error, endsBatch: true, endsConnection: true) }
    }

    func close() { connection.close() }

    private func run<Result>(
        isCommit: Bool = false,
        _ body: (WriteTransaction<PostgreSQLWriter>) throws(PostgreSQLError) -> Result
    ) throws(EngineFailure) -> Result {
        guard let transaction else {
            // The connection failed at the start, so the first writes wait for another attempt.
            let error = PostgreSQLError(.notConnected, "The writing thread has not connected yet.")
            throw EngineFailure(StoreError(error), endsBatch: true, endsConnection: true, mayRepeat: true)
        }
        do throws(PostgreSQLError) {
            return try body(transaction)
        } catch {
            let failure = EngineFailure(writing: error, isCommit: isCommit)
            isInDoubt = failure.isInDoubt
            throw failure
        }
    }
}

extension EngineFailure {
    /// The failure of a statement of the writing thread.
    ///
    /// If one statement fails, the writes of the batch can be done one by one, so that only one of them is refused.
    ///
    /// - Parameters:
    ///   - error: the error.
    ///   - isCommit: whether the rows of all writes and `COMMIT` were sent with the statement.
    fileprivate init(writing error: PostgreSQLError, isCommit: Bool) {
        let usual = EngineFailure(error)
        let isFull = error.kind == .diskFull || error.kind == .outOfMemory
        let mayBeCommitted =
            switch error.kind {
            case .connectionLost, .shuttingDown, .deadline, .notReplicated: isCommit
            default: false
            }
        self.init(
            usual.error,
            endsBatch: usual.endsConnection || isFull,
            endsConnection: usual.endsConnection,
            mayRepeat: usual.mayRepeat || isCommit && !isFull,
            isInDoubt: mayBeCommitted
        )
    }
}
#endif
