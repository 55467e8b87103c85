#if PostgreSQL
/// The PostgreSQL server of a run of tests, and a template that each test's database is a copy of.
///
/// The server syncs nothing, and its files are in memory where ``TemporaryFolder/place`` is. Tests that kill a server
/// start a ``PostgreSQLCluster`` of their own.
public final class TestCluster: Sendable {
    public let server: PostgreSQLCluster
    private let template: PostgreSQLTestDatabase

    /// Starts a server.
    ///
    /// - Parameter prepare: fills the template, and closes its connections to it.
    /// - Throws: if the programs of a server are missing, or the server or `prepare` fails.
    public init(_ prepare: (PostgreSQLTestDatabase) throws -> Void) throws {
        server = try PostgreSQLCluster([
            "fsync = off", "full_page_writes = off", "synchronous_commit = off", "autovacuum = off",
            "wal_level = minimal", "max_wal_senders = 0",
            // All tests of a process run at once, each with some connections.
            "max_connections = 1500",
        ])
        template = try PostgreSQLTestDatabase(in: server)
        try prepare(template)
    }

    /// Creates a copy of the template, which is deleted with the returned value.
    public func makeDatabase() throws -> PostgreSQLTestDatabase {
        try PostgreSQLTestDatabase(in: server, copying: template)
    }
}
#endif
