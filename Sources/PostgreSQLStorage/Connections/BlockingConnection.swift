#if PostgreSQL
internal import PostgreSQL
internal import Threads

/// A connection of a thread that may wait for PostgreSQL: for the writer, jobs, long reads and commands.
///
/// It belongs to one thread, and does not connect again after a loss: its owner opens another one.
final class BlockingConnection {
    private let loop = PollingPort()
    private let connection: PostgreSQLConnection
    /// The time after which a batch of statements fails.
    private let timeLimit: Duration
    /// The statements whose texts name the slots to read.
    var slotQuestions: QuestionStatements?
    /// The statements whose texts name no list of slots.
    var fixedQuestions: QuestionStatements?
    private var hasCitus: Bool?

    /// Connects; blocks.
    ///
    /// - Parameters:
    ///   - settings: the database server.
    ///   - timeLimit: how long a batch of statements may take.
    ///   - connectTimeLimit: how long all attempts to connect may take; nil for `timeLimit`.
    ///   - endsAtRefusal: whether to give up after a failure that lasts until an operator changes a setting.
    ///   - report: called with the failure of the first attempt, if another one follows.
    /// - Throws: the failure of the last attempt.
    init(
        _ settings: PostgreSQLSettings,
        timeLimit: Duration,
        connectTimeLimit: Duration? = nil,
        endsAtRefusal: Bool = true,
        report: @escaping (PostgreSQLError) -> Void = { _ in }
    ) throws(PostgreSQLError) {
        var settings = settings
        // PostgreSQL sends nothing while a statement runs, so its silence is no failure before the time limit.
        if settings.probeTimeout == nil { settings.silenceLimit = timeLimit }
        connection = PostgreSQLConnection(settings, port: loop.port)
        self.timeLimit = timeLimit
        loop.turnDidEnd = { [weak connection] in connection?.turnDidEnd() }
        var hasReported = false
        connection.stateDidChange = { state in
            guard case .lost(let error) = state, !hasReported, !(endsAtRefusal && error.isRefusal) else {
                return
            }
            hasReported = true
            report(error)
        }
        connection.start()
        let (connection, start) = (connection, MonotonicTime.now())
        let deadline = start.advanced(by: connectTimeLimit ?? timeLimit)
        let failure = loop.run { () async -> PostgreSQLError? in
            do throws(PostgreSQLError) {
                try await connection.waitUntilReady(by: deadline, endsAtRefusal: endsAtRefusal)
                return nil
            } catch { return error }
        }
        connection.stateDidChange = { _ in }
        guard let failure else { return }
        connection.close()
        throw failure
    }

    deinit { connection.close() }

    var isReady: Bool { connection.state == .ready }

    /// Whether there is a pooler between this connection and PostgreSQL.
    var isPooled: Bool { connection.isPooled }

    /// Waits until the other end closes this connection; returns false if it does not do so in time.
    func isClosed(within limit: Duration) -> Bool {
        let end = MonotonicTime.now().advanced(by: limit)
        while isReady {
            guard .now() < end else { return false }
            loop.turn()
        }
        return true
    }

    /// Throws if a pooler does not give this connection a session of its own, because simultaneous
    /// connections would then disturb each other.
    ///
    /// A setting makes PostgreSQL end the session after a millisecond without a statement. A pooler in
    /// session mode then closes this connection. A pooler in another mode takes the session away after each
    /// transaction, and leaves the connection open. So do not use a connection through a pooler after this
    /// call. PostgreSQL before version 14 does not have the setting, so the test passes there.
    func requireOwnSession() throws(PostgreSQLError) {
        guard isPooled, try execute(Self.endIdleSession).count > 0, !isClosed(within: .seconds(5)) else {
            return
        }
        throw PostgreSQLError(.sharedSession, "The end of its session did not close the connection")
    }

    private static let endIdleSession: PreparedStatement =
        "SELECT set_config(name, '1', false) FROM pg_settings WHERE name = 'idle_session_timeout'"

    /// Executes a statement in a transaction of its own, or in the one that `BEGIN` opened.
    @discardableResult
    func execute<each Value: PostgreSQLValue>(
        _ statement: PreparedStatement,
        _ values: repeat each Value
    ) throws(PostgreSQLError) -> ResultRows {
        try execute(statement, Parameters(repeat each values))
    }

    @discardableResult
    func execute(_ statement: PreparedStatement, _ parameters: Parameters) throws(PostgreSQLError)
        -> ResultRows
    {
        var batch = StatementBatch()
        batch.append(statement, parameters)
        guard let rows = try rows(of: batch).first else {
            throw PostgreSQLError(
                .other,
                "The server's answers do not agree with the statements that were sent."
            )
        }
        return rows
    }

    /// Returns whether the database has the extension Citus, which then distributes the large tables.
    func isCitus() throws(PostgreSQLError) -> Bool {
        if let hasCitus { return hasCitus }
        let found = try execute(Self.findCitus).count > 0
        hasCitus = found
        return found
    }

    private static let findCitus: PreparedStatement =
        "SELECT extname::text FROM pg_extension WHERE extname = 'citus'"

    /// Makes PostgreSQL forget a statement that is not needed any more.
    func discard(_ statement: PreparedStatement) { connection.discard(statement) }

    /// Executes statements, as one transaction unless they contain `BEGIN` or `COMMIT`.
    ///
    /// - Parameters:
    ///   - batch: the statements.
    ///   - limit: how long they may take; nil for the connection's limit.
    /// - Returns: the rows of each statement.
    /// - Throws: the failure of the transaction.
    func rows(of batch: StatementBatch, within limit: Duration? = nil) throws(PostgreSQLError) -> [ResultRows]
    { try perform(batch, within: limit).rows() }

    /// Executes statements, and returns the outcome of each.
    func perform(_ batch: StatementBatch, within limit: Duration? = nil) -> BatchOutcome {
        let (connection, deadline) = (connection, MonotonicTime.now().advanced(by: limit ?? timeLimit))
        return loop.run { await connection.perform(batch, by: deadline) }
    }

    /// Runs `body` in a transaction; rolls it back if `body` throws.
    func transaction<Result>(
        _ begin: PreparedStatement = BlockingConnection.begin,
        _ body: () throws(PostgreSQLError) -> Result
    ) throws(PostgreSQLError) -> Result {
        try execute(begin)
        let result: Result
        do throws(PostgreSQLError) {
            result = try body()
        } catch {
            // If the connection is lost, PostgreSQL rolls back.
            _ = try? execute(Self.rollback)
            throw error
        }
        try execute(Self.commit)
        return result
    }

    static let begin = PreparedStatement("BEGIN")
    static let commit = PreparedStatement("COMMIT")
    static let rollback = PreparedStatement("ROLLBACK")
    /// Begins a snapshot for several statements of a report.
    static let beginSnapshot = PreparedStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
}

#endif
