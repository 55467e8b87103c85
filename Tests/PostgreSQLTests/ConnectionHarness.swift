#if PostgreSQL
import PostgreSQL
import Support
import Threads

/// A connection with a loop of its own, for one test.
///
/// `@unchecked Sendable` is correct because all tasks of a test run on the thread of the harness's loop.
final class ConnectionHarness: @unchecked Sendable {
    let loop = PollingPort()
    let connection: PostgreSQLConnection

    /// The database, which must outlive the connection.
    private let database: PostgreSQLTestDatabase?

    init(_ settings: PostgreSQLSettings, _ database: PostgreSQLTestDatabase? = nil) {
        self.database = database
        connection = PostgreSQLConnection(settings, port: loop.port)
        loop.turnDidEnd = { [unowned self] in connection.turnDidEnd() }
        connection.start()
    }

    convenience init(_ database: PostgreSQLTestDatabase) throws {
        self.init(try Self.settings(database.socketURL), database)
    }

    /// Returns settings for a URL with an address of this machine, which needs no name look-up.
    static func settings(_ url: String, password: String? = nil) throws -> PostgreSQLSettings {
        PostgreSQLSettings(try PostgreSQLAddress(parsing: url), password: { password }) { _ in .addresses([])
        }
    }

    /// A time that no test reaches unless the code under test hangs.
    static var end: MonotonicTime { .now().advanced(by: .seconds(Polling.seconds)) }

    /// Runs tasks of the loop until the operation has ended.
    func run<Result: Sendable>(
        _ operation: @escaping (PostgreSQLConnection) async throws -> Result
    ) throws -> Result {
        let connection = connection
        let result = loop.run { () -> Swift.Result<Result, any Error> in
            do { return .success(try await operation(connection)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Runs an operation with the connection when it is ready.
    func whenReady<Result: Sendable>(
        _ operation: @escaping (PostgreSQLConnection) async throws -> Result
    ) throws -> Result {
        try run { connection in
            try await connection.waitUntilReady(by: Self.end)
            return try await operation(connection)
        }
    }

    /// Waits, while the loop runs, until the condition holds.
    func turn(until condition: (PostgreSQLConnection.State) -> Bool) -> Bool {
        let end = Self.end
        while !condition(connection.state) {
            guard MonotonicTime.now() < end else { return false }
            loop.turn()
        }
        return true
    }

    /// Waits for the state `lost`, and returns its error; nil if the state does not come in time.
    func loss() -> PostgreSQLError? {
        var found: PostgreSQLError?
        _ = turn { state in
            if case .lost(let error) = state { found = error }
            return found != nil
        }
        return found
    }
}

extension PostgreSQLConnection {
    /// Executes one statement with a limit that only a hanging server reaches.
    func read<each Value: PostgreSQLValue>(_ statement: PreparedStatement, _ values: repeat each Value)
        async throws(PostgreSQLError) -> ResultRows
    {
        try await read(statement, repeat each values, by: ConnectionHarness.end)
    }

    func perform(_ fill: (inout StatementBatch) -> Void) async -> BatchOutcome {
        var batch = StatementBatch()
        fill(&batch)
        return await perform(batch, by: ConnectionHarness.end)
    }
}
#endif
