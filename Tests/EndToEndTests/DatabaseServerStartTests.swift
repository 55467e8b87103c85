#if PostgreSQL
import Foundation
import Support
import Testing

@Suite("Starting and stopping on a PostgreSQL server", .blocking, .onPostgreSQL)
struct DatabaseServerStartTests {
    private let database: PostgreSQLTestDatabase
    private let folder: TemporaryFolder

    init() throws {
        database = try PostgreSQLTestDatabase()
        folder = try TemporaryFolder()
        try write(String(repeating: "5e", count: 32), to: "secret")
    }

    private func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: folder.file(name)))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.file(name))
    }

    /// Returns the words that start a server with a data directory of its own.
    private func words(_ url: String, server: Int = 0) -> [String] {
        [
            "serve", "--listen", "127.0.0.1:0", "--database", url, "--log-format", "text", "--secret-file",
            folder.file("secret"), "--data-directory", folder.file("server\(server)"),
        ]
    }

    private func log(_ server: Int) -> String {
        (try? String(contentsOfFile: folder.file("\(server).log"), encoding: .utf8)) ?? ""
    }

    private func start(_ url: String, server: Int = 0, environment: [String: String] = [:]) throws
        -> ChildProcess
    {
        try ChildProcess(
            Installation.binary,
            words(url, server: server),
            environment: environment,
            errorLog: URL(filePath: folder.file("\(server).log"))
        )
    }

    /// Waits until a server listens, and returns what it printed, and a client.
    private func connect(_ process: ChildProcess, server: Int = 0) throws
        -> (lines: [String], client: HTTPTestClient)
    {
        let lines = try #require(process.lines(through: "listening on http"), "\(log(server))")
        let port = try #require(lines.last?.split(separator: ":").last.flatMap { UInt16($0) })
        return (lines, try HTTPTestClient(port: port))
    }

    @Test("a server that the database refuses for good reports the refusal at once")
    func refused() throws {
        try write("wrong", to: "password")
        try write("wrong\0option", to: "zero")
        let missing = folder.file("missing")
        let refusals = [
            (folder.file("password"), "password authentication failed"),
            (folder.file("zero"), "the file of --database-password-file contains a zero byte"),
            (missing, "--database-password-file: cannot open \(missing)"),
        ]
        for (file, reason) in refusals {
            let start = ContinuousClock.now
            let output = try Installation.run(words(database.tcpURL) + ["--database-password-file", file])
            #expect(output.status == 1)
            #expect(output.errors.contains(reason), "\(output.errors)")
            #expect(output.errors.contains("the password comes from PGPASSWORD"))
            #expect(.now < start + .seconds(30))
        }
    }

    @Test("tables of another program and a missing database get the right exit status and advice")
    func wrongDatabase() throws {
        let nothing = database.socketURL.replacing(database.name, with: "nothing")
        let missing = try Installation.run(words(nothing))
        #expect(missing.status == 1 && missing.errors.contains("\"nothing\" does not exist"))
        #expect(missing.errors.contains("must run and have the user and the database of --database"))
        try database.execute("CREATE TABLE visitors (name text)")
        let foreign = try Installation.run(words(database.socketURL))
        #expect(foreign.status == 78 && foreign.errors.contains("has tables of another program."))
        #expect(foreign.errors.contains("Give Afterlink a database of its own"))
        for command in ["backup", "restore"] {
            let refused = try Installation.run([
                command, folder.file("copy.db"), "--database", database.socketURL,
            ])
            #expect(refused.status == 2 && refused.errors.contains("Keys in the database are copied with it"))
        }
    }

    @Test(
        "keys in a folder that the server may not enter are not reported as missing",
        arguments: [false, true]
    )
    func closedFolder(movesKeys: Bool) throws {
        let keys = folder.file("keys")
        try FileManager.default.createDirectory(atPath: keys, withIntermediateDirectories: false)
        let settings = [
            "--database", database.tcpURL, "--data-directory", folder.file("server0"), "--server-key-file",
            keys + "/a.key",
        ]
        let environment = ["PGPASSWORD": database.cluster.password]
        #expect(try Installation.run(["init"] + settings, environment: environment).status == 0)
        try setMode(0, of: keys)
        defer { try? setMode(0o700, of: keys) }
        let secret = movesKeys ? ["--secret-file", folder.file("secret")] : []
        let start = ["serve", "--listen", "127.0.0.1:0", "--dashboard-listen", "off"]
        let output = try Installation.runWithinModes(start + settings + secret, environment: environment)
        #expect(output.status == 78)
        #expect(output.errors.contains("cannot enter \(keys): Permission denied"), "\(output.errors)")
    }

    @Test("the error about too many servers says to stop one, and names no limit of the system")
    func tooManyServers() throws {
        let settings = ["--secret-file", folder.file("secret"), "--data-directory", folder.file("server0")]
        #expect(try Installation.run(["init", "--database", database.socketURL] + settings).status == 0)
        try database.execute(
            "INSERT INTO servers (number, holder, batch, seen_at, version, key_checks) "
                + "SELECT n, n, 0, now() + interval '1 hour', '', '' FROM generate_series(0, 31) AS n"
        )
        let full = try Installation.run(words(database.socketURL))
        #expect(full.status == 1)
        #expect(full.errors.contains("which is the limit; stop one."), "\(full.errors)")
        #expect(full.errors.contains("Try again in a moment."))
        #expect(!full.errors.contains("ulimit"))
    }

    @Test(
        "a command gives up within seconds if the database server is down or never answers, and prints the reason"
    )
    func commands() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        let silent = try #require(Loopback.listen(descriptor))
        let free = try #require(Loopback.freePort())
        for (port, reason) in [(free, "Connection refused"), (silent, "did not answer for 2.0 seconds.\n")] {
            let start = ContinuousClock.now
            let output = try Installation.run([
                "apps", "list", "--database", "postgres://postgres@127.0.0.1:\(port)/afterlink",
            ])
            #expect(output.status == 1 && output.errors.contains(reason), "\(output.errors)")
            #expect(.now < start + .seconds(20))
        }
    }

    @Test("a command on a database that accepts no writes advises to name the primary server")
    func standby() throws {
        try database.execute("ALTER DATABASE \(database.name) SET default_transaction_read_only = on")
        let output = try Installation.run(["apps", "list", "--database", database.socketURL])
        #expect(output.status == 1)
        #expect(output.errors.contains("is a standby, or accepts no writes"), "\(output.errors)")
        #expect(output.errors.contains("on PostgreSQL, name the primary server with --database"))
    }

    @Test("while the database hangs, reports and pages get 503 within three seconds, and later work again")
    func hung() throws {
        let wire = try FaultyWire(to: database.cluster.port)
        defer { wire.end() }
        let key = "admin_" + String(repeating: "k", count: 40)
        let server = try start(
            database.tcpURL.replacing(":\(database.cluster.port)", with: ":\(wire.port)"),
            environment: [
                "AFTERLINK_INITIAL_ADMIN_KEY": key, "AFTERLINK_DASHBOARD_LISTEN": "127.0.0.1:0",
                "PGPASSWORD": database.cluster.password,
            ]
        )
        let (lines, api) = try connect(server)
        let main = try #require(lines.last?.split(separator: ":").last.flatMap { UInt16($0) })
        _ = Polling.until { log(0).contains("dashboard at") }
        let port = try #require(log(0).firstMatch(of: /dashboard at http:[^\s]+:([0-9]+)/)?.output.1)
        let dashboard = try HTTPTestClient(port: #require(UInt16(port)))
        let same = ["Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded"]
        let signIn = try dashboard.call("POST", "/sign-in", fields: same, body: "key=\(key)")
        let cookie = try #require(signIn.fields["set-cookie"]?.split(separator: ";").first)
        let reads: [() throws -> Int] =
            ["/", "/links", "/live/now"].map { path in
                { try dashboard.get(path, fields: ["Cookie": String(cookie)]).status }
            }
            + ["/admin/api/audit", "/admin/api/links", "/admin/stats"].map { path in
                { try api.get(path, key: key).status }
            }
        // These reads also open the connections that hang afterwards.
        for read in reads { #expect(try Polling.until { try read() == 200 }) }
        wire.set(.swallow([.toDatabase, .toServer]))
        for read in reads + reads {
            let watch = ServerStopwatch(of: server.identifier)
            #expect(try read() == 503)
            #expect(watch.elapsed < .seconds(3))
        }
        // Reads that wait behind a hung read get 503 together with it.
        let clients = try (0..<6).map { _ in try HTTPTestClient(port: main) }
        let fields = "Host: 127.0.0.1\r\nAuthorization: Bearer \(key)"
        let request = "GET /admin/api/audit HTTP/1.1\r\n\(fields)\r\n\r\n"
        let watch = ServerStopwatch(of: server.identifier)
        for client in clients { client.client.send(request) }
        for client in clients { #expect(try client.receive().status == 503) }
        #expect(watch.elapsed < .seconds(3))
        wire.set(.none)
        for read in reads { #expect(try Polling.until { try read() == 200 }) }
    }

    @Test("a server that waits for the database logs the reason at once")
    func waits() throws {
        let port = try #require(Loopback.freePort())
        let server = try start("postgres://postgres@127.0.0.1:\(port)/afterlink")
        let isLogged = Polling.until { log(0).contains("the start tries again") }
        #expect(isLogged && server.isRunning)
        #expect(log(0).contains("Connection refused"))
    }

    @Test("SIGTERM or SIGINT ends a server that waits for the database", arguments: [SIGTERM, SIGINT])
    func stopsWhileWaiting(signal: Int32) throws {
        let port = try #require(Loopback.freePort())
        let server = try start("postgres://postgres@127.0.0.1:\(port)/afterlink")
        #expect(Polling.until { log(0).contains("the start tries again") })
        let sentAt = ContinuousClock.now
        server.send(signal)
        #expect(server.waitUntilExit() == 0)
        // Without the signal, it would wait for 60 seconds.
        #expect(.now < sentAt + .seconds(20))
        #expect(log(0).contains("stopped by a signal before the database was open"))
    }

    @Test(
        "a server whose database was dropped, or whose database server stopped, stops within its limit",
        arguments: [true, false]
    )
    func lost(isDropped: Bool) throws {
        let database = isDropped ? database : try PostgreSQLTestDatabase(in: PostgreSQLCluster())
        let server = try start(database.socketURL)
        let client = try connect(server).client
        #expect(try client.get("/readyz").status == 200)
        if isDropped {
            try database.cluster.execute("DROP DATABASE \(database.name) WITH (FORCE)")
        } else {
            try database.cluster.stop(.immediate)
        }
        // After this, the server's jobs have noticed the loss.
        #expect(try Polling.until { try client.get("/readyz").status == 503 })
        let start = ContinuousClock.now
        server.send(SIGTERM)
        #expect(server.waitUntilExit() == 0)
        #expect(.now < start + .seconds(15))
    }

    @Test("the metrics show the size of the database")
    func size() throws {
        let key = "admin_" + String(repeating: "k", count: 40)
        let server = try start(database.socketURL, environment: ["AFTERLINK_INITIAL_ADMIN_KEY": key])
        let client = try connect(server).client
        let name = "afterlink_store_database_bytes"
        let isShown = try Polling.until {
            let text = PrometheusText(try client.get("/metrics", key: key).text)
            return (text.value(name) ?? 0) > 1_000_000
        }
        #expect(isShown)
    }

    @Test(
        "two servers that start at once on an empty database agree on the app and the keys; one of them prints the keys"
    )
    func together() throws {
        for round in 0..<5 {
            let database = try PostgreSQLTestDatabase()
            let numbers = [2 * round, 2 * round + 1]
            let servers = try numbers.map { try start(database.socketURL, server: $0) }
            let connections = try zip(servers, numbers).map { try connect($0, server: $1) }
            #expect(try database.execute("SELECT count(*) FROM apps") == "1")
            let printed = connections.map { Self.keys(in: $0.lines) }
            #expect(printed.count { $0.isEmpty } == 1, "\(printed)")
            let keys = printed[0].isEmpty ? printed[1] : printed[0]
            let (app, admin) = (try #require(keys["app"]), try #require(keys["admin"]))
            #expect(keys.count == 4)
            for (index, connection) in connections.enumerated() {
                let other = connections[1 - index].client
                #expect(try Polling.until { try other.get("/admin/stats", key: admin).status == 200 })
                // The other server finds a click that one server stores only if both have the same keys.
                #expect(try connection.client.click(fingerprint(index)).status == 201)
                #expect(try other.check(fingerprint(index), key: app).isMatch)
            }
            for server in servers {
                server.send(SIGTERM)
                #expect(server.waitUntilExit() == 0)
            }
        }
    }

    /// Returns the keys that a server printed, by their kinds.
    private static func keys(in lines: [String]) -> [String: String] {
        let words = lines.map { $0.split(separator: " ").map(String.init) }
        return Dictionary(
            words.filter { $0.count == 2 && $0[1].hasPrefix($0[0] + "_") }.map { ($0[0], $0[1]) },
            uniquingKeysWith: { first, _ in first }
        )
    }
}
#endif
