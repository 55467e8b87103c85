#if PostgreSQL
import PostgreSQL
import Support
import Testing

@Suite(
    "A connection through PgBouncer",
    .blocking,
    .enabled(if: PgBouncer.isInstalled && PostgreSQLCluster.isInstalled, "\(PgBouncer.missing)")
)
struct PgBouncerConnectionTests {
    private let database: PostgreSQLTestDatabase

    init() throws { database = try PostgreSQLTestDatabase() }

    private func connect(_ settings: [String]) throws -> (PgBouncer, ConnectionHarness) {
        let pooler = try PgBouncer(before: database.cluster, settings)
        let settings = try ConnectionHarness.settings(
            pooler.url(of: database),
            password: database.cluster.password
        )
        return (pooler, ConnectionHarness(settings, database))
    }

    @Test("has the settings of its session, although PgBouncer ignores the options of the connection")
    func settings() throws {
        let (pooler, harness) = try connect(["ignore_startup_parameters = options"])
        let names = ["lock_timeout", "idle_in_transaction_session_timeout", "statement_timeout"]
        let statement = PreparedStatement(
            """
            SELECT array_agg(setting ORDER BY place) FROM unnest($1) WITH ORDINALITY AS k (name, place)
            JOIN pg_settings USING (name)
            """
        )
        let values = try harness.whenReady { connection in
            try await connection.read(statement, names).value(0, 0, as: [String].self)
        }
        #expect(values == ["500", "5000", "0"] && harness.connection.isPooled)
        withExtendedLifetime(pooler) {}
    }

    @Test("fails with PgBouncer's message, and for good, if PgBouncer refuses the options")
    func refusal() throws {
        let (pooler, harness) = try connect([])
        let error = try #require(harness.loss())
        #expect(error.message.contains("unsupported startup parameter: options"))
        #expect(error.kind == .settings)
        withExtendedLifetime(pooler) {}
    }
}
#endif
