import Foundation
import SQLite
import Support
import Testing

@Suite("A damaged database", .blocking)
struct DamageTests {
    @Test(
        "a start on a damaged database fails with the file's name, and the file does not change",
        arguments: ["text", "header", "schema", "cut short"]
    )
    func refusesToStart(damage: String) throws {
        let installation = try Installation()
        switch damage {
        case "text": try Data("this is no database, but a letter".utf8).write(to: installation.database)
        case "header": try overwrite(installation.database, at: 18, count: 60)
        case "schema": try overwrite(installation.database, at: 100, count: 3000)
        default:
            let handle = try FileHandle(forWritingTo: installation.database)
            try handle.truncate(atOffset: 5000)
            try handle.close()
        }
        let before = try Data(contentsOf: installation.database)
        let output = try installation.run(["serve", "--listen", "127.0.0.1:0"])
        #expect(output.status == 1)
        #expect(output.errors.contains("afterlink.db"))
        #expect(try Data(contentsOf: installation.database) == before)
    }

    @Test(
        "from a damaged write-ahead log, the writes before the damage are restored, without holes",
        arguments: 1...6
    )
    func damagedLog(seed: UInt64) throws {
        let (installation, server, connection) = try Installation.serving()
        let log = URL(fileURLWithPath: installation.database.path + "-wal")
        var (start, length) = (0, 0)
        var files: [(URL, Data)] = []
        // While a reader has a snapshot from before the clicks, no checkpoint copies them into the database, where the
        // damage of the log could not affect them.
        do {
            let reader = try SQLiteConnection(
                path: installation.database.path,
                access: .readWrite,
                busyMilliseconds: 5000
            )
            defer { withExtendedLifetime(reader) {} }
            try reader.execute("BEGIN")
            #expect(try reader.integer("SELECT count(*) FROM clicks") == 0)
            start = try Data(contentsOf: log).count
            for number in 1...60 {
                // The server's jobs may write after the last click, and damage there would lose no click.
                if number == 60 { length = try Data(contentsOf: log).count }
                #expect(try connection.click(fingerprint(number)).status == 201)
            }
            server.kill()
            files = try [installation.database, log].map { ($0, try Data(contentsOf: $0)) }
        }
        // The reader's connection is the last one, so its end makes a checkpoint. Restore the files from before it.
        for (file, content) in files { try content.write(to: file) }
        try? FileManager.default.removeItem(atPath: installation.database.path + "-shm")
        #expect(length > start + 60 * 4096)
        var random = SeededGenerator(seed: seed)
        try overwrite(log, at: UInt64.random(in: UInt64(start)..<UInt64(length), using: &random), count: 7)

        #expect(try Inspection(installation.database).integrity == ["ok"])
        let next = try installation.serve().connection
        let found = try (1...60).map { try next.check(fingerprint($0)).isMatch }
        let end = found.firstIndex(of: false) ?? found.count
        #expect(end < 60, "the damage affects a click")
        #expect(!found[end...].contains(true), "there is a hole")
    }

    @Test(
        "while a served database's file is removed, nothing is acknowledged; the service continues afterwards",
        arguments: ["", "-wal"]
    )
    func takenAway(suffix: String) throws {
        let (installation, _, connection) = try Installation.serving()
        #expect(try connection.click(fingerprint(1)).status == 201)
        let file = URL(fileURLWithPath: installation.database.path + suffix)
        let elsewhere = installation.folder.appending(path: "elsewhere")
        try FileManager.default.moveItem(at: file, to: elsewhere)
        for number in 2...5 {
            #expect(try connection.click(fingerprint(number)).status == 503)
            #expect(try connection.check(fingerprint(1)).status == 503)
        }
        #expect(try connection.get("/readyz").status == 503)
        let log = installation.folder.appending(path: "server.log")
        #expect(
            try Polling.until {
                try String(contentsOf: log, encoding: .utf8).contains("was deleted, moved or replaced")
            }
        )
        // Another file of that name is not written to either.
        try Data("no database".utf8).write(to: file)
        #expect(try connection.click(fingerprint(6)).status == 503)
        #expect(try Data(contentsOf: file) == Data("no database".utf8))

        try FileManager.default.removeItem(at: file)
        try FileManager.default.moveItem(at: elsewhere, to: file)
        #expect(try Polling.until { try connection.click(fingerprint(7)).status == 201 })
        #expect(try connection.check(fingerprint(1)).isMatch)
    }

    @Test("damage to a served database causes 503 and a log line, and the file does not change")
    func damagedWhileServing() throws {
        let installation = try Installation()
        try fill(installation)
        let server = try AfterlinkProcess(installation)
        let length = UInt64(try Data(contentsOf: installation.database).count)
        try overwrite(installation.database, at: 4096, count: Int(length) - 4096)
        let before = try Data(contentsOf: installation.database)

        let connection = try server.connect()
        for number in 1...40 {
            let check = try connection.check(fingerprint(number))
            let click = try connection.click(fingerprint(1000 + number))
            #expect(check.status == 503)
            #expect(click.status == 503)
            #expect(click.fields["retry-after"] != nil && check.fields["retry-after"] != nil)
            for text in [check.text, click.text] {
                #expect(!text.contains("afterlink.db") && !text.lowercased().contains("sqlite"))
            }
        }
        #expect(try connection.get("/readyz").status == 503)
        #expect(try connection.get("/healthz").status == 200)
        #expect(
            try Polling.until {
                let status = try connection.get("/healthz").status
                return status == 200 && installation.log.contains("the database is damaged")
            }
        )
        let lines = installation.log.split(separator: "\n").filter { $0.contains("the database is damaged") }
        // The writer logs one line, and the event loop that reads the database logs another.
        #expect((1...4).contains(lines.count), "\(lines)")
        #expect(try Data(contentsOf: installation.database) == before)
    }

    /// Records 200 clicks, and stops the server, so that all clicks are in the database file and none in the log.
    private func fill(_ installation: Installation) throws {
        let (server, connection) = try installation.serve()
        for number in 1...200 { #expect(try connection.click(fingerprint(number)).status == 201) }
        server.terminate()
        #expect(server.waitUntilExit() == 0)
    }

    private func overwrite(_ file: URL, at offset: UInt64, count: Int) throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.seek(toOffset: offset)
        try handle.write(contentsOf: Data(repeating: 0xA5, count: count))
        try handle.close()
    }
}
