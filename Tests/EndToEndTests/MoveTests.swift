#if PostgreSQL
import Attribution
import Foundation
import Support
import Testing

/// `afterlink migrate --from` with real servers before and after the move.
@Suite("A move from SQLite to PostgreSQL", .onPostgreSQL, .blocking)
struct MoveTests {
    private static let host = ["X-Forwarded-Host": "go.shop.example", "Accept": "text/html"]

    /// Returns an installation whose app has a short link for three clicks.
    private func shop() throws -> Installation {
        let installation = try Installation()
        for words in [
            ["apps", "set", "--link-host", "go.shop.example", "--ios-scheme", "shopapp"],
            ["links", "create", "few", "--destination", "/promo", "--maximum-clicks", "3", "--tag", "a"],
        ] {
            let output = try installation.run(words)
            #expect(output.status == 0, "\(output.errors)")
        }
        return installation
    }

    private func clickLink(_ number: Int, _ connection: HTTPTestClient) throws -> HTTPTestClient.Reply {
        let body = #"{"fingerprint":"\#(fingerprint(number))","link":"few"}"#
        let fields = ["Content-Type": "application/json"]
        return try connection.call("POST", HTTPTestClient.prefix + "/click", fields: fields, body: body)
    }

    @Test("servers on the moved database continue where the server on the file stopped")
    func continues() throws {
        let installation = try shop()
        let (server, connection) = try installation.serve()
        let key = installation.keys.app
        for number in 0..<40 {
            let agent =
                number % 10 == 9 ? ["User-Agent": "Googlebot/2.1 (+http://www.google.com/bot.html)"] : [:]
            let members: [String: Any] = number % 4 == 0 ? ["attribution_window_seconds": 604_800] : [:]
            #expect(try connection.click(fingerprint(number), members, fields: agent).status == 201)
        }
        let underWay = try connection.click(fingerprint(100), ["idempotency_key": "k1"])
        let token = try #require(underWay.string("token"))
        let tapped = try #require(clickLink(200, connection).string("token"))
        #expect(try clickLink(201, connection).status == 201)
        let install = ["X-Install-ID": "install-1"]
        let first = try connection.check(fingerprint(1), fields: install)
        let second = try connection.check(fingerprint(2), fields: ["X-Request-ID": "launch-2"])
        #expect(first.isMatch && second.isMatch)
        #expect(try connection.check(fingerprint(99), fields: ["X-Request-ID": "launch-99"]).isNoMatch)
        let before = try Reports(connection, installation.keys.admin)
        server.terminate()
        #expect(server.waitUntilExit() == 0)

        let target = try MovedDatabase()
        let output = try target.move(installation)
        #expect(output.status == 0, "\(output.errors)")
        #expect(output.text.contains("each table has as many rows as before"))
        #expect(
            output.text.split(separator: "\n").contains { $0.hasPrefix("clicks ") && $0.hasSuffix(" 43") }
        )
        let verified = try target.run(["verify"], installation)
        #expect(verified.status == 0, "\(verified.text)")

        let moved = try target.serve(installation)
        let after = try moved.connect(installation)
        #expect(try Reports(after, installation.keys.admin) == before)
        // Both tokens from before the move match once: the token of a click without a link, and the token of a
        // tapped link.
        for token in [token, tapped] {
            let path = "\(HTTPTestClient.prefix)?token=\(token)"
            #expect(try after.get(path, key: key).isMatch)
            #expect(try after.get(path, key: key, fields: ["X-Install-ID": "install-9"]).isNoMatch)
        }
        // The installation gets its answer again; a consumed click matches no other launch.
        #expect(try after.check(fingerprint(1), fields: install).text == first.text)
        #expect(try after.check(fingerprint(1), fields: ["X-Install-ID": "install-2"]).isNoMatch)
        for number in [0, 3, 4] {
            #expect(try after.check(fingerprint(number), fields: ["X-Install-ID": "i\(number)"]).isMatch)
        }
        #expect(try after.check(fingerprint(9)).isNoMatch)
        let again = try after.click(fingerprint(100), ["idempotency_key": "k1"])
        #expect(again.string("click_id") == underWay.string("click_id"))
        // The link has one click left.
        #expect(try clickLink(202, after).status == 201)
        #expect(try clickLink(203, after).status != 201)
        // New rows get numbers and identifiers that no moved row has.
        #expect(try after.click(fingerprint(300)).status == 201)
        #expect(try after.check(fingerprint(300)).isMatch)
        let created = try Installation.run(["apps", "create", "Other", "--database", target.url])
        #expect(created.status == 0, "\(created.errors)")
        moved.process.send(SIGTERM)
        #expect(moved.process.waitUntilExit() == 0)
        #expect(try target.run(["verify"], installation).status == 0)
    }

    /// The reports that operators read.
    private struct Reports: Equatable {
        let totals: [String: Int]
        let links: String
        let explanations: [String]

        init(_ connection: HTTPTestClient, _ admin: String) throws {
            // The records of checks are written within half a second.
            let path = "/admin/api/checks/launch-99/explain"
            _ = try Polling.until { try connection.get(path, key: admin).status == 200 }
            totals = try connection.totals(admin).compactMapValues { $0 as? Int }
            links = try connection.get("/admin/api/links", key: admin).text
            explanations = try ["launch-2", "launch-99"].map { request in
                try connection.get("/admin/api/checks/\(request)/explain", key: admin).text
            }
        }
    }

    /// Returns the option that names a new secret.
    private static func secret(_ installation: Installation) throws -> [String] {
        let path = installation.folder.appending(path: "secret").path
        try Data(String(repeating: "5a", count: 32).utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return ["--secret-file", path]
    }

    private static func removeKeys(_ installation: Installation) throws {
        for suffix in [".key", ".address-key"] {
            try FileManager.default.removeItem(atPath: installation.database.path + suffix)
        }
    }

    @Test("with --secret-file, the keys move into the database, and servers need no key files")
    func keyring() throws {
        let (installation, server, connection) = try Installation.serving()
        #expect(try connection.click(fingerprint(1)).status == 201)
        server.terminate()
        #expect(server.waitUntilExit() == 0)
        let secret = try Self.secret(installation)
        let target = try MovedDatabase()
        let output = try target.move(installation, secret)
        #expect(output.status == 0, "\(output.errors)")
        try Self.removeKeys(installation)
        let moved = try target.serve(installation, secret)
        let after = try moved.connect(installation)
        #expect(try after.check(fingerprint(1)).isMatch)
        moved.process.kill()
    }

    @Test("a file is not moved if a server has it open, its keys are missing, or the target has other data")
    func refused() throws {
        let (installation, server, _) = try Installation.serving()
        let target = try MovedDatabase()
        let served = try target.move(installation)
        #expect(
            served.status == 1 && served.errors.contains("rocess \(server.identifier) has "),
            "\(served.errors)"
        )
        server.kill()
        let key = installation.database.path + ".key"
        try FileManager.default.moveItem(atPath: key, toPath: key + ".away")
        #expect(try target.move(installation).status == 78)
        #expect(try target.database.execute("SELECT count(*) FROM pg_class WHERE relname = 'clicks'") == "0")
        try FileManager.default.moveItem(atPath: key + ".away", toPath: key)
        #expect(try target.move(installation).status == 0)

        let second = try target.move(installation)
        #expect(second.status == 1 && second.errors.contains("is complete"), "\(second.errors)")
        let third = try target.move(try Installation())
        #expect(third.status == 1 && third.errors.contains("is complete"), "\(third.errors)")
        let other = try MovedDatabase()
        let folder = try TemporaryFolder()
        let made = try Installation.run(["init", "--database", other.url, "--data-directory", folder.path])
        #expect(made.status == 0, "\(made.errors)")
        let mixed = try other.move(installation)
        #expect(mixed.status == 1 && mixed.errors.contains("data of its own"), "\(mixed.errors)")
    }

    @Test("the error of a wrong call names the wrong option, and never the password")
    func wrongCalls() throws {
        for words in [
            ["--from", "afterlink.db", "--to", "postgres://u@h/d"], ["--from", "sqlite:x.db"],
            ["--to", "postgres://u@h/d"],
            ["--from", "sqlite:x.db", "--to", "x.db"],
            ["--from", "sqlite:x.db", "--to", "postgres://u:secret@h/d"],
            ["--from", "sqlite:x.db", "--to", "postgres://u@h/d", "--dry-run"],
            ["--from", "sqlite:x.db", "--to", "postgres://u@h/d", "--database", "postgres://u@h/d"],
        ] {
            let output = try Installation.run(["migrate"] + words)
            #expect(output.status == 2, "\(words): \(output.errors)")
            #expect(output.errors.contains("--") && !output.errors.contains("secret@"), "\(output.errors)")
        }
        let missing = try Installation.run([
            "migrate", "--from", "sqlite:/nowhere/x.db", "--to", "postgres://u@h/d",
        ])
        #expect(missing.status == 1 && missing.errors.contains("There is no database at /nowhere/x.db"))
    }

    @Test("`migrate` without --from creates an empty database's tables, and the first start creates its app")
    func schemaAlone() throws {
        let target = try MovedDatabase()
        let url = target.url
        let plan = try Installation.run(["migrate", "--dry-run", "--database", url])
        #expect(plan.status == 0 && plan.text.contains("to be applied"), "\(plan.errors)")
        #expect(try target.database.execute("SELECT count(*) FROM pg_class WHERE relname = 'clicks'") == "0")
        #expect(try Installation.run(["migrate", "--database", url]).text.contains("applied"))
        #expect(try Installation.run(["migrate", "--database", url]).text.contains("is up to date"))
        #expect(try target.database.execute("SELECT count(*) FROM apps") == "0")
        let folder = try TemporaryFolder()
        let made = try Installation.run(["init", "--database", url, "--data-directory", folder.path])
        #expect(made.status == 0, "\(made.errors)")
    }

    @Test(
        "a move that is killed at any step can be continued, and servers start only after its end",
        arguments: KilledPart.allCases
    )
    fileprivate func killed(part: KilledPart) throws {
        let (installation, server, connection) = try Installation.serving()
        for number in 0..<20 { #expect(try connection.click(fingerprint(number)).status == 201) }
        for number in 0..<5 {
            let install = ["X-Install-ID": "install-\(number)"]
            #expect(try connection.check(fingerprint(number), fields: install).isMatch)
        }
        server.kill()
        let secret = try Self.secret(installation)
        let target = try MovedDatabase()
        #expect(try Installation.run(["migrate", "--database", target.url]).status == 0)
        try target.database.execute(
            """
            CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(600); RETURN NEW; END $$;
            CREATE TRIGGER wait AFTER INSERT ON \(part.rawValue) FOR EACH ROW \(part.condition)
            EXECUTE FUNCTION wait()
            """
        )
        let mover = try ChildProcess(Installation.binary, target.words(installation, secret))
        let waits =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
        #expect(try Polling.until { try target.database.execute(waits) == "1" })
        mover.kill()
        let refused = try Installation.run(["stats", "--database", target.url])
        #expect(refused.status == 1 && refused.errors.contains("lacks rows, because"), "\(refused.errors)")
        // PostgreSQL notices that a client has gone only when it sends the client an answer.
        try target.database.execute(
            """
            SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid();
            DROP FUNCTION wait CASCADE
            """
        )
        let output = try target.move(installation, secret)
        #expect(output.status == 0, "\(output.errors)")
        try Self.removeKeys(installation)
        #expect(try Installation.run(["verify", "--database", target.url] + secret).status == 0)
        let moved = try target.serve(installation, secret)
        let after = try moved.connect(installation)
        for number in 0..<20 {
            let install = ["X-Install-ID": "install-\(number)"]
            #expect(try after.check(fingerprint(number), fields: install).isMatch, "\(number)")
            #expect(
                try after.check(fingerprint(number), fields: ["X-Install-ID": "other"]).isNoMatch,
                "\(number)"
            )
        }
        moved.process.kill()
    }
}

/// The table whose rows a move inserts when it is killed.
private enum KilledPart: String, CaseIterable {
    case tables = "counts"
    case clicks = "clicks"
    case addresses = "click_index"
    case checks = "checks"
    case installs = "installs"
    case keys = "keyring"
    case end = "progress"

    /// Which rows of the table stop the move.
    var condition: String {
        switch self {
        // The address keys are stored before the server keys.
        case .keys: "WHEN (NEW.kind = 'server')"
        case .end: "WHEN (NEW.name = 'moved_up_to')"
        default: ""
        }
    }
}

/// A PostgreSQL database that a file moves into, and that belongs to a user without other rights.
private final class MovedDatabase: Sendable {
    let database: PostgreSQLTestDatabase
    let url: String

    init() throws {
        database = try PostgreSQLTestDatabase()
        let owner = "owner_of_\(database.name)"
        try database.execute("CREATE ROLE \(owner) LOGIN; ALTER DATABASE \(database.name) OWNER TO \(owner)")
        url = database.socketURL.replacing("\(PostgreSQLCluster.user)@", with: "\(owner)@")
    }

    func words(_ installation: Installation, _ more: [String] = []) -> [String] {
        ["migrate", "--from", "sqlite:" + installation.database.path, "--to", url] + more
    }

    func move(_ installation: Installation, _ more: [String] = []) throws -> ChildProcess.Output {
        try Installation.run(words(installation, more))
    }

    /// Runs a command on the database.
    func run(_ words: [String], _ installation: Installation) throws -> ChildProcess.Output {
        let key = installation.database.path + ".key"
        return try Installation.run(words + ["--database", url, "--server-key-file", key])
    }

    struct Server {
        let process: ChildProcess
        let port: UInt16

        func connect(_ installation: Installation) throws -> HTTPTestClient {
            try HTTPTestClient(port: port, key: installation.keys.app)
        }
    }

    /// Serves the database, by default with the key files of the file that moved.
    func serve(_ installation: Installation, _ keys: [String]? = nil) throws -> Server {
        let keys = keys ?? ["--server-key-file", installation.database.path + ".key"]
        let log = installation.folder.appending(path: "moved.log")
        let words = ["serve", "--listen", "127.0.0.1:0", "--database", url]
        let process = try ChildProcess(Installation.binary, words + keys, errorLog: log)
        let line = process.line(containing: "listening on http")
        let port = try #require(
            line?.split(separator: ":").last.flatMap { UInt16($0) },
            "\((try? String(contentsOf: log, encoding: .utf8)) ?? "")"
        )
        return Server(process: process, port: port)
    }
}
#endif
