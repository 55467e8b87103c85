#if PostgreSQL
internal import Synchronization

/// The PostgreSQL server of a run of tests, and templates that the tests' databases are copies of.
///
/// The server syncs nothing, and its files are in memory where ``TemporaryFolder/place`` is. Tests that kill a server
/// start a ``PostgreSQLCluster`` of their own.
public final class TestCluster: Sendable {
    public let server: PostgreSQLCluster
    /// The templates by the times for which they were filled.
    private let templates = Mutex<[Int64: Template]>([:])
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
            "max_connections = 400", "shared_buffers = 32MB", "jit = off", "ssl = off",
        ])
    }

    /// A template, and the copies of it that no test uses.
    private final class Template: Sendable {
        let database: PostgreSQLTestDatabase
        let reset: DatabaseReset
        let free = Mutex<[PostgreSQLTestDatabase]>([])

        init(_ database: PostgreSQLTestDatabase) throws {
            self.database = database
            reset = try DatabaseReset(to: database)
        }
    }

    /// Returns a database that equals the template for a time; it may be used until the returned value is
    /// released.
    ///
    /// It is a new copy, or a copy that another test has used and that was reset.
    public func makeDatabase(at time: Int64 = 0) throws -> PostgreSQLTestDatabase {
        let template = try templates.withLock { templates in
            if let known = templates[time] { return known }
            let database = try PostgreSQLTestDatabase(in: server)
            try prepare(database, time)
            let template = try Template(database)
            templates[time] = template
            return template
        }
        let giveBack = { @Sendable database in template.free.withLock { $0.append(database) } }
        while let used = template.free.withLock({ $0.popLast() }) {
            // A copy that cannot be reset is deleted here.
            if template.reset.run(on: used) {
                return PostgreSQLTestDatabase(lending: used, giveBack: giveBack)
            }
        }
        let copy = try PostgreSQLTestDatabase(in: server, copying: template.database, keepsConnection: true)
        return PostgreSQLTestDatabase(lending: copy, giveBack: giveBack)
    }
}
#endif
