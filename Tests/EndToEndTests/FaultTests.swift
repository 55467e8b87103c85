import Foundation
import Support
import Testing

@Suite("Faults of the disk", .blocking)
struct FaultTests {
    /// The faults that cause 503, by name, because arguments must be printable.
    private static let failures: [String: [Fault]] = [
        "no space": [.noSpace], "write error": [.writeError], "torn write": [.tornWrite],
        "sync error": [.syncError],
        "sync error of the folder or the log": [Fault(.sync, of: [.folder, .log], .fail(EIO))],
        "no space for the log": [Fault(.write, of: .log, .tear(ENOSPC))], "read-only": [.readOnly],
    ]

    @Test(
        "a fault of the disk causes 503, never no_match; nothing acknowledged is lost; service resumes",
        arguments: failures.keys.sorted()
    )
    func faultAndRecovery(name: String) throws {
        let (installation, disk, server) = try AfterlinkProcess.onFaultyDisk()
        let connection = try server.connect()
        for number in 1...20 { #expect(try connection.click(fingerprint(number)).status == 201) }

        try set(name, on: disk)
        for number in 21...30 { try expectRefusal(connection, click: number, check: number - 20) }
        #expect(try disk.callCount() > 0)
        #expect(try connection.get("/readyz").status == 503)
        #expect(try connection.get("/healthz").status == 200)
        // Reports need no write, and count everything that was acknowledged.
        let report = try connection.get("/admin/stats", key: installation.keys.admin)
        #expect(report.status == 200 && report.text.contains("\"clicks\":20"), "\(report.text)")
        #expect(try connection.get("/admin/api/checks", key: installation.keys.admin).status == 200)
        let health = try Installation.run(["health", "--listen", "127.0.0.1:\(server.port)"])
        #expect(health.status == 1 && health.errors.contains("is not ready: the store refuses writes."))
        #expect(try Polling.until { try hasLogged("\"level\":\"error\"", installation, connection) })
        #expect(!installation.log.contains(Self.isOver))

        try disk.set()
        // Load balancers send no traffic to a server that is not ready: it must notice the recovery by itself.
        #expect(try Polling.until { try server.connect().get("/readyz").status == 200 })
        #expect(try connection.click(fingerprint(31)).status == 201)
        for number in 1...20 { #expect(try connection.check(fingerprint(number)).isMatch) }
        #expect(try Polling.until { try hasLogged(Self.isOver, installation, connection) })
        #expect(installation.log.components(separatedBy: Self.isOver).count == 2, "logged only once")
    }

    @Test("a command on a full disk names the full disk, also if SQLite cannot lengthen its index of the log")
    func fullDisk() throws {
        let installation = try Installation()
        let disk = try FaultyDisk(in: installation.folder)
        try disk.set(Fault(.write, of: .index, .fail(ENOSPC)))
        let output = try installation.run(["apps", "list"], environment: disk.environment)
        #expect(output.status == 1)
        #expect(output.errors.contains("the disk is full"), "\(output.errors)")
        #expect(output.errors.hasSuffix("\nMake room on the disk and try again.\n"))
    }

    private static let isOver = "database: it works again."

    /// Returns whether the log has a text, after a request that makes the server write its log.
    private func hasLogged(
        _ text: String,
        _ installation: Installation,
        _ connection: HTTPTestClient
    ) throws -> Bool {
        #expect(try connection.get("/healthz").status == 200)
        return installation.log.contains(text)
    }

    private func set(_ name: String, on disk: FaultyDisk) throws {
        let faults = try #require(Self.failures[name])
        for fault in faults { try disk.set(fault) }
    }

    private func expectRefusal(_ connection: HTTPTestClient, click: Int, check: Int) throws {
        let reply = try connection.click(fingerprint(click))
        #expect(reply.status == 503)
        #expect(reply.string("error_code") == "UNAVAILABLE")
        #expect(reply.fields["retry-after"] != nil)
        let refused = try connection.check(fingerprint(check))
        #expect(refused.status == 503)
        #expect(refused.fields["retry-after"] != nil)
        // Checks that find nothing need no disk.
        #expect(try connection.check(fingerprint(99)).isNoMatch)
    }

    @Test(
        "a kill during a fault of the disk loses nothing that was acknowledged",
        arguments: failures.keys.sorted()
    )
    func faultAndKill(name: String) throws {
        let (installation, disk, server) = try AfterlinkProcess.onFaultyDisk()
        let connection = try server.connect()
        for number in 1...20 { #expect(try connection.click(fingerprint(number)).status == 201) }
        try set(name, on: disk)
        #expect(try connection.click(fingerprint(21)).status == 503)
        server.kill()
        #expect(try Inspection(installation.database).integrity == ["ok"])
        let next = try installation.serve(["--replay-grace", "0"]).connection
        for number in 1...20 { #expect(try next.check(fingerprint(number)).isMatch) }
    }

    @Test(
        "one failed call of the disk refuses one batch, and ends the writer's database connection",
        arguments: [Fault.Calls.write, .sync].map(\.rawValue)
    )
    func failsOnce(call: UInt32) throws {
        let (_, disk, server) = try AfterlinkProcess.onFaultyDisk(["--threads", "1"])
        let connection = try server.connect()
        let calls = Fault.Calls(rawValue: call)
        try disk.set(
            Fault(calls, of: .log, .fail(EIO), skipped: 3, times: 1),
            Fault(calls, of: .log, .fail(EIO), skipped: 9, times: 1),
            Fault(calls, of: .log, .fail(EIO), skipped: 15, times: 1),
            // This fault changes nothing. It counts database connections, of the loop and of jobs too, because each
            // connection opens the log once.
            Fault(.open, of: .log, .wait(milliseconds: 0))
        )
        let statuses = try (1...20).map { try connection.click(fingerprint($0)).status }
        #expect(statuses.count { $0 == 503 } == 3)
        #expect(statuses.count { $0 == 201 } == 17)
        #expect(try disk.callCount(ofFault: 3) >= 3)
        for (index, status) in statuses.enumerated() where status == 201 {
            #expect(try connection.check(fingerprint(index + 1)).isMatch)
        }
    }

    @Test("with relaxed durability a full disk also causes 503, and acknowledged clicks survive a kill")
    func relaxed() throws {
        let (installation, disk, server) = try AfterlinkProcess.onFaultyDisk(["--durability", "relaxed"])
        let connection = try server.connect()
        #expect(try connection.click(fingerprint(1)).status == 201)
        try disk.set(.noSpace)
        try expectRefusal(connection, click: 2, check: 1)
        try disk.set()
        #expect(try Polling.until { try server.connect().get("/readyz").status == 200 })
        // Commits wait for a sync only if the log restarts.
        try disk.set(.syncError)
        let replies = try (3...20).map { (number: $0, status: try connection.click(fingerprint($0)).status) }
        #expect(replies.allSatisfy { $0.status == 201 || $0.status == 503 })
        server.kill()
        let next = try installation.serve().connection
        for number in [1] + replies.filter({ $0.status == 201 }).map(\.number) {
            #expect(try next.check(fingerprint(number)).isMatch)
        }
    }

    @Test("a partial write of the disk is continued")
    func shortWrites() throws {
        let (installation, disk, server) = try AfterlinkProcess.onFaultyDisk()
        let connection = try server.connect()
        try disk.set(Fault(.write, of: .log, .shorten))
        for number in 1...20 { #expect(try connection.click(fingerprint(number)).status == 201) }
        #expect(try disk.callCount() > 20)
        server.kill()
        let next = try installation.serve().connection
        for number in 1...20 { #expect(try next.check(fingerprint(number)).isMatch) }
    }

    @Test("while a sync does not end, responses and `/readyz` have 503; then the next check gets the claim")
    func slowSync() throws {
        let (installation, disk, server) = try AfterlinkProcess.onFaultyDisk()
        let connection = try server.connect()
        #expect(try connection.click(fingerprint(1)).status == 201)
        // The sync does not end before the response.
        try disk.set(.stuckSync)
        let watch = ServerStopwatch(of: server.identifier)
        let first = try connection.check(fingerprint(1))
        #expect(first.status == 503)
        #expect(watch.elapsed < .seconds(5), "long before an SDK gives up")
        #expect(try Polling.until { try connection.get("/readyz").status == 503 })
        #expect(Polling.until { installation.log.contains("the database server does not respond") })
        try disk.set()
        #expect(try Polling.until { try connection.get("/readyz").status == 200 })
        #expect(try Polling.until { try connection.check(fingerprint(1)).isMatch })
        #expect(try connection.check(fingerprint(1)).isNoMatch)
        #expect(try connection.totals(installation.keys.admin)["matches"] as? Int == 1)
    }

    @Test("a log that cannot be copied into the database causes no refusal, because the log is on disk")
    func logThatIsNotCopied() throws {
        let (installation, disk, server) = try AfterlinkProcess.onFaultyDisk()
        let connection = try server.connect()
        try disk.set(Fault(.write, of: .database, .fail(EIO)))
        let metadata = ["note": String(repeating: "x", count: 8000)]
        let log = installation.database.path + "-wal"
        var count = 0
        // If the log has 32 MiB or more, the writer copies the log itself, after each commit.
        var copied = 0
        while try copied < 20 || disk.callCount() < 20 {
            count += 1
            guard try connection.click(fingerprint(count), ["metadata": metadata]).status == 201 else {
                Issue.record("click \(count) was refused")
                break
            }
            let size = try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int ?? 0
            copied += size > 34_000_000 ? 1 : 0
        }
        server.kill()
        #expect(try Inspection(installation.database).clicks.count == count)
    }

    @Test("a command waits for a slow disk, because the operator would only repeat the command")
    func commandOnSlowDisk() throws {
        let installation = try Installation()
        let disk = try FaultyDisk(in: installation.folder)
        // The sync takes longer than a request may take.
        try disk.set(Fault(.sync, of: .log, .wait(milliseconds: 1500), times: 1))
        let words = ["keys", "create", "--kind", "app"]
        let made = try installation.run(words, environment: disk.environment)
        #expect(made.status == 0, "\(made.errors)")
        #expect(try disk.callCount() > 0)
        let key = made.text.trimmingCharacters(in: .whitespacesAndNewlines)
        let server = try AfterlinkProcess(installation)
        #expect(try server.connect().check(fingerprint(1), key: key).isNoMatch)
    }

    @Test("while syncs stay slow, a check for a claim in doubt gets a retryable error, never no match")
    func claimInDoubt() throws {
        let (_, disk, server) = try AfterlinkProcess.onFaultyDisk()
        let connection = try server.connect()
        #expect(try connection.click(fingerprint(1)).status == 201)
        // The claim is committed after its request got 503; recording the lost response then takes as long again.
        try disk.set(.slowSync(milliseconds: 1500))
        let end = ContinuousClock.now + .seconds(5)
        var replies: [HTTPTestClient.Reply] = []
        while ContinuousClock.now < end, replies.last?.status != 200 {
            replies.append(try connection.check(fingerprint(1)))
        }
        try disk.set()
        _ = try Polling.until {
            if replies.last?.status == 200 { return true }
            replies.append(try connection.check(fingerprint(1)))
            return false
        }
        #expect(replies.last?.isMatch == true)
        #expect(!replies.contains { $0.isNoMatch })
        #expect(try connection.check(fingerprint(1)).isNoMatch)
    }

    @Test(
        "a start on a database that cannot be written fails with one line that names the database, and changes nothing",
        arguments: [EROFS, EACCES]
    )
    func refusesReadOnly(error: Int32) throws {
        let installation = try Installation()
        let disk = try FaultyDisk(in: installation.folder)
        try disk.set(Fault([.write, .open, .truncate, .unlink], of: .all, .fail(error)))
        let before = try Data(contentsOf: installation.database)
        let words = ["serve", "--listen", "127.0.0.1:0"]
        let output = try installation.run(words, environment: disk.environment)
        #expect(output.status == 1)
        let lines = output.errors.split(separator: "\n").filter { $0.contains("afterlink.db") }
        #expect(lines.count == 1, "\(output.errors)")
        #expect(try Data(contentsOf: installation.database) == before)
    }

    @Test("a start with another server key than the database's fails with the name of the key file")
    func wrongServerKey() throws {
        let installation = try Installation()
        let key = URL(fileURLWithPath: installation.database.path + ".key")
        let own = try String(contentsOf: key, encoding: .utf8)
        let handle = try FileHandle(forWritingTo: key)
        try handle.write(contentsOf: Data(String(own.reversed().filter { $0 != "\n" }).utf8))
        try handle.close()
        let output = try installation.run(["serve", "--listen", "127.0.0.1:0"])
        #expect(output.status == 78)
        #expect(output.errors.contains("afterlink.db.key"))
        #expect(output.errors.contains("is not the server key of"))
    }

    @Test(
        "failed claims consume nothing, even if the process dies before the disk recovers",
        arguments: [1, 20]
    )
    func consumeNothing(claims: Int) throws {
        let (installation, disk, server) = try AfterlinkProcess.onFaultyDisk()
        let connection = try server.connect()
        for number in 1...claims { #expect(try connection.click(fingerprint(number)).status == 201) }
        // Only the sync fails: the log has all writes of the commit.
        try disk.set(.syncError)
        for number in 1...claims { #expect(try connection.check(fingerprint(number)).status == 503) }
        server.kill()

        let again = try installation.serve(["--replay-grace", "0"]).connection
        for number in 1...claims { #expect(try again.check(fingerprint(number)).isMatch) }
    }

    @Test("a full queue refuses the next write at once, with the time of the next attempt")
    func refusesAtOnce() throws {
        let (installation, disk, server) = try AfterlinkProcess.onFaultyDisk(["--limit-queue", "3"])
        let first = try server.connect()
        #expect(try first.click(fingerprint(0)).status == 201)
        try disk.set(.stuckSync)
        let others = try (1...40).map { _ in try server.connect() }
        for (number, connection) in others.enumerated() { try connection.sendClick(fingerprint(number + 1)) }
        let replies = try others.map { try $0.receive() }
        try disk.set()
        #expect(replies.allSatisfy { $0.status == 201 || $0.status == 503 })
        for reply in replies where reply.status == 503 {
            #expect(reply.string("error_code") == "UNAVAILABLE")
            #expect((1...3).contains(reply.fields["retry-after"].flatMap { Int($0) } ?? 0))
        }
        // The full queue was the reason, not the time limit.
        let text = try server.connect().get("/metrics", key: installation.keys.admin).text
        let metrics = PrometheusText(text)
        let refused = metrics.value("afterlink_store_refusals_total", ["reason": "overloaded"]) ?? 0
        #expect(refused >= 10, "\(refused)")
        #expect(metrics.violations.isEmpty)
    }
}
