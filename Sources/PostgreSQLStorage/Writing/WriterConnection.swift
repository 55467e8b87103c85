#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Threads

/// The connection of the writing thread, with at most one open transaction.
///
/// Each transaction raises the `batch` of this server's row in `servers`. The row stays locked until the
/// transaction has ended, even if the connection is lost meanwhile; afterwards the row's `batch` shows
/// whether the transaction was committed.
final class WriterConnection {
    private let configuration: PostgreSQLConfiguration
    /// Nil before the first connection and after a loss; a new connection has no open transaction.
    private var connection: BlockingConnection?
    /// This server's row in `servers`.
    ///
    /// If the server cannot reach the database for too long, another server may take its number. This
    /// server then takes another number.
    private(set) var server: ServerRow
    /// The addresses at which this server serves the dashboard, separated by blanks.
    ///
    /// They are written again if the server gets another number.
    var dashboard = ""
    private(set) var isInTransaction = false
    /// The number of the last transaction; each transaction raises it by one.
    private(set) var batch: Int64 = 0
    private var madePlansAt = MonotonicTime.now()
    /// When the last committed transaction of this server changed `seen_at` in its row.
    private(set) var seenAt = MonotonicTime(nanoseconds: 0)
    /// When the last transaction began.
    private var begunAt = MonotonicTime(nanoseconds: 0)

    /// How long a batch of statements may take; its COMMIT may wait for a standby.
    private static let timeLimit = Duration.seconds(3)
    /// How long a statement's plan is used.
    ///
    /// PostgreSQL plans a statement for a new, empty partition as if all indexes were equal, and notices the
    /// growth of the partition only a minute later.
    private static let planTime = Duration.seconds(10)
    /// How long waiting writes may wait for a connection before they are refused.
    private static let connectTimeLimit = Duration.milliseconds(500)

    init(_ configuration: PostgreSQLConfiguration, _ server: ServerRow) {
        (self.configuration, self.server) = (configuration, server)
    }

    /// Connects, and waits until a transaction of the last connection has ended.
    ///
    /// - Returns: whether the last transaction was committed; false also if that is unknown, because another server has
    ///   taken this server's number after half a minute.
    func open() throws(StoreError) -> Bool {
        (connection, isInTransaction) = (nil, false)
        var settings = configuration.settings
        // A plan that was made while a day's partition was empty must not read the whole partition hours later.
        settings.session += [
            .init("enable_seqscan", "off"), .init("enable_hashjoin", "off"), .init("enable_mergejoin", "off"),
        ]
        let opened = try StoreError.translating { () throws(PostgreSQLError) in
            try BlockingConnection(
                settings,
                timeLimit: Self.timeLimit,
                connectTimeLimit: Self.connectTimeLimit,
                // If the wait ended at a refusal, each of the next writes would connect again at once, although the
                // database server refuses every attempt.
                endsAtRefusal: false
            )
        }
        // If a standby confirms this commit, it has confirmed all earlier ones.
        let found = try StoreError.translating { () throws(PostgreSQLError) in
            try opened.execute(Self.look, server.number, server.holder)
        }
        guard found.count > 0 else {
            let version = configuration.programVersion
            server = try ServerRow.take(opened, holder: server.holder, version: version)
            try StoreError.translating { () throws(PostgreSQLError) in
                _ = try opened.execute(ServerRow.setDashboard, server.number, server.holder, dashboard)
            }
            (connection, batch) = (opened, 0)
            return false
        }
        let stored: Int64 = try StoreError.translating { () throws(PostgreSQLError) in try found.value(0, 0) }
        let isCommitted = stored == batch
        (connection, batch) = (opened, stored)
        return isCommitted
    }

    /// Returns a reader for rows that are not in memory; it reads in the open transaction if there is one.
    func reader() throws(PostgreSQLError) -> PostgreSQLReader { PostgreSQLReader(connection: try opened()) }

    private func opened() throws(PostgreSQLError) -> BlockingConnection {
        guard let connection else {
            throw PostgreSQLError(.notConnected, "The connection of the writing thread was lost.")
        }
        return connection
    }

    /// Makes the partitions of a slot; there must be no open transaction.
    func makePartitions(of slot: Int64) throws(PostgreSQLError) {
        try Partitions(connection: try opened()).make(slot)
    }

    /// Executes statements in the open transaction; begins one first if there is none.
    func run(_ append: (inout StatementBatch) -> Void) throws(PostgreSQLError) -> [ResultRows] {
        var steps = StatementBatch()
        guard !isInTransaction else {
            append(&steps)
            return steps.count > 0 ? try execute(steps) : []
        }
        steps.append(BlockingConnection.begin)
        steps.append(Self.fence, server.number, server.holder)
        append(&steps)
        isInTransaction = true
        // If the connection is lost now, the number in the row shows that this transaction was not committed.
        batch += 1
        let rows = try execute(steps)
        guard rows.count > 1, rows[1].count == 1 else {
            throw PostgreSQLError(.notConnected, "Another server has taken this server's number.")
        }
        batch = try rows[1].value(0, 0)
        begunAt = .now()
        return Array(rows.dropFirst(2))
    }

    /// Executes a statement of the open transaction.
    @discardableResult
    func run(_ statement: PreparedStatement, _ parameters: Parameters = Parameters()) throws(PostgreSQLError)
        -> ResultRows
    {
        guard let rows = try run({ $0.append(statement, parameters) }).last else {
            throw PostgreSQLError(.other, "A statement of the writing thread has no result.")
        }
        return rows
    }

    /// Executes the last statements of the open transaction, and commits it.
    func commit(_ append: (inout StatementBatch) -> Void) throws(PostgreSQLError) {
        // The commit must not be sent before it is certain that the number is still this server's.
        if !isInTransaction { _ = try run { _ in } }
        _ = try run { steps in
            append(&steps)
            steps.append(BlockingConnection.commit)
        }
        isInTransaction = false
        seenAt = begunAt
    }

    /// Undoes the open transaction; a failure shows at the next statement.
    func rollback() {
        guard isInTransaction else { return }
        isInTransaction = false
        var steps = StatementBatch()
        steps.append(BlockingConnection.rollback)
        if (try? execute(steps)) == nil { connection = nil }
    }

    func savepoint() throws(PostgreSQLError) { try run(Self.savepoint) }

    /// Executes further statements, and keeps the changes since the savepoint.
    func release(_ append: (inout StatementBatch) -> Void) throws(PostgreSQLError) {
        _ = try run { steps in
            append(&steps)
            steps.append(Self.release)
        }
    }

    /// Undoes the changes since the savepoint, and leaves the savepoint in place.
    ///
    /// PostgreSQL does not prepare `RELEASE` in a transaction in which a statement has failed. The next savepoint has
    /// the same name and covers this one.
    func undo() throws(PostgreSQLError) { try run(Self.undo) }

    /// Makes PostgreSQL plan statements again if their plans are older than ``planTime``; there must be no
    /// open transaction.
    func renewPlans() throws(PostgreSQLError) {
        guard madePlansAt.advanced(by: Self.planTime) < .now() else { return }
        madePlansAt = .now()
        var steps = StatementBatch()
        steps.append(Self.discardPlans)
        _ = try execute(steps)
    }

    private func execute(_ steps: StatementBatch) throws(PostgreSQLError) -> [ResultRows] {
        let connection = try opened()
        do throws(PostgreSQLError) {
            return try connection.rows(of: steps)
        } catch {
            if error.endsConnection { self.connection = nil }
            throw error
        }
    }

    /// Gives the server's number back, and closes the connection.
    func close() {
        if let connection { try? server.release(connection) }
        connection = nil
    }

    private static let discardPlans = PreparedStatement("DISCARD PLANS")
    private static let savepoint = PreparedStatement("SAVEPOINT one")
    private static let release = PreparedStatement("RELEASE SAVEPOINT one")
    private static let undo = PreparedStatement("ROLLBACK TO SAVEPOINT one")
    private static let fence: PreparedStatement = """
        UPDATE servers SET batch = batch + 1, seen_at = clock_timestamp() WHERE number = $1 AND holder = $2
        RETURNING batch
        """
    private static let look: PreparedStatement =
        "UPDATE servers SET seen_at = clock_timestamp() WHERE number = $1 AND holder = $2 RETURNING batch"
}
#endif
