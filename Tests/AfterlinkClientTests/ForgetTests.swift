import Foundation
import SQLite
import Support
import Synchronization
import Testing

@Suite("An installation that asks to be forgotten", .blocking)
struct ForgetTests {
    @Test(
        "is erased once the server can be reached: launch, click ids, events and deliveries",
        arguments: ClientKind.available
    )
    func erased(kind: ClientKind) async throws {
        let server = try RealServer()
        let endpoint = ["postbacks", "create", "--url", "http://127.0.0.1:9/hook", "--type", "match.created"]
        #expect(try server.installation.run(endpoint).status == 0)
        let app = try ClientApp(kind, server: server.url, key: server.installation.keys.app)
        let token = try await server.click("FORGET", query: "gclid=G-1")
        let opened = "opened=myapp://promo/FORGET?al=\(token)"
        let first = try app.launch(opened, "within=20", "events=sign_up", "flush")
        #expect(first.lines.contains("campaign FORGET") && first.lines.contains("flushed true"), "\(first)")
        let id = try Self.id(app)
        #expect(try Self.rows(server) == [1, 1, 1, 1, 1])

        // The click of another installation stays.
        let other = try ClientApp(kind, server: server.url, key: server.installation.keys.app)
        let kept = "opened=myapp://promo/KEPT?al=\(try await server.click("KEPT"))"
        #expect(try other.launch(kept, "within=20").first == "campaign KEPT")

        let offline = try app.launch("first=no", "forget", server: "http://127.0.0.1:1")
        #expect(offline.lines.contains("forgotten false"), "\(offline)")
        #expect(try Self.rows(server) == [2, 1, 1, 2, 2])
        let next = try app.start("within=20", "late=120")
        #expect(next.line(containing: "settled") != nil)
        #expect(Polling.until { !app.state.contains(id) }, "\(app.state)")
        #expect(try Self.rows(server) == [1, 0, 0, 1, 1])

        // A new installation on the same device has another id, and no answer of the old one.
        try FileManager.default.removeItem(atPath: app.stateFolder)
        #expect(try app.launch("within=20").first == "none")
        #expect(try Self.id(app) != id)
    }

    @Test("is settled at once while the server does not confirm", arguments: ClientKind.available)
    func unconfirmed(kind: ClientKind) throws {
        let silent = try HostileServer { _, _ in [.untilClosed {}] }
        let app = try ClientApp(kind, server: silent.url)
        let offline = try app.launch("first=no", "forget", server: "http://127.0.0.1:1")
        #expect(offline.lines.contains("forgotten false"), "\(offline)")
        let next = try app.launch("within=8")
        #expect(next.first == "settled" && next.seconds < 6, "\(next)")
    }

    @Test("is forgotten at once if the server confirms", arguments: ClientKind.available)
    func confirmed(kind: ClientKind) throws {
        let server = try RealServer()
        let app = try ClientApp(kind, server: server.url, key: server.installation.keys.app)
        #expect(try app.launch("first=no", "forget").lines.contains("forgotten true"))
        // A key of another server is refused, so the request stays due.
        let stranger = try ClientApp(kind, server: server.url, key: "app_unknown")
        #expect(try stranger.launch("first=no", "forget").lines.contains("forgotten false"))
        #expect(stranger.state.contains("erasures"))
        #expect(!app.state.contains("erasures"))
    }

    @Test(
        "is erased together with the events that it sent after an unconfirmed erasure",
        arguments: ClientKind.available
    )
    func twice(kind: ClientKind) throws {
        let server = try RealServer()
        let app = try ClientApp(kind, server: server.url, key: server.installation.keys.app)
        #expect(try app.launch("first=no", "events=first", "flush").lines.contains("flushed true"))
        let id = try Self.id(app)
        for _ in 0..<2 {
            let offline = try app.launch("first=no", "forget", server: "http://127.0.0.1:1")
            #expect(offline.lines.contains("forgotten false"))
        }
        #expect(try app.launch("first=no", "optin", "events=second", "flush").lines.contains("flushed true"))
        let second = try Self.id(app)
        #expect(second != id)
        #expect(try Self.rows(server)[2] == 2)
        #expect(try app.launch("first=no", "forget").lines.contains("forgotten true"))
        #expect(try Self.rows(server)[2] == 0)
        #expect(!app.state.contains(id) && !app.state.contains(second))
    }

    @Test(
        "ends the request under way before the server erases, as an opt-out ends it",
        arguments: ClientKind.available,
        [
            "first=no then=forget events=a", "first=no then=forget", "first=no then=optout events=a",
            "first=no then=optout",
        ]
    )
    func interrupts(kind: ClientKind, arguments: String) throws {
        let folder = try TemporaryFolder()
        let (started, ended) = (folder.file("started"), folder.file("ended"))
        let wasEndedBeforeErasure = Mutex(false)
        let end = DispatchSemaphore(value: 0)
        let server = try HostileServer { request, _ in
            if request.path == "/v1/erase" {
                let result = end.wait(timeout: .now() + 5)
                wasEndedBeforeErasure.withLock { $0 = result == .success }
                return [HostileServer.response("200 OK", #"{"status":"erased"}"#)]
            }
            _ = FileManager.default.createFile(atPath: started, contents: nil)
            return [
                .untilClosed {
                    end.signal()
                    _ = FileManager.default.createFile(atPath: ended, contents: nil)
                }
            ]
        }
        let app = try ClientApp(kind, server: server.url)
        let words = arguments.split(separator: " ").map(String.init)
        let launch = try app.launch(
            words[0],
            words[1],
            "started=\(started)",
            "ended=\(ended)",
            words.last ?? ""
        )
        #expect(launch.lines.contains("started true") && launch.lines.contains("ended true"), "\(launch)")
        let isForgotten = words.contains("then=forget")
        #expect(launch.lines.contains("forgotten true") == isForgotten, "\(launch)")
        #expect(wasEndedBeforeErasure.withLock { $0 } == isForgotten)
        #expect(server.requests.count == (isForgotten ? 2 : 1))
    }

    @Test("gets its result at once, although the server asked for a pause", arguments: ClientKind.available)
    func pause(kind: ClientKind) throws {
        let server = try HostileServer { _, _ in
            [HostileServer.response("503 Busy", "{}", headers: ["Retry-After: 600"])]
        }
        let app = try ClientApp(kind, server: server.url)
        let launch = try app.launch("optoutafter=3", "within=60")
        #expect(launch.first == "settled" && launch.seconds < 30, "\(launch)")
    }

    @Test("still gets the link that opened the app", arguments: ClientKind.available, ["optout", "forget"])
    func link(kind: ClientKind, choice: String) throws {
        let app = try ClientApp(kind, server: "http://127.0.0.1:1")
        let launch = try app.launch("opened=myapp://a/b", choice, "first=no", "links=1", "late=20")
        #expect(launch.lines.contains("link myapp://a/b opened"), "\(launch)")
    }

    @Test("deletes the token of a link, which no later request has", arguments: ClientKind.available)
    func token(kind: ClientKind) throws {
        let server = try HostileServer { _, _ in
            [HostileServer.response("200 OK", #"{"status":"no_match"}"#)]
        }
        let app = try ClientApp(kind, server: server.url)
        let token = String(repeating: "A", count: 44)
        _ = try app.launch("first=no", "opened=myapp://a?al=\(token)")
        #expect(app.state.contains(token))
        _ = try app.launch("first=no", "optout")
        #expect(app.state.contains("isOptedOut") && !app.state.contains(token))
        // Neither a link before the person opts in again counts, nor one before an opt-out in the same process.
        let again = try app.launch("opened=myapp://a?al=\(token)", "optin", "within=20")
        #expect(again.first == "none", "\(again)")
        let next = try ClientApp(kind, server: server.url)
        let launch = try next.launch("opened=myapp://a?al=\(token)", "optout", "optin", "within=20")
        #expect(launch.first == "none", "\(launch)")
        #expect(server.requests.count == 2 && server.requests.allSatisfy { $0.json["token"] == nil })
    }

    @Test(
        "sends nothing if the disk cannot store the opt-out, and stores it later",
        arguments: ClientKind.available
    )
    func unstored(kind: ClientKind) throws {
        let server = try HostileServer { _, _ in [HostileServer.response("503 Busy", "{}")] }
        let app = try ClientApp(kind, server: server.url)
        #expect(try app.launch("first=no", "optin").status == 0)
        // A folder with the draft's name makes each write fail.
        let obstacle = app.stateFolder + "/state.json.new"
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: true)
        let process = try app.start("log", "optout", "events=a", "within=1", "flush", "late=60")
        #expect(process.line(containing: "The disk failed") != nil)
        #expect(process.line(containing: "flushed") == "flushed false")
        #expect(!app.state.contains(#""isOptedOut":true"#))
        try FileManager.default.removeItem(atPath: obstacle)
        #expect(Polling.until { app.state.contains(#""isOptedOut":true"#) })
        #expect(server.requests.isEmpty)
    }

    @Test(
        "makes the opt-out again if the events could not be deleted",
        .enabled(if: JavaCore.isAvailable, "there is no javac")
    )
    func undeletedEvents() throws {
        let app = try ClientApp(.java, server: "http://127.0.0.1:1")
        #expect(try app.launch("first=no", "optin").status == 0)
        // Java deletes no folder that has a file.
        let events = app.stateFolder + "/events.jsonl"
        try FileManager.default.createDirectory(atPath: events + "/a", withIntermediateDirectories: true)
        let process = try app.start("log", "first=no", "optout", "links=1", "late=60")
        #expect(process.line(containing: "The disk failed") != nil)
        try FileManager.default.removeItem(atPath: events + "/a")
        #expect(Polling.until { app.state.contains(#""isOptedOut":true"#) })
        #expect(!FileManager.default.fileExists(atPath: events))
    }

    private static func id(_ app: ClientApp) throws -> String {
        let state = try JSONSerialization.jsonObject(with: Data(app.state.utf8)) as? [String: Any]
        return try #require(state?["installID"] as? String)
    }

    /// The numbers of claims whose click is stored, clicks with network ids, events, attributed installs, and
    /// deliveries about a click.
    private static func rows(_ server: RealServer) throws -> [Int64] {
        let database = try server.installation.open()
        return [
            try database.integer("SELECT count(*) FROM claims c JOIN clicks k ON k.id = c.click"),
            try database.integer("SELECT count(*) FROM clicks WHERE click_ids IS NOT NULL"),
            try database.integer("SELECT count(*) FROM events"),
            try database.integer("SELECT count(*) FROM attributed_installs"),
            try database.integer(
                "SELECT count(*) FROM deliveries d JOIN outbox_events e USING (id_high, id_low) WHERE e.click IS NOT NULL"
            ),
        ]
    }
}
