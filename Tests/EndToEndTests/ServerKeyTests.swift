import Foundation
import SQLite
import Support
import Testing

@Suite("Rotating the server key", .blocking)
struct ServerKeyTests {
    private func keyFile(_ installation: Installation) -> String { installation.database.path + ".key" }

    private func lines(_ installation: Installation) throws -> [Substring] {
        try String(contentsOfFile: keyFile(installation), encoding: .utf8).split(separator: "\n")
    }

    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    /// Waits until a server logs that it stores under the newest key.
    private func isRotated(_ installation: Installation) -> Bool {
        Polling.until { installation.log.contains("the server key was rotated") }
    }

    /// Records a click; sends it again if another process held the write lock for long.
    private func record(_ number: Int, on connection: HTTPTestClient) throws {
        let end = Polling.end
        var reply = try connection.click(fingerprint(number))
        while reply.status == 503, ContinuousClock.now < end {
            reply = try connection.click(fingerprint(number))
        }
        #expect(reply.status == 201 || reply.status == 200)
    }

    /// Returns the response to a check; sends it again if another process held the write lock for long.
    private func decided(_ number: Int, on connection: HTTPTestClient, _ key: String) throws
        -> HTTPTestClient.Reply
    {
        let end = Polling.end
        var reply = try connection.check(fingerprint(number), key: key)
        while reply.status == 503, ContinuousClock.now < end {
            reply = try connection.check(fingerprint(number), key: key)
        }
        return reply
    }

    @Test(
        "if the server key is rotated while the service runs, clicks from before and after it match, each once"
    )
    func running() throws {
        let installation = try Installation()
        let logs = [1, 2].map { installation.folder.appending(path: "\($0).log") }
        let servers = try logs.map {
            try AfterlinkProcess(installation, ["--replay-grace", "0", "--log-file", $0.path])
        }
        let connections = try servers.map { try $0.connect() }
        let app = installation.keys.app
        func isRotated(_ log: URL) throws -> Bool {
            try String(contentsOf: log, encoding: .utf8).contains("the server key was rotated")
        }
        for number in 0..<8 { try record(number, on: connections[number % 2]) }
        let named = try connections[0].click(fingerprint(1_000_000))
        let token = try #require(named.string("token"))

        let output = try installation.run(["server-key", "rotate"])
        #expect(output.status == 0, "\(output.errors)")
        #expect(output.text.contains("no restart is needed"))
        // Until both servers store under the new key, each finds the clicks of both.
        var number = 8
        let areRotated = try Polling.until {
            let (one, other) = (try servers[number % 2].connect(), try servers[(number + 1) % 2].connect())
            try record(number, on: one)
            #expect(try decided(number, on: other, app).isMatch)
            number += 1
            return try logs.allSatisfy(isRotated)
        }
        #expect(areRotated)
        try record(number, on: try servers[0].connect())
        #expect(try decided(number, on: try servers[1].connect(), app).isMatch)
        #expect(try lines(installation).count == 2)
        #expect(try mode(keyFile(installation)) == 0o600)

        for number in 0..<8 {
            #expect(try decided(number, on: connections[(number + 1) % 2], app).isMatch)
            for connection in connections { #expect(try decided(number, on: connection, app).isNoMatch) }
        }
        let byToken = try connections[1].get("/v1/deferred-deeplink?token=\(token)", key: app)
        #expect(byToken.string("attributionMethod") == "signed_token")
        #expect(try connections[0].totals(installation.keys.admin)["matches"] as? Int == number + 2)
    }

    @Test("after a rotation without a service, the next start finds the clicks, and the list shows both keys")
    func stopped() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        #expect(try server.connect().click(fingerprint(1)).status == 201)
        server.terminate()
        _ = server.waitUntilExit()
        #expect(try installation.run(["server-key", "rotate", "--json"]).status == 0)
        let again = try installation.run(["server-key", "rotate"])
        #expect(again.status == 1 && again.errors.contains("created just now"))
        let next = try AfterlinkProcess(installation)
        #expect(try Polling.until { try installation.run(["server-key", "list"]).text.contains("previous") })
        let list = try installation.run(["server-key", "list"]).text
        #expect(list.contains("current") && !list.contains("upcoming"))
        for line in try lines(installation) { #expect(!list.contains(line.prefix(64))) }
        #expect(try next.connect().check(fingerprint(1)).isMatch)
        #expect(try installation.run(["verify"]).text.contains("ok       server_key"))
        #expect(try installation.run(["doctor"]).text.contains(", and 1 other key"))
    }

    @Test("a rotation leaves the complete old or new key file, whenever the rotation is killed")
    func killed() throws {
        let installation = try Installation()
        let disk = try FaultyDisk(in: installation.folder)
        let before = try lines(installation)
        var kills = 0
        for calls in [Fault.Calls.open, .write, .sync, .unlink] {
            for skipped in UInt32(0)..<12 {
                try disk.set(Fault(calls, of: [.key, .folder], .kill, skipped: skipped, times: 1))
                let output = try installation.run(["server-key", "rotate"], environment: disk.environment)
                let after = try lines(installation)
                #expect(after == before || after.dropFirst().elementsEqual(before))
                #expect(after.allSatisfy { $0.count == 64 || $0.count == 89 })
                #expect(try mode(keyFile(installation)) == 0o600)
                // Write the one key again, so that the next rotation is allowed.
                try Data((before.joined(separator: "\n") + "\n").utf8).write(
                    to: URL(fileURLWithPath: keyFile(installation))
                )
                guard output.status != 0 else { break }
                kills += 1
            }
        }
        #expect(kills >= 4)
        let server = try AfterlinkProcess(installation)
        #expect(try server.connect().click(fingerprint(1)).status == 201)
        let files = try FileManager.default.contentsOfDirectory(atPath: installation.folder.path)
        #expect(!files.contains { $0.hasSuffix(".draft") }, "no killed rotation left a draft of the key file")
    }

    @Test("a start deletes the drafts of key files that killed processes left, and no other file")
    func drafts() throws {
        let installation = try Installation()
        let path = keyFile(installation)
        let (draft, hour) = (path + ".0123456789abcdef", Date(timeIntervalSinceNow: -3600))
        let kept = [path + ".fedcba9876543210", path + ".backup", path + ".0123456789abcde"]
        for name in [draft] + kept {
            try Data("a key".utf8).write(to: URL(fileURLWithPath: name))
            // The first of the others is young: another process may be writing it.
            guard name != kept[0] else { continue }
            try FileManager.default.setAttributes([.modificationDate: hour], ofItemAtPath: name)
        }
        let server = try AfterlinkProcess(installation)
        #expect(try server.connect().click(fingerprint(1)).status == 201)
        #expect(!FileManager.default.fileExists(atPath: draft))
        for name in kept { #expect(FileManager.default.fileExists(atPath: name)) }
    }

    @Test("a rotation is refused for a key that is not the database's key")
    func foreign() throws {
        let installation = try Installation()
        let other = installation.folder.appending(path: "other.key")
        try Data((String(repeating: "ab", count: 32) + "\n").utf8).write(to: other)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: other.path)
        let output = try installation.run(["server-key", "rotate", "--server-key-file", other.path])
        #expect(output.status == 78 && output.errors.contains("is not the server key"))
        #expect(try String(contentsOf: other, encoding: .utf8).count == 65)
    }

    @Test("a rotation is refused for a database of an older version, and changes no key")
    func olderVersion() throws {
        let installation = try Installation()
        let connection = try installation.open()
        let version = try connection.integer("PRAGMA user_version")
        try connection.execute("DELETE FROM migrations WHERE number = \(version)")
        try connection.execute("PRAGMA user_version = \(version - 1)")
        let before = try lines(installation)
        let output = try installation.run(["server-key", "rotate"])
        #expect(output.status == 1 && output.errors.contains("is of an older version"), "\(output.errors)")
        #expect(try lines(installation) == before)
    }

    @Test("a new key that is added to the file by hand is used; a start with a new key alone is refused")
    func byHand() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation, ["--replay-grace", "0"])
        #expect(try server.connect().click(fingerprint(1)).status == 201)
        server.terminate()
        _ = server.waitUntilExit()
        let own = try String(contentsOfFile: keyFile(installation), encoding: .utf8)
        let new = String(repeating: "cd", count: 32) + "\n"
        func put(_ text: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: keyFile(installation)))
        }
        try put(new)
        let refused = try installation.run(["serve", "--listen", "127.0.0.1:0"])
        #expect(refused.status == 78 && refused.errors.contains("is not the server key of"))
        try put(new + own)
        let (both, connection) = try installation.serve(["--replay-grace", "0"])
        #expect(try connection.check(fingerprint(1)).isMatch)
        #expect(try connection.click(fingerprint(2)).status == 201)
        both.terminate()
        _ = both.waitUntilExit()
        // The database has used the new key, so the old key alone is refused.
        try put(own)
        #expect(try installation.run(["serve", "--listen", "127.0.0.1:0"]).status == 78)
        try put(new)
        let late = try AfterlinkProcess(installation)
        #expect(Polling.until { installation.log.contains("a former server key is missing") })
        #expect(try late.connect().check(fingerprint(2)).isMatch)
        #expect(try installation.run(["verify"]).text.contains("problem  server_key: former"))
        let doctor = try installation.run(["doctor", "--listen", "127.0.0.1:0"])
        #expect(doctor.status == 1 && doctor.text.contains("lacks 1 former key: clicks"), "\(doctor.text)")
    }

    @Test("the former key is destroyed when nothing is stored under the key any more, which is logged")
    func destroyed() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(
            installation,
            ["--unsafe-test-clock", "--rate-limit", "off", "--retention", "3600"]
        )
        let connection = try server.connect()
        let key = installation.keys.app
        #expect(try connection.click(fingerprint(1)).status == 201)
        #expect(try installation.run(["server-key", "rotate"]).status == 0)
        #expect(isRotated(installation))
        let former = try #require(try lines(installation).last)
        #expect(try lines(installation).count == 2)
        #expect(try connection.check(fingerprint(1), key: key).isMatch)
        // An open descriptor shows the erased bytes on the disk.
        let bytes = try #require(FileHandle(forReadingAtPath: keyFile(installation)))
        // Days later by the test clock, retention has deleted the click and the record of the check.
        let late = ISO8601DateFormatter().string(from: .now.addingTimeInterval(10 * 86_400))
        #expect(try connection.click(fingerprint(2), fields: ["X-Test-Time": late]).status == 201)
        #expect(try Polling.until { try lines(installation).count == 1 })
        #expect(try lines(installation).first?.prefix(64) != former)
        #expect(Polling.until { installation.log.contains("a former server key was destroyed") })
        #expect(try bytes.readToEnd()?.allSatisfy { $0 == 0 } == true)
        #expect(try mode(keyFile(installation)) == 0o600)
        #expect(try connection.check(fingerprint(2), key: key, fields: ["X-Test-Time": late]).isMatch)
    }

    @Test("after a rotation, the next backup has both keys, and its restore finds clicks of both keys")
    func backup() throws {
        let (installation, server, connection) = try Installation.serving()
        let backup = installation.folder.appending(path: "backup.db").path
        #expect(try connection.click(fingerprint(1)).status == 201)
        #expect(try installation.run(["backup", backup]).status == 0)
        #expect(try installation.run(["server-key", "rotate"]).status == 0)
        #expect(isRotated(installation))
        #expect(try connection.click(fingerprint(2)).status == 201)
        let second = try installation.run(["backup", backup, "--overwrite"])
        #expect(second.status == 0, "\(second.errors)")
        for suffix in [".key", ".address-key"] {
            #expect(try mode(backup + suffix) == 0o600)
            #expect(
                try String(contentsOfFile: backup + suffix, encoding: .utf8)
                    == String(contentsOfFile: installation.database.path + suffix, encoding: .utf8)
            )
        }
        server.terminate()
        _ = server.waitUntilExit()
        for file in ["afterlink.db", "afterlink.db.key", "afterlink.db.address-key"] {
            try FileManager.default.removeItem(at: installation.folder.appending(path: file))
        }
        let restored = try installation.run(["restore", backup])
        #expect(restored.status == 0, "\(restored.errors)")
        let next = try AfterlinkProcess(installation)
        for number in 1...2 { #expect(try next.connect().check(fingerprint(number)).isMatch) }
    }
}

@Suite("The address keys", .blocking)
struct AddressKeyTests {
    private func file(_ installation: Installation) -> URL {
        URL(fileURLWithPath: installation.database.path + ".address-key")
    }

    private func text(_ installation: Installation) throws -> String {
        try String(contentsOf: file(installation), encoding: .utf8)
    }

    private func at(_ days: Double) -> [String: String] {
        [
            "X-Test-Time": ISO8601DateFormatter().string(from: .now.addingTimeInterval(days * 86_400)),
            "X-Forwarded-For": "203.0.113.9",
        ]
    }

    @Test("address keys change each day, and are destroyed when no click of their day can match")
    func rotation() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(
            installation,
            ["--unsafe-test-clock", "--rate-limit", "off", "--trusted-proxy", "127.0.0.0/8"]
        )
        let connection = try server.connect()
        let (before, key) = (try text(installation), installation.keys.app)
        let attributes = try FileManager.default.attributesOfItem(atPath: file(installation).path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(before.split(separator: "\n").count == 1)
        // The first click has a window of a week; the second one, on day 5, has the default window of a day.
        let week = ["attribution_window_seconds": 7 * 86_400]
        #expect(try connection.click(fingerprint(1), week, fields: at(0)).status == 201)
        #expect(try connection.click(fingerprint(2), fields: at(5)).status == 201)
        let match = try connection.check(fingerprint(1), key: key, fields: at(5))
        #expect(match.string("attributionMethod") == "probabilistic")
        #expect(try text(installation) == before)
        let bytes = try FileHandle(forReadingFrom: file(installation))
        // On day 8, the windows of both clicks have ended.
        #expect(try connection.click(fingerprint(3), fields: at(8.5)).status == 201)
        #expect(try Polling.until { try text(installation) != before })
        let after = try text(installation)
        #expect(after.prefix(10) > before.prefix(10) && after.split(separator: "\n").count == 1)
        #expect(!after.contains(before.split(separator: " ")[1].prefix(32)))
        let words = "the address keys of the days before"
        #expect(Polling.until { installation.log.contains(words) })
        #expect(try bytes.readToEnd()?.allSatisfy { $0 == 0 } == true)
        let reply = try connection.check(fingerprint(3), key: key, fields: at(8.6))
        #expect(reply.string("attributionMethod") == "probabilistic")
        #expect(try installation.run(["doctor"]).text.contains("address_keys"))
    }

    @Test("address keys are the same for another process, and after a restart")
    func shared() throws {
        let installation = try Installation()
        let arguments = ["--trusted-proxy", "127.0.0.0/8", "--replay-grace", "0"]
        let servers = try (0..<2).map { _ in try AfterlinkProcess(installation, arguments) }
        let (app, address) = (installation.keys.app, ["X-Forwarded-For": "203.0.113.9"])
        #expect(try servers[0].connect().click(fingerprint(1), fields: address).status == 201)
        #expect(try servers[0].connect().click(fingerprint(2), fields: address).status == 201)
        let other = try servers[1].connect().check(fingerprint(1), key: app, fields: address)
        #expect(other.string("attributionMethod") == "probabilistic")
        for server in servers { server.kill() }
        let next = try AfterlinkProcess(installation, arguments)
        let late = try next.connect().check(fingerprint(2), key: app, fields: address)
        #expect(late.string("attributionMethod") == "probabilistic")
    }

    @Test(
        "a start with address keys that are damaged or open to others fails; missing keys are created again"
    )
    func refused() throws {
        let installation = try Installation()
        let path = file(installation).path
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let open = try installation.run(["serve", "--listen", "127.0.0.1:0"])
        #expect(open.status == 78 && open.errors.contains("chmod 600"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let own = try text(installation)
        try Data(own.dropLast(9).utf8).write(to: file(installation))
        let damaged = try installation.run(["serve", "--listen", "127.0.0.1:0"])
        #expect(damaged.status == 78 && damaged.errors.contains("are damaged"))
        try FileManager.default.removeItem(atPath: path)
        let server = try AfterlinkProcess(installation)
        defer { server.kill() }
        #expect(try text(installation) != own)
    }
}
