#if PostgreSQL
import PostgreSQL
import Support
import Testing

@Suite(
    "The PostgreSQL server of a run of tests",
    .blocking,
    .enabled(if: PostgreSQLCluster.isInstalled, "\(PostgreSQLCluster.missing)")
)
struct TestClusterTests {
    private let cluster: TestCluster

    init() throws {
        cluster = try TestCluster { template, _ in
            try template.execute("CREATE TABLE numbers AS SELECT 1 AS number")
        }
    }

    @Test("each database is a copy of the template, and is deleted when its Swift value is released")
    func copies() throws {
        let first = try cluster.makeDatabase()
        try first.execute("INSERT INTO numbers VALUES (2)")
        var second: PostgreSQLTestDatabase? = try cluster.makeDatabase()
        #expect(try first.execute("SELECT sum(number) FROM numbers") == "3")
        #expect(try second?.execute("SELECT sum(number) FROM numbers") == "1")
        let count = "SELECT count(*) FROM pg_database WHERE datname LIKE 'test%'"
        #expect(try cluster.server.execute(count) == "3")
        second = nil
        #expect(try cluster.server.execute(count) == "2")
    }

    @Test("a loop of a test serves the connection of a session and runs jobs of other threads")
    func serves() async throws {
        let database = try cluster.makeDatabase()
        let loop = LoopThread()
        defer { loop.stop() }
        let settings = try ConnectionHarness.settings(database.socketURL)
        let numbers = try await Task(executorPreference: loop) {
            let connection = PostgreSQLConnection(settings, port: loop.sockets.port)
            loop.sockets.turnDidEnd = { connection.turnDidEnd() }
            connection.start()
            try await connection.waitUntilReady(by: ConnectionHarness.end)
            var numbers: [Int32] = []
            for _ in 0..<3 {
                let rows = try await connection.read(PreparedStatement("SELECT number FROM numbers"))
                numbers.append(try rows.value(0, 0))
                // Another thread resumes the task.
                numbers.append(try await onLoop { 2 })
            }
            return numbers
        }.value
        #expect(numbers == [1, 2, 1, 2, 1, 2])
    }
}
#endif
