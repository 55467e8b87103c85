#if PostgreSQL
import Foundation
import PostgreSQL
import Support
import Testing
import Threads

@Suite("Connecting to PostgreSQL", .blocking, .onPostgreSQL)
struct ConnectingTests {
    private static let user = PreparedStatement("SELECT current_user::text, current_setting('lock_timeout')")

    @Test("works through a Unix socket and applies the settings of the session")
    func overSocket() throws {
        let harness = try ConnectionHarness(PostgreSQLTestDatabase())
        let (user, limit) = try harness.whenReady { connection in
            let row = try await connection.read(Self.user)
            return (try row.value(0, 0, as: String.self), try row.value(0, 1, as: String.self))
        }
        #expect(user == "postgres" && limit == "500ms")
        #expect(harness.connection.timeline == 1 && !harness.connection.isPooled)
    }

    @Test("works through TCP with a password, with and without TLS", arguments: [false, true])
    func password(isEncrypted: Bool) throws {
        let database = try PostgreSQLTestDatabase()
        let (cluster, encrypted) = (database.cluster, "?sslmode=verify-full&sslrootcert=")
        let url =
            isEncrypted
            ? "postgres://postgres@localhost:\(cluster.port)/\(database.name)\(encrypted)\(cluster.certificate)"
            : database.tcpURL
        let harness = ConnectionHarness(try ConnectionHarness.settings(url, password: cluster.password))
        let statement = PreparedStatement("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        let isTLS = try harness.whenReady { try await $0.read(statement).value(0, 0, as: Bool.self) }
        #expect(isTLS == isEncrypted)
    }

    @Test("reports a wrong password, and a database that does not exist, each with its own code")
    func authentication() throws {
        let database = try PostgreSQLTestDatabase()
        let wrong = ConnectionHarness(try ConnectionHarness.settings(database.tcpURL, password: "wrong"))
        #expect(wrong.loss()?.kind == .authentication && wrong.loss()?.code == "28P01")
        let url = database.socketURL.replacing(database.name, with: "missing")
        let missing = ConnectionHarness(try ConnectionHarness.settings(url))
        #expect(missing.loss()?.code == "3D000")
    }

    @Test(
        "ends a wait at once if only an operator can help",
        arguments: [PostgreSQLError.Kind.authentication, .password],
        [false, true]
    )
    func refusal(kind: PostgreSQLError.Kind, hasOtherHost: Bool) throws {
        let database = try PostgreSQLTestDatabase()
        let port = try #require(Loopback.freePort())
        let other = hasOtherHost ? ",127.0.0.1:\(port)" : ""
        var settings = try ConnectionHarness.settings(
            "postgres://postgres@127.0.0.1:\(database.cluster.port)\(other)/\(database.name)"
        )
        // If the password cannot be read, the client sends nothing that PostgreSQL could reject.
        if kind == .password {
            settings.password = { () throws(PostgreSQLError) in throw PostgreSQLError(.password, "missing") }
        }
        let harness = ConnectionHarness(settings)
        let start = MonotonicTime.now()
        let error = #expect(throws: PostgreSQLError.self) {
            try harness.run { try await $0.waitUntilReady(by: ConnectionHarness.end, endsAtRefusal: true) }
        }
        #expect(error?.kind == kind)
        #expect(MonotonicTime.now() < start.advanced(by: .seconds(Polling.seconds / 2)))
    }

    @Test("fails calls at once, with the reason, while there is no server")
    func refused() throws {
        let port = try #require(Loopback.freePort())
        let harness = ConnectionHarness(
            try ConnectionHarness.settings("postgres://postgres@127.0.0.1:\(port)/postgres")
        )
        #expect(harness.loss()?.kind == .connectionLost)
        let error = #expect(throws: PostgreSQLError.self) { try harness.run { try await $0.read(Self.user) } }
        #expect(error?.kind == .notConnected)
        #expect(error?.message.contains("Connection refused") == true)
    }

    @Test("reports what a server answered, and not that there is none at a later address")
    func answered() throws {
        let (database, port) = (try PostgreSQLTestDatabase(), try #require(Loopback.freePort()))
        let places = "127.0.0.1:\(database.cluster.port),127.0.0.1:\(port)"
        // The file of the authority does not exist, so libpq accepts no certificate of the server.
        let url = "postgres://postgres@\(places)/postgres?sslmode=verify-full&sslrootcert=/nonexistent.pem"
        let error = ConnectionHarness(try ConnectionHarness.settings(url), database).loss()
        #expect(error?.message.contains("refused") == false, "\(error?.message ?? "no error")")
    }

    @Test("takes the first host that accepts writes")
    func hosts() throws {
        let port = try #require(Loopback.freePort())
        // A server that accepts no writes is refused, as a standby is.
        let standby = try PostgreSQLCluster(["default_transaction_read_only = on"])
        let primary = try PostgreSQLCluster.shared()
        let hosts = [standby.folder.path, primary.folder.path].map {
            $0.replacing("/", with: "%2F")
        }
        let places = "127.0.0.1:\(port),\(hosts[0]):\(standby.port),\(hosts[1]):\(primary.port)"
        let harness = ConnectionHarness(
            try ConnectionHarness.settings("postgres://postgres@\(places)/postgres")
        )
        let statement = PreparedStatement("SELECT current_setting('port')")
        let found = try harness.whenReady { try await $0.read(statement).value(0, 0, as: String.self) }
        #expect(found == "\(primary.port)")
        let alone = ConnectionHarness(
            try ConnectionHarness.settings("postgres://postgres@\(hosts[0]):\(standby.port)/postgres")
        )
        #expect(alone.loss()?.kind == .readOnly)
    }

    @Test("refuses a former primary after another connection has seen the server that took its place")
    func formerPrimary() throws {
        let database = try PostgreSQLTestDatabase()
        let settings = try ConnectionHarness.settings(database.socketURL)
        try ConnectionHarness(settings, database).whenReady { _ in }
        // A promotion begins the second timeline.
        #expect(settings.timelines.accept(2))
        let error = ConnectionHarness(settings, database).loss()
        #expect(error?.kind == .readOnly && error?.message.contains("before the last failover") == true)
    }

    @Test("leaves a former primary that still runs, once another connection has seen the promoted standby")
    func promotion() throws {
        let primary = try PostgreSQLCluster()
        let standby = try PostgreSQLCluster(standbyOf: primary)
        func place(_ cluster: PostgreSQLCluster) -> String {
            "\(cluster.folder.path.replacing("/", with: "%2F")):\(cluster.port)"
        }
        var both = try ConnectionHarness.settings(
            "postgres://postgres@\(place(primary)),\(place(standby))/postgres"
        )
        both.silenceLimit = .seconds(Polling.seconds)
        var alone = try ConnectionHarness.settings("postgres://postgres@\(place(standby))/postgres")
        alone.timelines = both.timelines
        let promoted = alone
        let (former, latter) = ("\(primary.port)", "\(standby.port)")
        let port = PreparedStatement("SELECT current_setting('port')")
        let (reader, writer) = (ConnectionHarness(both), ConnectionHarness(both))
        @Sendable func answer(_ harness: ConnectionHarness) throws -> String {
            try harness.whenReady { try await $0.read(port).value(0, 0, as: String.self) }
        }
        for harness in [reader, writer] { #expect(try answer(harness) == former) }
        try standby.promote()
        // The former primary answers as before, until a connection of this process has seen the promotion.
        #expect(try answer(reader) == former)
        let wait = PreparedStatement("SELECT pg_sleep(60)")
        let (outcome, found) = try writer.whenReady { connection in
            async let seen = onLoop {
                let found = try answer(ConnectionHarness(promoted))
                let cancel =
                    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)'"
                _ = try Polling.until { try primary.execute(cancel) == "t" }
                return found
            }
            let outcome = await connection.perform { $0.append(wait) }
            return (outcome, try await seen)
        }
        #expect(found == latter)
        // The former primary's response to a transaction does not count.
        #expect(outcome.error?.kind == .connectionLost)
        for harness in [reader, writer] {
            #expect(throws: PostgreSQLError.self) { try harness.run { try await $0.read(port) } }
            #expect(try answer(harness) == latter)
            #expect(harness.connection.timeline == 2)
        }
    }

    @Test("gives up a server that accepts but never answers, needs no thread for it, and tries the next one")
    func silence() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        let port = try #require(Loopback.listen(descriptor))
        let cluster = try PostgreSQLCluster.shared()
        let path = cluster.folder.path.replacing("/", with: "%2F")
        var settings = try ConnectionHarness.settings(
            "postgres://postgres@127.0.0.1:\(port),\(path):\(cluster.port)/postgres"
        )
        settings.connectTimeout = .milliseconds(200)
        let harness = ConnectionHarness(settings)
        try harness.whenReady { _ in }
        // A caller with an earlier limit waits only until that limit.
        settings.connectTimeout = .seconds(Polling.seconds)
        let figures = ProcessFigures(of: getpid())
        let threads = figures.threadCount
        let waiting = (0..<50).map { _ in ConnectionHarness(settings) }
        for harness in waiting {
            let error = #expect(throws: PostgreSQLError.self) {
                try harness.run { try await $0.waitUntilReady(by: .now().advanced(by: .milliseconds(5))) }
            }
            #expect(error?.kind == .notConnected)
        }
        // Other tests may start a few threads meanwhile.
        #expect(figures.threadCount < threads + 25)
        #expect(waiting.allSatisfy { $0.connection.state == .connecting })
    }

    @Test("waits for the addresses of a host without blocking, and tries each of them")
    func lookUp() throws {
        let database = try PostgreSQLTestDatabase()
        let url =
            "postgres://postgres@db.example:\(database.cluster.port)/\(database.name)?sslrootcert=/missing"
        let counter = Counter()
        let settings = PostgreSQLSettings(try PostgreSQLAddress(parsing: url)) { name in
            counter.count += 1
            return counter.count < 3
                ? .underWay : .addresses(name == "db.example" ? ["127.0.0.2", "::1"] : [])
        }
        let harness = ConnectionHarness(settings)
        // PostgreSQL does not listen at these addresses, and `verify-full` needs the authority's certificate.
        #expect(harness.loss() != nil)
        #expect(counter.count >= 3)
    }

    private final class Counter: @unchecked Sendable {
        // Only the test's thread looks up names, and so changes this count.
        var count = 0
    }

    @Test("applies the settings by a statement if a pooler drops the connection's options")
    func pooler() throws {
        let database = try PostgreSQLTestDatabase()
        let pooler = try #require(try PoolerStandIn(to: database.cluster.port))
        let url = database.tcpURL.replacing(":\(database.cluster.port)", with: ":\(pooler.port)")
        let settings = try ConnectionHarness.settings(url, password: database.cluster.password)
        let harness = ConnectionHarness(settings, database)
        let limit = try harness.whenReady { connection in
            try await connection.read(Self.user).value(0, 1, as: String.self)
        }
        #expect(limit == "500ms")
    }

    @Test("refuses a server that does not accept a setting")
    func settings() throws {
        let database = try PostgreSQLTestDatabase()
        var settings = try ConnectionHarness.settings(database.socketURL)
        // PostgreSQL returns the value of this setting without the unit, so it differs from this text.
        settings.session.append(.init("deadlock_timeout", "2s"))
        let error = ConnectionHarness(settings, database).loss()
        #expect(error?.kind == .settings && error?.message.contains("deadlock_timeout") == true)
    }

    @Test("pauses after failures, twice as long each time up to a limit")
    func pauses() throws {
        let port = try #require(Loopback.freePort())
        var settings = try ConnectionHarness.settings("postgres://postgres@127.0.0.1:\(port)/postgres")
        settings.firstRetryDelay = .milliseconds(2)
        settings.longestRetryDelay = .milliseconds(20)
        settings.connectTimeout = .seconds(60)
        let loop = PollingPort()
        var delays: [Int] = []
        let inner = loop.port
        let port2 = LoopPort(
            watch: inner.watch,
            setWatchesWriting: inner.setWatchesWriting,
            unwatch: inner.unwatch,
            wake: { time, handler in
                delays.append(Int(time.nanoseconds(since: .now()) / 1_000_000))
                inner.wake(time, handler)
            }
        )
        let connection = PostgreSQLConnection(settings, port: port2, randomShare: { 1 })
        connection.start()
        #expect(
            Polling.until {
                loop.turn(); return delays.filter { $0 < 1000 }.count >= 7
            }
        )
        let pauses = delays.filter { $0 < 1000 }.prefix(7)
        // A part of a millisecond has passed when the time is read.
        #expect(zip(pauses, [2, 4, 8, 16, 20, 20, 20]).allSatisfy { $1 - 2...$1 ~= $0 }, "\(pauses)")
        connection.close()
    }

    @Test("fails calls after the connection was closed")
    func closed() throws {
        let harness = try ConnectionHarness(PostgreSQLTestDatabase())
        try harness.whenReady { _ in }
        harness.connection.close()
        #expect(harness.connection.state == .closed)
        let error = #expect(throws: PostgreSQLError.self) { try harness.run { try await $0.read(Self.user) } }
        #expect(error?.kind == .notConnected)
    }
}
#endif
