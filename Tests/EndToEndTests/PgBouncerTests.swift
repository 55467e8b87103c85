#if PostgreSQL
import Foundation
import Support
import Testing

@Suite(
    "Two servers behind PgBouncer",
    .blocking,
    .enabled(if: PgBouncer.isInstalled && PostgreSQLCluster.isInstalled, "\(PgBouncer.missing)")
)
struct PgBouncerTests {
    private let database: PostgreSQLTestDatabase
    private let pooler: PgBouncer
    private let installation: Installation

    init() throws {
        database = try PostgreSQLTestDatabase()
        pooler = try PgBouncer(before: database.cluster, ["ignore_startup_parameters = options"])
        let keys = ["app", "server", "test", "admin"].map { "\($0)_" + String(repeating: "k", count: 40) }
        installation = try Installation(
            keys: .init(app: keys[0], server: keys[1], test: keys[2], admin: keys[3]),
            databaseURL: pooler.url(of: database)
        )
    }

    private func serve() throws -> AfterlinkProcess {
        try AfterlinkProcess(
            installation,
            ["--data-directory", installation.folder.path],
            environment: installation.initialKeys.merging(["PGPASSWORD": database.cluster.password]) { $1 }
        )
    }

    /// The processes of PostgreSQL that serve the database.
    private func backends() throws -> Set<Substring> {
        let query = "SELECT pid FROM pg_stat_activity WHERE datname = '\(database.name)'"
        return Set(try database.cluster.execute(query).split(separator: "\n"))
    }

    /// Posts clicks to each server, and checks for them at the other.
    private func expectMatches(_ numbers: Range<Int>, _ servers: [AfterlinkProcess]) throws {
        let connections = try servers.map { try $0.connect() }
        for number in numbers {
            #expect(try connections[number % 2].click(fingerprint(number)).status == 201)
            #expect(try connections[(number + 1) % 2].check(fingerprint(number)).isMatch)
        }
    }

    @Test(
        "a start through PgBouncer in transaction mode is refused each time, and the error names the right mode"
    )
    func transactionMode() throws {
        let settings = ["ignore_startup_parameters = options", "pool_mode = transaction"]
        let shared = try PgBouncer(before: database.cluster, settings)
        for mode in [shared, pooler, shared] {
            // The command opens the database as a server does.
            let output = try Installation.run(
                ["init", "--database", mode.url(of: database), "--data-directory", installation.folder.path],
                environment: ["PGPASSWORD": database.cluster.password]
            )
            #expect((output.status == 0) == (mode === pooler), "\(output.errors)")
            #expect(output.errors.contains("pool_mode = session") == (mode === shared), "\(output.errors)")
        }
    }

    @Test("a start through PgBouncer that refuses the options ends, and the error names PgBouncer's setting")
    func refusedOptions() throws {
        let strict = try PgBouncer(before: database.cluster, [])
        let output = try Installation.run(
            ["init", "--database", strict.url(of: database), "--data-directory", installation.folder.path],
            environment: ["PGPASSWORD": database.cluster.password]
        )
        #expect(output.status == 78, "\(output.errors)")
        #expect(output.errors.contains("ignore_startup_parameters = options"))
        withExtendedLifetime(strict) {}
    }

    @Test("each finds the other's clicks, even if one gets the sessions of a killed server")
    func sessions() throws {
        let first = try serve()
        let second = try serve()
        try expectMatches(0..<20, [first, second])
        // The servers start their background work within seconds.
        let isNamed = try Polling.until {
            let text = try Installation.run(
                ["doctor", "--listen", "127.0.0.1:0", "--database", pooler.url(of: database)],
                environment: ["PGPASSWORD": database.cluster.password]
            ).text
            let holder = /leases: .*server [01] does [^;]*fold/
            return text.contains(", through a pooler in session mode") && text.contains(holder)
        }
        #expect(isNamed)
        let former = try backends()
        first.kill()
        let third = try serve()
        try expectMatches(20..<40, [third, second])
        // PgBouncer resets a session before another client gets it, so its settings and prepared statements are gone.
        #expect(try backends().subtracting(former).count < former.count / 2)
        let totals = try third.connect().totals(installation.keys.admin)
        #expect(totals["clicks"] as? Int == 40)
        #expect(totals["matches"] as? Int == 40)
    }
}
#endif
