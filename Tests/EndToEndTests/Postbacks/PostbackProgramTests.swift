import Foundation
import SQLite
import Support
import Testing

/// Postbacks with the real program and a receiver that is a process of its own.
@Suite("Postbacks of the program", .blocking(minutes: 60))
struct PostbackProgramTests {
    struct Endpoint: Decodable {
        let id: String
        let secret: String?
    }
    private struct Endpoints: Decodable {
        struct One: Decodable {
            let id: String
            let state: String
            let reason: String?
            let pending: Int
        }
        let endpoints: [One]
    }
    private struct Deliveries: Decodable {
        struct One: Decodable {
            struct Request: Decodable {
                let headers: [String: String]
                let base_string: String?
            }
            let id: String
            let state: String
            let attempts: Int
            let status: Int?
            let problem: String?
            let answer: String?
            let request: Request?
        }
        let deliveries: [One]
    }

    static func create(_ url: String, _ types: [String] = ["match.created"], in installation: Installation)
        throws
        -> Endpoint
    {
        let options = types.flatMap { ["--type", $0] }
        let output = try installation.run(["postbacks", "create", "--url", url, "--json"] + options)
        try #require(output.status == 0, "\(output.errors)")
        return try JSONDecoder().decode(Endpoint.self, from: output.standardOutput)
    }

    private static func deliveries(_ endpoint: Endpoint, in installation: Installation) throws -> [Deliveries
        .One]
    {
        let output = try installation.run(["postbacks", "deliveries", endpoint.id, "--json"])
        return try JSONDecoder().decode(Deliveries.self, from: output.standardOutput).deliveries
    }

    private static func list(_ installation: Installation) throws -> [Endpoints.One] {
        let output = try installation.run(["postbacks", "list", "--json"])
        return try JSONDecoder().decode(Endpoints.self, from: output.standardOutput).endpoints
    }

    /// Records a click and matches it; returns the click of the answer.
    static func match(_ number: Int, _ connection: HTTPTestClient, _ installation: Installation) throws
        -> String?
    {
        _ = try connection.click(fingerprint(number))
        let reply = try connection.check(fingerprint(number), key: installation.keys.app)
        return reply.isMatch ? reply.string("click_id") : nil
    }

    @Test(
        "an id of no endpoint is refused with the command that lists endpoints",
        arguments: ["deliveries", "test", "replay", "rotate", "enable", "disable"]
    )
    func noEndpoint(command: String) throws {
        let id = "pbe_01jz8w6t7n3k5m9q2r4v6x8y0z"
        let output = try Installation(isCopy: true).run(["postbacks", command, id])
        #expect(output.status == 1)
        let advice = "`afterlink postbacks list` shows the endpoints."
        #expect(output.errors == "afterlink: There is no endpoint \(id).\n\(advice)\n")
    }

    @Test("`postbacks create` warns of a refused address, and `rotate` refuses an endpoint without a secret")
    func remarks() throws {
        let installation = try Installation()
        let words = ["postbacks", "create", "--url", "http://127.0.0.1:9/{id}", "--type", "match.created"]
        let created = try installation.run(words)
        #expect(created.errors.contains("Warning: No postbacks are sent"), "\(created)")
        let id = try #require(created.text.firstMatch(of: /pbe_[0-9a-z]+/)).output
        let allowed = try installation.run(words + ["--postback-allow", "127.0.0.0/8"])
        #expect(allowed.status == 0 && allowed.errors.isEmpty, "\(allowed.errors)")
        let named = ["postbacks", "create", "--url", "https://a.example:8443/", "--type", "match.created"]
        #expect(try installation.run(named).errors.contains("port 8443 is not permitted"))
        #expect(try installation.run(named + ["--postback-allow", "10.0.0.0/8"]).errors.isEmpty)
        let rotated = try installation.run(["postbacks", "rotate", String(id)])
        #expect(rotated.status == 1 && rotated.errors.contains("has no secret"), "\(rotated.text)")
    }

    @Test("`postbacks listen` takes an empty secret in the environment as none")
    func emptySecret() throws {
        let listener = try ChildProcess(
            Installation.binary,
            ["postbacks", "listen", "--listen", "127.0.0.1:0", "--json"],
            environment: ["AFTERLINK_ENDPOINT_SECRET": ""]
        )
        #expect(listener.line(containing: #"{"listening_on":"http://127.0.0.1:"#) != nil)
    }

    @Test("the first delivery is verified and printed by `postbacks listen`")
    func listen() throws {
        let installation = try Installation()
        let port = try #require(Loopback.freePort())
        let endpoint = try Self.create(
            "http://127.0.0.1:\(port)/hook",
            ["match.*", "link.*"],
            in: installation
        )
        let secret = try #require(endpoint.secret)
        let listener = try ChildProcess(
            installation.binary,
            ["postbacks", "listen", "--listen", "127.0.0.1:\(port)", "--json"],
            environment: ["AFTERLINK_ENDPOINT_SECRET": secret]
        )
        #expect(listener.line(containing: #"{"listening_on":"http://127.0.0.1:\#(port)"}"#) != nil)
        let (server, connection) = try installation.serve(["--postback-allow", "127.0.0.0/8:\(port)"])
        let click = try #require(try Self.match(1, connection, installation))
        let line = try #require(listener.line(containing: "match.created"))
        #expect(line.contains(click) && line.contains(#""verified":true"#))
        // A change by another process is sent, too.
        _ = try installation.run(["links", "create", "spring", "--destination", "shop://spring"])
        #expect(listener.line(containing: "link.created")?.contains(#""verified":true"#) == true)
        let test = try installation.run(["postbacks", "test", endpoint.id])
        #expect(test.status == 0 && test.text.contains("delivered"))
        #expect(listener.line(containing: #"\"sample\":true"#) != nil)
        // After a rotation, both secrets verify.
        #expect(try installation.run(["postbacks", "rotate", endpoint.id]).status == 0)
        _ = try Self.match(2, connection, installation)
        #expect(listener.line(containing: "match.created")?.contains(#""verified":true"#) == true)
        withExtendedLifetime(server) {}
    }

    @Test(
        "deliveries end correctly if receivers hang, drip, redirect, answer too much, are gone or ask to wait"
    )
    func faults() throws {
        let (installation, receiver) = (try Installation(), try WebhookReceiver())
        let paths = ["ok", "hang", "drip", "redirect", "huge", "gone", "later", "error"]
        var endpoints: [String: Endpoint] = [:]
        for path in paths { endpoints[path] = try Self.create(receiver.url(path), in: installation) }
        let (server, connection) = try installation.serve(receiver.allowance)
        _ = try #require(try Self.match(1, connection, installation))
        func delivery(_ path: String) throws -> Deliveries.One? {
            try endpoints[path].flatMap { try Self.deliveries($0, in: installation).first }
        }
        for path in paths {
            #expect(try Polling.until { try delivery(path)?.attempts ?? 0 > 0 }, "\(path)")
        }
        let ok = try #require(try delivery("ok"))
        #expect(ok.state == "delivered" && ok.status == 204)
        #expect(ok.request?.base_string?.hasPrefix("\(ok.id).") == true)
        #expect(ok.request?.headers["webhook-signature"]?.hasPrefix("v1,") == true)
        #expect(try delivery("hang")?.problem == "the response took too long")
        #expect(try delivery("drip")?.problem == "the response took too long")
        #expect(try delivery("redirect")?.problem == "the response 307 is a redirect, which is not followed")
        // The status counts; the body is not read to its end.
        #expect(try delivery("huge")?.state == "delivered")
        #expect(try delivery("gone")?.state == "failed")
        #expect(try delivery("later")?.status == 429)
        #expect(try Polling.until { try delivery("error")?.state == "delivered" })
        let states = Dictionary(uniqueKeysWithValues: try Self.list(installation).map { ($0.id, $0) })
        let gone = try #require(endpoints["gone"].flatMap { states[$0.id] })
        #expect(gone.state == "disabled" && gone.reason == "it answered 410 Gone")
        #expect(states.values.count { $0.state == "enabled" } == paths.count - 1)
        let requests = try receiver.received()
        // The redirect leads to the path `ok`, which got no second request. The path `redirect` may have got one
        // meanwhile.
        #expect(requests.count { $0.path == "ok" } == 1)
        #expect(requests.count { $0.path == "later" } == 1)
        for path in ["ok", "error"] {
            let own = requests.filter { $0.path == path }
            let (judge, refused) = try WebhookReceiver.judge(own, secret: endpoints[path]?.secret ?? "")
            #expect(["standardwebhooks", "hmac"].contains(judge) && refused.isEmpty)
            #expect(Set(own.map(\.id)).count == 1 && Set(own.map(\.body)).count == 1)
        }
        let foreign = try WebhookReceiver.judge(
            requests.filter { $0.path == "ok" },
            secret: endpoints["hang"]?.secret ?? ""
        )
        #expect(foreign.refused.count == 1, "the judge refuses a foreign secret")
        withExtendedLifetime(server) {}
    }

    @Test(
        "addresses inside the network are refused unless they are allowed, and the service's own is always refused"
    )
    func insideAddresses() throws {
        let (installation, receiver) = (try Installation(), try WebhookReceiver())
        let inside = try Self.create(receiver.url("ok"), in: installation)
        let named = try Self.create("https://localhost/", in: installation)
        let (server, connection) = try installation.serve([
            "--postback-allow", "127.0.0.1:\(receiver.port + 1)",
        ])
        let (first, second) = (connection, installation)
        _ = try #require(try Self.match(1, first, second))
        for endpoint in [inside, named] {
            #expect(
                try Polling.until { try Self.deliveries(endpoint, in: installation).first?.problem != nil }
            )
            let problem = try Self.deliveries(endpoint, in: installation).first?.problem
            #expect(problem?.contains("--postback-allow") == true)
        }
        #expect(try receiver.received().isEmpty)
        server.kill()
        let own = try installation.serve(["--postback-allow", "0.0.0.0/0"])
        let itself = try ["127.0.0.1", "0.0.0.0"].map { host in
            try Self.create("http://\(host):\(own.server.port)/", in: installation)
        }
        #expect(try Polling.until { try Self.match(2, own.connection, installation) != nil })
        #expect(
            try Polling.until {
                _ = try Self.match(Int.random(in: 3...1_000_000), own.connection, installation)
                return try itself.allSatisfy { endpoint in
                    try Self.deliveries(endpoint, in: installation).first?.problem?.contains("not permitted")
                        == true
                }
            }
        )
    }

    @Test("a receiver that rebinds its name gets calls only at the address that was checked")
    func rebinding() throws {
        let (installation, receiver) = (try Installation(), try WebhookReceiver())
        let trap = try WebhookReceiver(on: "127.0.0.2", port: receiver.port)
        // The first, third, … look-up of the name leads to the receiver, the others lead to the trap.
        let lookups = installation.folder.appending(path: "lookups")
        let environment = ["LD_PRELOAD": try FaultLibrary.names.get(), "AFTERLINK_LOOKUPS": lookups.path]
        func addresses() throws -> String { String(decoding: try Data(contentsOf: lookups), as: UTF8.self) }
        let endpoint = try Self.create("http://rebind.test:\(receiver.port)/ok", in: installation)
        func delivery(_ click: String) throws -> Deliveries.One? {
            let id = try (receiver.received() + trap.received()).first { $0.click == click }?.id
            let all = try Self.deliveries(endpoint, in: installation)
            return id.flatMap { id in all.first { $0.id == id } }
        }
        let server = try AfterlinkProcess(installation, receiver.allowance, environment: environment)
        let connection = try server.connect()
        // A client that looked the name up again to connect would reach the trap.
        let first = try #require(try Self.match(1, connection, installation))
        #expect(try Polling.until { try delivery(first)?.state == "delivered" })
        #expect(try addresses() == "1")
        // The name leads to the trap, whose address is refused; the next attempt leads to the receiver.
        let second = try #require(try Self.match(2, connection, installation))
        #expect(try Polling.until { try delivery(second)?.state == "delivered" })
        #expect(try addresses() == "121" && delivery(second)?.attempts == 2)
        #expect(try receiver.received().map(\.click) == [first, second] && trap.received().isEmpty)
        // If the trap's address is allowed, the trap gets a call.
        server.kill()
        let open = try AfterlinkProcess(
            installation,
            ["--postback-allow", "127.0.0.0/8:\(receiver.port)"],
            environment: environment
        )
        let other = try open.connect()
        for number in 3...4 {
            let click = try #require(try Self.match(number, other, installation))
            #expect(try Polling.until { try delivery(click)?.state == "delivered" })
        }
        #expect(try trap.received().count == 1 && receiver.received().count == 3)
        withExtendedLifetime(open) {}
    }

    @Test("kills at any moment lose no event, and repeat an event only under its id")
    func kills() throws {
        let (installation, receiver) = (try Installation(), try WebhookReceiver())
        let endpoint = try Self.create(receiver.url("ok"), in: installation)
        var matched: [String] = []
        var number = 0
        for _ in 0..<(isLong ? 300 : 6) {
            let (server, connection) = try installation.serve(receiver.allowance)
            let end = Int.random(in: 1...12)
            for turn in 0... {
                number += 1
                guard turn < end else { break }
                if let click = try Self.match(number, connection, installation) { matched.append(click) }
            }
            // Without a pause, calls are under way or just answered at the kill.
            if Bool.random() {
                _ = Polling.until { (try? receiver.received().count) ?? 0 >= matched.count / 2 }
            }
            server.kill()
        }
        let last = try installation.serve(receiver.allowance)
        #expect(matched.count > 5)
        #expect(
            try Polling.until { Set(try receiver.received().compactMap(\.click)).isSuperset(of: matched) },
            "every match that was answered is received"
        )
        #expect(try Polling.until { try Self.list(installation).allSatisfy { $0.pending == 0 } })
        let requests = try receiver.received()
        let byClick = Dictionary(grouping: requests) { $0.click ?? "" }
        #expect(byClick.values.allSatisfy { Set($0.map(\.id)).count == 1 && Set($0.map(\.body)).count == 1 })
        #expect(try WebhookReceiver.judge(requests, secret: endpoint.secret ?? "").refused.isEmpty)
        withExtendedLifetime(last) {}
    }

    @Test("a full disk loses no event, and no event is sent about a match that is not stored")
    func fullDisk() throws {
        let receiver = try WebhookReceiver()
        let (installation, disk, server) = try AfterlinkProcess.onFaultyDisk(receiver.allowance)
        let endpoint = try Self.create(receiver.url("ok"), in: installation)
        let connection = try server.connect()
        #expect(try connection.click(fingerprint(1)).status == 201)
        try disk.set(.noSpace)
        for _ in 0..<3 {
            #expect(try connection.check(fingerprint(1), key: installation.keys.app).status == 503)
        }
        #expect(try receiver.received().isEmpty)
        try disk.set()
        var matched: [String] = []
        #expect(
            try Polling.until {
                let reply = try connection.check(fingerprint(1), key: installation.keys.app)
                matched = [reply.isMatch ? reply.string("click_id") : nil].compactMap(\.self)
                return !matched.isEmpty
            }
        )
        // The receiver may answer before the disk is full; the outcome may then be stored only when the disk has room.
        #expect(try connection.click(fingerprint(3)).status == 201)
        matched.append(try #require(try Self.match(2, connection, installation)))
        try disk.set(.noSpace)
        #expect(try connection.check(fingerprint(3), key: installation.keys.app).status == 503)
        try disk.set()
        #expect(
            try Polling.until { Set(try receiver.received().compactMap(\.click)).isSuperset(of: matched) }
        )
        #expect(try Polling.until { try Self.list(installation).allSatisfy { $0.pending == 0 } })
        let requests = try receiver.received()
        #expect(Set(requests.map(\.id)).count == 2 && Set(requests.map(\.body)).count == 2)
        #expect(Set(requests.compactMap(\.click)) == Set(matched))
        #expect(try WebhookReceiver.judge(requests, secret: endpoint.secret ?? "").refused.isEmpty)
    }

    @Test("a restore can hold the backup's endpoints")
    func restore() throws {
        let (installation, receiver) = (try Installation(), try WebhookReceiver())
        _ = try Self.create(receiver.url("ok"), in: installation)
        let backup = installation.folder.appending(path: "backup.db").path
        #expect(try installation.run(["backup", backup]).status == 0)
        // A backup of the version before lacks the last migration, which adds an index.
        do {
            let older = try SQLiteConnection(path: backup, access: .readWrite, busyMilliseconds: 5000)
            try older.execute("DROP INDEX links_of_users")
            try older.execute("DELETE FROM migrations WHERE number = 6")
            try older.execute("PRAGMA user_version = 5")
        }
        let output = try installation.run(["restore", backup, "--overwrite", "--hold-postbacks"])
        #expect(output.status == 0 && output.text.contains("Held endpoints: 1;"), "\(output.errors)")
        #expect(try Self.list(installation).map(\.state) == ["held"])
        let endpoint = try #require(try Self.list(installation).first)
        #expect(try installation.run(["postbacks", "enable", endpoint.id]).status == 0)
        #expect(try Self.list(installation).map(\.state) == ["enabled"])
    }

    @Test("after a restore, only what was pending at the backup is sent again, under its id")
    func repeatedAfterRestore() throws {
        let (installation, receiver) = (try Installation(), try WebhookReceiver())
        let endpoint = try Self.create(receiver.url("ok"), in: installation)
        func isDelivered() throws -> Bool {
            let deliveries = try Self.deliveries(endpoint, in: installation)
            return !deliveries.isEmpty && deliveries.allSatisfy { $0.state == "delivered" }
        }
        func restored(_ backup: String, _ options: [String] = []) throws -> String {
            let path = installation.folder.appending(path: backup).path
            let output = try installation.run(["restore", path, "--overwrite"] + options)
            #expect(output.status == 0, "\(output.errors)")
            return output.text
        }
        func backUp(_ name: String) throws {
            let path = installation.folder.appending(path: name).path
            #expect(try installation.run(["backup", path]).status == 0)
        }
        let first = try installation.serve(receiver.allowance)
        let before = try #require(try Self.match(1, first.connection, installation))
        #expect(try Polling.until { try isDelivered() })
        first.server.kill()

        // A held endpoint collects deliveries, so the second backup has one that is pending.
        try backUp("held.db")
        _ = try restored("held.db", ["--hold-postbacks"])
        let second = try installation.serve(receiver.allowance)
        let after = try #require(try Self.match(2, second.connection, installation))
        second.server.kill()
        #expect(try receiver.received().map(\.click) == [before])
        #expect(try installation.run(["postbacks", "enable", endpoint.id]).status == 0)
        try backUp("pending.db")
        let third = try installation.serve(receiver.allowance)
        #expect(try Polling.until { try isDelivered() })
        third.server.kill()

        #expect(try restored("pending.db").contains("are sent again, under the same ids"))
        let last = try installation.serve(receiver.allowance)
        #expect(try Polling.until { try isDelivered() })
        let requests = try receiver.received()
        #expect(requests.map(\.click) == [before, after, after])
        #expect(Set(requests.dropFirst().map(\.id)).count == 1)
        #expect(Set(requests.dropFirst().map(\.body)).count == 1)
        withExtendedLifetime(last) {}
    }
}
