#if PostgreSQL
internal import Synchronization

/// The PostgreSQL server of a run of tests, and templates that the tests' databases are copies of.
///
/// The server syncs nothing, and its files are in memory where ``TemporaryFolder/place`` is. Tests that kill a server
/// start a ``PostgreSQLCluster`` of their own.
public final class TestCluster: Sendable {
    public let server: PostgreSQLCluster
    /// The templates by the times for which they were filled.
    private let templates = Mutex<[Int64: PostgreSQLTestDatabase]>([:])
    private let prepare: @Sendable (PostgreSQLTestDatabase, _ time: Int64) throws -> Void

    /// Starts a server.
    ///
    /// - Parameter prepare: fills a template for tests whose clocks start at a time, in milliseconds since 1970, and closes
    ///   its connections to it.
    /// - Throws: if the programs of a server are missing, or the server fails.
    public init(_ prepare: @escaping @Sendable (PostgreSQLTestDatabase, _ time: Int64) throws -> Void) throws
    {
        self.prepare = prepare
        server = try PostgreSQLCluster([
            "fsync = off", "full_page_writes = off", "synchronous_commit = off", "autovacuum = off",
            "wal_level = minimal", "max_wal_senders = 0",
            // Eight tests have databases at a time, each with some connections.
            "max_connections = 400", "shared_buffers = 32MB", "jit = off",
        ])
    }

    /// Creates a copy of the time's template, which is deleted with the returned value.
    public func makeDatabase(at time: Int64 = 0) throws -> PostgreSQLTestDatabase {
        let template = try templates.withLock { templates in
            if let known = templates[time] { return known }
            let template = try PostgreSQLTestDatabase(in: server)
            try prepare(template, time)
            templates[time] = template
            return template
        }
        return try PostgreSQLTestDatabase(in: server, copying: template, keepsConnection: true)
    }
}
#endif
