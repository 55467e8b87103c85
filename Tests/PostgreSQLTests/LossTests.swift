#if PostgreSQL
import Foundation
import PostgreSQL
import Support
import Testing
import Threads

@Suite("A PostgreSQL connection during failures", .blocking, .onPostgreSQL)
struct LossTests {
    private static let echo = PreparedStatement("SELECT $1")
    private static let sleep = PreparedStatement("SELECT pg_sleep($1)")
    private static let backend = PreparedStatement("SELECT pg_backend_pid()")

    @Test("fails the statements under way, and is made again")
    func terminated() throws {
        let database = try PostgreSQLTestDatabase()
        let harness = try ConnectionHarness(database)
        let kinds = try harness.whenReady { connection in
            let backend: Int32 = try await connection.read(Self.backend).value(0, 0)
            async let terminated = onLoop {
                let sleeps =
                    "SELECT count(*) FROM pg_stat_activity WHERE pid = \(backend) AND wait_event = 'PgSleep'"
                guard try Polling.until({ try database.execute(sleeps) == "1" }) else { return }
                try database.execute("SELECT pg_terminate_backend(\(backend))")
            }
            let kinds = await withTaskGroup(of: PostgreSQLError.Kind?.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        await harness.connection.perform { $0.append(Self.sleep, 60.0) }.error?.kind
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            try await terminated
            return kinds
        }
        #expect(kinds == [.shuttingDown, .shuttingDown, .shuttingDown])
        let number = try harness.whenReady {
            try await $0.read(Self.echo, 5 as Int64).value(0, 0, as: Int64.self)
        }
        #expect(number == 5)
    }

    @Test(
        "is made again after the server's restart",
        arguments: [PostgreSQLCluster.StopMode.fast, .immediate]
    )
    func restarted(mode: PostgreSQLCluster.StopMode) throws {
        let cluster = try PostgreSQLCluster()
        let harness = try ConnectionHarness(PostgreSQLTestDatabase(in: cluster))
        try harness.whenReady { _ in }
        try cluster.stop(mode)
        #expect(harness.loss() != nil)
        try cluster.start()
        let number = try harness.whenReady {
            try await $0.read(Self.echo, 5 as Int64).value(0, 0, as: Int64.self)
        }
        #expect(number == 5)
    }

    @Test("counts as lost if PostgreSQL sends nothing")
    func silent() throws {
        let database = try PostgreSQLTestDatabase()
        var settings = try ConnectionHarness.settings(database.socketURL)
        settings.silenceLimit = .milliseconds(200)
        let harness = ConnectionHarness(settings, database)
        let error = try harness.whenReady { await $0.perform { $0.append(Self.sleep, 60.0) }.error }
        #expect(error?.kind == .connectionLost)
        try harness.whenReady { _ = try await $0.read(Self.echo, 1 as Int64) }
    }

    @Test(
        "is kept if PostgreSQL is silent but answers a second connection, even with a refusal",
        arguments: [50, 1]
    )
    func slow(silence: Int) throws {
        let database = try PostgreSQLTestDatabase()
        var settings = try ConnectionHarness.settings(database.socketURL)
        // The set-up of a session takes longer than 1 ms.
        settings.silenceLimit = .milliseconds(silence)
        settings.probeTimeout = .seconds(Polling.seconds)
        let harness = ConnectionHarness(settings, database)
        try harness.whenReady { _ in }
        for mayConnect in [true, false] {
            try database.cluster.execute("ALTER DATABASE \(database.name) ALLOW_CONNECTIONS \(mayConnect)")
            let outcome = try harness.whenReady { await $0.perform { $0.append(Self.sleep, 1.0) } }
            #expect(outcome.error == nil, "\(mayConnect)")
        }
    }

    @Test("is lost if PostgreSQL is silent and no second connection can be made")
    func hung() throws {
        let cluster = try PostgreSQLCluster()
        var settings = try ConnectionHarness.settings(
            "postgres://postgres@\(cluster.folder.path.replacing("/", with: "%2F")):\(cluster.port)/postgres"
        )
        settings.silenceLimit = .milliseconds(50)
        settings.probeTimeout = .seconds(Polling.seconds)
        let harness = ConnectionHarness(settings)
        let error = try harness.whenReady { connection in
            async let isHidden: Void = onLoop { try Self.hideSockets(in: cluster.folder) }
            let error = await connection.perform { $0.append(Self.sleep, 60.0) }.error
            try await isHidden
            return error
        }
        #expect(error?.kind == .connectionLost && error?.message.contains("sent nothing") == true)
    }

    /// Removes the name of a server's socket, so that no new connection can be made.
    private static func hideSockets(in folder: URL) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where name.hasPrefix(".s.PGSQL.") && !name.hasSuffix(".lock") {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
    }

    @Test("is lost when the server stops accepting writes")
    func readOnly() throws {
        let cluster = try PostgreSQLCluster()
        let harness = try ConnectionHarness(PostgreSQLTestDatabase(in: cluster))
        let create = PreparedStatement("CREATE TABLE IF NOT EXISTS made ()")
        let error = try harness.whenReady { connection in
            try cluster.execute("ALTER SYSTEM SET default_transaction_read_only = on")
            try cluster.execute("SELECT pg_reload_conf()")
            let end = Polling.end
            var error: PostgreSQLError?
            // The server reads its settings between two statements.
            while error == nil, ContinuousClock.now < end {
                error = await connection.perform { $0.append(create) }.error
            }
            return error
        }
        #expect(error?.kind == .readOnly)
        #expect(harness.loss()?.kind == .readOnly)
    }

    @Test("does not acknowledge a commit whose wait for the standby was cancelled")
    func notReplicated() throws {
        let cluster = try PostgreSQLCluster([
            "synchronous_standby_names = 'missing'", "synchronous_commit = local",
        ])
        let database = try PostgreSQLTestDatabase(in: cluster)
        try database.execute("CREATE TABLE items (n int8)")
        let insert = PreparedStatement("INSERT INTO items VALUES ($1)")
        let (begin, commit) = (PreparedStatement("BEGIN"), PreparedStatement("COMMIT"))
        var settings = try ConnectionHarness.settings(database.socketURL)
        settings.silenceLimit = .seconds(60)
        let harness = ConnectionHarness(settings, database)
        for isExplicit in [false, true] {
            let outcome = try harness.whenReady { connection in
                async let cancelled = onLoop { try Self.cancelWait(cluster) }
                let outcome = await connection.perform {
                    if isExplicit { $0.append(begin) }
                    $0.append(insert, 1 as Int64)
                    if isExplicit { $0.append(commit) }
                }
                let isCancelled = try await cancelled
                #expect(isCancelled)
                return outcome
            }
            #expect(outcome.error?.kind == .notReplicated)
        }
        // The rows are there: only the standby does not have them.
        #expect(try database.execute("SELECT count(*) FROM items") == "2")
    }

    @Test("acknowledges a commit although statements of the transaction sent warnings of their own")
    func warnings() throws {
        let harness = try ConnectionHarness(PostgreSQLTestDatabase())
        let warn = PreparedStatement("DO $$ BEGIN RAISE WARNING 'skipping a table'; END $$")
        let one = PreparedStatement("SELECT 1")
        let (begin, commit) = (PreparedStatement("BEGIN"), PreparedStatement("COMMIT"))
        let errors = try harness.whenReady { connection in
            var errors: [PostgreSQLError?] = []
            for batch in [[warn, one], [begin], [warn], [commit], [begin, warn, commit]] {
                let outcome = await connection.perform { for statement in batch { $0.append(statement) } }
                errors.append(outcome.error)
            }
            return errors
        }
        #expect(errors.allSatisfy { $0 == nil }, "\(errors)")
    }

    private static func cancelWait(_ cluster: PostgreSQLCluster) throws -> Bool {
        try Polling.until {
            let cancelled = try cluster.execute(
                "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            )
            return cancelled == "t"
        }
    }
}
#endif
