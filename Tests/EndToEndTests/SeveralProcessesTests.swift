import Foundation
import SQLite
import Support
import Testing

@Suite("Several processes on one database", .blocking)
struct SeveralProcessesTests {
    @Test("two processes match each click once, lose no click, and do not mention each other's locks")
    func twoServers() throws {
        let installation = try Installation()
        let servers = try (0..<2).map { _ in try AfterlinkProcess(installation, ["--replay-grace", "0"]) }
        let connections = try servers.flatMap { server in try (0..<4).map { _ in try server.connect() } }
        var acknowledged: [Int] = []
        for round in 0..<30 {
            for (number, connection) in connections.enumerated() {
                try connection.sendClick(fingerprint(round * 8 + number))
            }
            let replies = try connections.map { try $0.receive() }
            acknowledged += replies.indices.filter { isServed(replies[$0]) }.map { round * 8 + $0 }
        }
        #expect(acknowledged.count > 200)

        var unmatched: [Int] = []
        for number in acknowledged {
            for connection in connections { connection.sendCheck(fingerprint(number)) }
            let replies = try connections.map { try $0.receive() }
            #expect(replies.count { isServed($0) && $0.isMatch } <= 1)
            if !replies.contains(where: \.isMatch) { unmatched.append(number) }
            // No check gets "no match" unless another check has the match, or may have it.
            #expect(replies.contains { $0.isMatch || $0.status == 503 })
        }
        for number in unmatched { #expect(try decided(number, connections[0]).isMatch) }
        let totals = try connections[0].totals(installation.keys.admin)
        #expect(totals["clicks"] as? Int == acknowledged.count)
        #expect(totals["matches"] as? Int == acknowledged.count)
    }

    @Test("a post that two processes get, at once or one after the other, is recorded as one click")
    func repeatedPosts() throws {
        let installation = try Installation()
        let servers = try (0..<2).map { _ in try AfterlinkProcess(installation) }
        let connections = try servers.map { try $0.connect() }
        for number in 0..<80 {
            // The first half is posted at once, the second half one after the other.
            if number < 40 { for connection in connections { try connection.sendClick(fingerprint(number)) } }
            let replies = try (0..<2).map { index in
                let connection = connections[(index + number) % 2]
                var reply = try number < 40 ? connection.receive() : connection.click(fingerprint(number))
                // The other process's lock caused the 503; the post may have been recorded.
                while !isServed(reply) { reply = try connection.click(fingerprint(number)) }
                return reply
            }
            #expect(replies.count { $0.status == 201 } <= 1)
            #expect(replies[0].string("click_id") == replies[1].string("click_id"))
        }
        #expect(try connections[0].totals(installation.keys.admin)["clicks"] as? Int == 80)
    }

    @Test("a change of an app succeeds although another process has changed the app a moment before")
    func changedApp() throws {
        let installation = try Installation()
        let connections = try (0..<2).map { _ in try AfterlinkProcess(installation).connect() }
        let fields = [
            "Authorization": "Bearer \(installation.keys.admin)", "Content-Type": "application/json",
        ]
        let path = "/admin/api/apps/\(installation.appID)"
        for round in 1...3 {
            // The second process has just read the app.
            _ = try connections[1].get(path, key: installation.keys.admin)
            for (connection, body) in zip(
                connections,
                ["{\"fingerprint_window\":\(600 + round)}", "{\"deterministic_window\":\(700 + round)}"]
            ) {
                let changed = try connection.call("PATCH", path, fields: fields, body: body)
                #expect(changed.status == 200, "\(changed.text)")
            }
            let stored = try connections[1].get(path, key: installation.keys.admin)
            #expect(stored.json["fingerprint_window"] as? Int == 600 + round)
            #expect(stored.json["deterministic_window"] as? Int == 700 + round)
        }
    }

    @Test("a second process logs at its start which process has the database open")
    func announced() throws {
        let installation = try Installation()
        let logs = [1, 2].map { installation.folder.appending(path: "\($0).log") }
        let servers = try logs.map { try AfterlinkProcess(installation, ["--log-file", $0.path]) }
        let isSaid = try Polling.until {
            // Each request has a new connection, because a connection ends after a thousand requests.
            _ = try servers[1].connect().get("/healthz")
            return try String(contentsOf: logs[1], encoding: .utf8)
                .contains("process \(servers[0].identifier) has the database open already")
        }
        #expect(isSaid)
        #expect(try !String(contentsOf: logs[0], encoding: .utf8).contains("open already"))
    }

    /// Returns false for a 503, which must not mention locks.
    private func isServed(_ reply: HTTPTestClient.Reply) -> Bool {
        // A token has random letters, and may contain any word.
        let text = reply.status < 300 ? "" : reply.text.lowercased()
        #expect(!text.contains("sqlite") && !text.contains("busy") && !text.contains("lock"))
        #expect([200, 201, 503].contains(reply.status))
        return reply.status != 503
    }

    private func decided(_ number: Int, _ connection: HTTPTestClient) throws -> HTTPTestClient.Reply {
        var reply = try connection.check(fingerprint(number))
        for _ in 0..<20 where reply.status == 503 { reply = try connection.check(fingerprint(number)) }
        return reply
    }

    @Test("while another process has the write lock, clicks and matches get 503, and claims are withdrawn")
    func lockHeld() throws {
        let (installation, server, connection) = try Installation.serving(["--replay-grace", "0"])
        let other = try server.connect()
        for number in 1...2 { #expect(try connection.click(fingerprint(number)).status == 201) }

        let holder = try installation.open()
        try holder.begin(.immediate)
        // The response comes while the database is locked.
        connection.sendCheck(fingerprint(1))
        try other.sendClick(fingerprint(3))
        // This request needs no write: its response comes while the others wait.
        let third = try server.connect()
        #expect(try third.check(fingerprint(9)).isNoMatch)
        for reply in [try connection.receive(), try other.receive()] {
            #expect(reply.status == 503)
            #expect(reply.fields["retry-after"] != nil)
            #expect(!reply.text.lowercased().contains("sqlite"))
        }
        try holder.rollback()

        #expect(try connection.check(fingerprint(1)).isMatch)
        #expect(try connection.check(fingerprint(1)).isNoMatch)
        #expect(try connection.check(fingerprint(2)).isMatch)
        #expect(try connection.click(fingerprint(4)).status == 201)
        #expect(try connection.totals(installation.keys.admin)["matches"] as? Int == 2)
    }
}
