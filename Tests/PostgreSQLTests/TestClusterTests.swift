#if PostgreSQL
import PostgreSQL
import Support
import Testing

@Suite("The PostgreSQL server of a run of tests", .blocking, .onPostgreSQL)
struct TestClusterTests {
    private static let cluster = Result {
        try TestCluster { template, _ in
            try template.execute(
                "CREATE TABLE numbers AS SELECT 1 AS number; CREATE TABLE names (id serial, name text)"
            )
        }
    }

    private let cluster: TestCluster
    /// A time that no other test has; otherwise another test could get the database that this test releases.
    private let time = Int64.random(in: 0 ... .max)

    init() throws { cluster = try Self.cluster.get() }

    private func makeDatabase() throws -> PostgreSQLTestDatabase { try cluster.makeDatabase(at: time) }

    @Test("databases that are in use at the same time are different copies of the template")
    func copies() throws {
        let (first, second) = (try makeDatabase(), try makeDatabase())
        #expect(first.name != second.name)
        try first.execute("INSERT INTO numbers VALUES (2)")
        #expect(try first.execute("SELECT sum(number) FROM numbers") == "3")
        #expect(try second.execute("SELECT sum(number) FROM numbers") == "1")
    }

    @Test(
        "a database that was released is used again, with the rows, tables and sequences of the template",
        arguments: [
            "INSERT INTO numbers VALUES (2)",
            "UPDATE numbers SET number = 3",
            "INSERT INTO names (name) VALUES ('a')",
            "INSERT INTO names (name) SELECT repeat('a', 1000) FROM generate_series(1, 1000)",
            "CREATE TABLE more AS SELECT 1 AS number",
        ]
    )
    func usesAgain(change: String) throws {
        let name = try use(change)
        let again = try makeDatabase()
        #expect(again.name == name)
        #expect(try again.execute("SELECT number FROM numbers") == "1")
        #expect(try again.execute("SELECT count(*) FROM names") == "0")
        #expect(try again.execute("INSERT INTO names (name) VALUES ('a') RETURNING id") == "1")
        #expect(try again.execute("SELECT count(*) FROM pg_tables WHERE tablename = 'more'") == "0")
    }

    @Test(
        "a database whose tables, functions, statistics or settings differ from the template's is deleted",
        arguments: [
            "ALTER TABLE names RENAME TO others",
            "ALTER TABLE numbers ADD COLUMN text text",
            "ALTER TABLE numbers ALTER number SET DEFAULT 5",
            "CREATE INDEX ON numbers (number)",
            "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
            "CREATE RULE r AS ON INSERT TO names DO INSTEAD NOTHING",
            "ANALYZE numbers",
            "CREATE SCHEMA other",
            "DROP TABLE names",
            "DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET work_mem = 100'; END $$",
        ]
    )
    func deletes(change: String) throws {
        let name = try use(change)
        let next = try makeDatabase()
        #expect(next.name != name)
        #expect(try cluster.server.execute("SELECT 1 FROM pg_database WHERE datname = '\(name)'") == "")
    }

    @Test("a database that is released while a connection to it is open is not used again")
    func leavesOpen() throws {
        var database: PostgreSQLTestDatabase? = try makeDatabase()
        let name = try #require(database?.name)
        let left = ConnectionHarness(try ConnectionHarness.settings(try #require(database?.socketURL)))
        try left.whenReady { _ in }
        database = nil
        #expect(try makeDatabase().name != name)
        withExtendedLifetime(left) {}
    }

    /// Executes SQL in a database, releases it, and returns its name.
    private func use(_ sql: String) throws -> String {
        let database = try makeDatabase()
        try database.execute(sql)
        return database.name
    }

    @Test("a test's loop serves the connection of a session, and runs jobs that other threads enqueue")
    func serves() async throws {
        let database = try makeDatabase()
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
