import Foundation
import Support
import Testing

@Suite("Faults of the disk", .blocking, .timeLimit(.minutes(10)))
struct FaultTests {
    /// A server whose disk fails on command, and that gives no answer twice.
    private func start() throws -> (Installation, FaultyDisk, AfterlinkProcess) {
        let installation = try Installation()
        let disk = try FaultyDisk(in: installation.folder)
        let server = try AfterlinkProcess(
            installation,
            ["--replay-grace", "0"],
            environment: disk.environment
        )
        return (installation, disk, server)
    }

    @Test(
        "answer 503 for clicks and matches, never no_match; nothing acknowledged is lost, and service comes back by itself",
        arguments: ["noSpace", "writeError", "syncError"]
    )
    func faultAndRecovery(name: String) throws {
        let (installation, disk, server) = try start()
        defer { server.kill() }
        let connection = try server.connect()
        for number in 1...20 { #expect(try connection.click(fingerprint(number)).status == 201) }

        try disk.set(
            ["noSpace": .noSpace, "writeError": .writeError, "syncError": .syncError][name] ?? .none
        )
        for number in 21...30 {
            let click = try connection.click(fingerprint(number))
            #expect(click.status == 503)
            #expect(click.string("error_code") == "UNAVAILABLE")
            #expect(click.fields["retry-after"] != nil)
            let check = try connection.check(fingerprint(number - 20), key: installation.keys.app)
            #expect(check.status == 503)
        }
        #expect(try connection.get("/readyz").status == 503)
        #expect(try connection.get("/healthz").status == 200)
        #expect(installation.log.contains("\"level\":\"error\""))

        try disk.set(.none)
        // Nobody sends a server traffic that says it is not ready: it has to notice by itself.
        #expect(try untilTrue(within: 10) { try server.connect().get("/readyz").status == 200 })
        #expect(try connection.click(fingerprint(31)).status == 201)
        for number in 1...20 {
            #expect(try connection.check(fingerprint(number), key: installation.keys.app).isMatch)
        }
    }

    @Test("a sync that takes longer than a second is answered 503 in time; the claim goes to the next check")
    func slowSync() throws {
        let (installation, disk, server) = try start()
        defer { server.kill() }
        let connection = try server.connect()
        #expect(try connection.click(fingerprint(1)).status == 201)
        try disk.set(.slowSync(milliseconds: 2500))
        let start = ContinuousClock.now
        let first = try connection.check(fingerprint(1), key: installation.keys.app)
        #expect(first.status == 503)
        #expect(ContinuousClock.now - start < .seconds(2))
        try disk.set(.none)
        #expect(
            try untilTrue(within: 10) {
                try connection.check(fingerprint(1), key: installation.keys.app).isMatch
            }
        )
        #expect(try connection.check(fingerprint(1), key: installation.keys.app).isNoMatch)
        #expect(try connection.totals(installation.keys.admin)["matches"] as? Int == 1)
    }

    @Test(
        "while syncs stay slow, who asks for a claim in doubt is told to try again, never that there is no match"
    )
    func claimInDoubt() throws {
        let (installation, disk, server) = try start()
        defer { server.kill() }
        let connection = try server.connect()
        #expect(try connection.click(fingerprint(1)).status == 201)
        // The claim's own commit comes after its 503, and what makes up for it takes as long again.
        try disk.set(.slowSync(milliseconds: 1500))
        let end = ContinuousClock.now + .seconds(5)
        var replies: [Connection.Reply] = []
        while ContinuousClock.now < end, replies.last?.status != 200 {
            replies.append(try connection.check(fingerprint(1), key: installation.keys.app))
        }
        try disk.set(.none)
        while replies.last?.status != 200, ContinuousClock.now < end + .seconds(10) {
            replies.append(try connection.check(fingerprint(1), key: installation.keys.app))
        }
        #expect(replies.last?.isMatch == true)
        #expect(!replies.contains { $0.isNoMatch })
        #expect(try connection.check(fingerprint(1), key: installation.keys.app).isNoMatch)
    }

    @Test("a database that cannot be written, is none, or is damaged refuses the start and is left as it is")
    func refusesToStart() throws {
        for damage in ["text", "header"] {
            let installation = try Installation()
            switch damage {
            case "text": try Data("this is no database, but a letter".utf8).write(to: installation.database)
            default:
                let handle = try FileHandle(forWritingTo: installation.database)
                try handle.seek(toOffset: 100)
                try handle.write(contentsOf: Data(repeating: 0xA5, count: 3000))
                try handle.close()
            }
            let before = try Data(contentsOf: installation.database)
            let output = try Installation.run([
                "serve", "--listen", "127.0.0.1:0", "--database", installation.database.path,
            ])
            #expect(output.status != 0)
            #expect(output.errors.contains("afterlink.db"))
            #expect(try Data(contentsOf: installation.database) == before)
        }
    }

    @Test("another server key than the database's own refuses the start, and names both files")
    func wrongServerKey() throws {
        let installation = try Installation()
        let key = URL(fileURLWithPath: installation.database.path + ".key")
        let own = try String(contentsOf: key, encoding: .utf8)
        let handle = try FileHandle(forWritingTo: key)
        try handle.write(contentsOf: Data(String(own.reversed().filter { $0 != "\n" }).utf8))
        try handle.close()
        let output = try installation.run(["serve", "--listen", "127.0.0.1:0"])
        #expect(output.status == 1)
        #expect(output.errors.contains("afterlink.db.key"))
        #expect(output.errors.contains("not the one"))
    }

    /// Asks again until it is so; each question is a request that the server answers, so nothing spins.
    private func untilTrue(within seconds: Int, _ isTrue: () throws -> Bool) throws -> Bool {
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            if try isTrue() { return true }
        }
        return false
    }
}
