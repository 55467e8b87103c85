import Foundation
import Support
import Testing

/// Scenarios that every release must pass, with the real binary, socket and database.
///
/// The scenario with a kill is in `KillTests`.
@Suite("The guarantees of a claim", .blocking)
struct AcceptanceTests {
    /// Starts a server with the test clock, so that windows and grace periods pass without waiting.
    private func start(_ arguments: [String] = []) throws -> (Installation, AfterlinkProcess, HTTPTestClient)
    { try Installation.serving(["--unsafe-test-clock"] + arguments) }

    @Test("a check after a click gets link and campaign; a check after the grace period does not match")
    func matchesOnce() throws {
        let (_, _, connection) = try start()
        let click = try connection.click(fingerprint(1), ["jid": "j1"], fields: at(0))
        #expect(click.status == 201)
        let match = try connection.check(fingerprint(1), fields: at(10))
        #expect(match.isMatch)
        #expect(match.string("url") == "myapp://promo/item?keyName=SUMMER25&jid=j1")
        #expect(match.string("campaignKey") == "SUMMER25")
        #expect(match.fields["cache-control"] == "no-store")
        let again = try connection.check(fingerprint(1), fields: at(71))
        #expect(again.isNoMatch)
        #expect(again.json.keys.sorted() == ["matched", "status"])
    }

    @Test("a check after the window does not match, and the statistics have the reason")
    func windowPasses() throws {
        let (installation, _, connection) = try start()
        _ = try connection.click(fingerprint(1), ["attribution_window_seconds": 3600], fields: at(0))
        _ = try connection.click(fingerprint(2), ["attribution_window_seconds": 3600], fields: at(0))
        #expect(try connection.check(fingerprint(1), fields: at(3600)).isMatch)
        let late = try connection.check(fingerprint(2), fields: at(3600.001))
        #expect(late.isNoMatch)
        let reasons = try connection.totals(installation.keys.admin)["no_match_reasons"] as? [String: Int]
        #expect(reasons?["expired"] == 1)
        #expect(reasons?["no_click"] == 0)
    }

    @Test("after a match, a new click with the same fingerprint can match")
    func newClickNewMatch() throws {
        let (_, _, connection) = try start()
        _ = try connection.click(fingerprint(1), ["campaign_key": "FIRST"], fields: at(0))
        let first = try connection.check(fingerprint(1), fields: at(10))
        #expect(first.string("campaignKey") == "FIRST")
        _ = try connection.click(fingerprint(1), ["campaign_key": "SECOND"], fields: at(20))
        let second = try connection.check(fingerprint(1), fields: at(30))
        #expect(second.string("campaignKey") == "SECOND")
    }

    @Test("a thousand checks at once give one match", arguments: [true, false])
    func thousandAtOnce(withInstallIDs: Bool) throws {
        let (installation, server, connection) = try start(["--replay-grace", "0"])
        _ = try connection.click(fingerprint(1))
        let checks = try (0..<1000).map { _ in try server.connect() }
        for (number, check) in checks.enumerated() {
            let fields = withInstallIDs ? ["X-Install-ID": "install-\(number)"] : [:]
            check.sendCheck(fingerprint(1), fields: fields)
        }
        let replies = try checks.map { try $0.receive() }
        #expect(replies.count { $0.isMatch } == 1)
        #expect(replies.count { $0.isNoMatch } == 999)
        #expect(try connection.totals(installation.keys.admin)["matches"] as? Int == 1)
    }

    @Test("a repeated check within the grace period gets the same answer, and one match is counted")
    func repeatInsideGrace() throws {
        let (installation, _, connection) = try start()
        _ = try connection.click(fingerprint(1), fields: at(0))
        let first = try connection.check(fingerprint(1), fields: at(10))
        let second = try connection.check(fingerprint(1), fields: at(69))
        #expect(first.isMatch)
        #expect(first.text == second.text)
        let totals = try connection.totals(installation.keys.admin)
        #expect(totals["matches"] as? Int == 1)
        #expect(totals["replays"] as? Int == 1)
    }

    @Test("a repeated check with the same install id gets the same answer until the click's window ends")
    func repeatByInstallID() throws {
        let (_, _, connection) = try start()
        let install = ["X-Install-ID": "install-1"]
        _ = try connection.click(fingerprint(1), ["attribution_window_seconds": 3600], fields: at(0))
        let first = try connection.check(fingerprint(1), fields: at(10).merging(install) { $1 })
        let last = try connection.check(fingerprint(1), fields: at(3600).merging(install) { $1 })
        let late = try connection.check(fingerprint(1), fields: at(3601).merging(install) { $1 })
        let other = try connection.check(
            fingerprint(1),
            fields: at(20).merging(["X-Install-ID": "install-2"]) { $1 }
        )
        #expect(first.isMatch)
        #expect(first.text == last.text)
        #expect(late.isNoMatch)
        #expect(other.isNoMatch)
    }

    @Test("of two clicks the newer one matches, also if both came in the same millisecond")
    func newerWins() throws {
        let (_, _, connection) = try start()
        for (number, seconds) in [(1, 0.0), (2, 20.0), (3, 20.0)] {
            _ = try connection.click(
                fingerprint(1),
                ["campaign_key": "C\(number)", "deeplink_url": "myapp://promo/\(number)"],
                fields: at(seconds)
            )
        }
        let match = try connection.check(fingerprint(1), fields: at(30))
        #expect(match.string("campaignKey") == "C3")
    }

    @Test("a wrong key is refused and consumes nothing; a malformed fingerprint is refused")
    func refusals() throws {
        let (installation, _, connection) = try start()
        _ = try connection.click(fingerprint(1))
        for key in ["wrong", "app_" + String(repeating: "A", count: 43), installation.keys.app + "x"] {
            let reply = try connection.check(fingerprint(1), key: key)
            #expect(reply.status == 401)
            #expect(reply.string("error_code") == "INVALID_API_KEY")
            #expect(reply.fields["www-authenticate"] == "Bearer")
        }
        let admin = try connection.check(fingerprint(1), key: installation.keys.admin)
        #expect(admin.status == 403)
        for malformed in ["", "abc", fingerprint(1) + "0", "g" + fingerprint(1).dropFirst()] {
            let reply = try connection.check(malformed)
            #expect(reply.status == 400)
            #expect(reply.string("error_code") == "INVALID_FINGERPRINT")
            #expect(try connection.check(malformed, key: "wrong").status == 401)
        }
        #expect(try connection.check(fingerprint(1).uppercased()).isMatch)
    }

    @Test("without any click there is no match, and caches must not store the response")
    func noClick() throws {
        let (_, _, connection) = try start()
        let reply = try connection.check(fingerprint(9))
        #expect(reply.text == #"{"status":"no_match","matched":false}"#)
        #expect(reply.fields["cache-control"] == "no-store")
    }

    @Test("test keys find and create only test clicks, and get the reason for no match")
    func testKeys() throws {
        let (installation, _, connection) = try start()
        let bearer = ["Authorization": "Bearer \(installation.keys.test)"]
        _ = try connection.click(fingerprint(1), fields: bearer)
        _ = try connection.click(fingerprint(2))
        #expect(try connection.check(fingerprint(1)).isNoMatch)
        let blind = try connection.check(fingerprint(2), key: installation.keys.test)
        #expect(blind.isNoMatch)
        #expect(blind.string("reason") == "no_click")
        #expect(try connection.check(fingerprint(1), key: installation.keys.test).isMatch)
        let live = try connection.totals(installation.keys.admin)
        #expect(live["clicks"] as? Int == 1)
        #expect(live["matches"] as? Int == 0)
        #expect(try connection.totals(installation.keys.admin, "?test=true")["matches"] as? Int == 1)
    }

    @Test("a match retires the visitor's duplicate clicks of ten minutes, and no other visitor's clicks")
    func retiresDuplicates() throws {
        let (_, _, connection) = try start(["--replay-grace", "0"])
        let stranger = ["User-Agent": "Another/1"]
        _ = try connection.click(fingerprint(1), fields: at(0).merging(stranger) { $1 })
        _ = try connection.click(fingerprint(1), fields: at(60))
        _ = try connection.click(fingerprint(1), fields: at(120))
        #expect(try connection.check(fingerprint(1), fields: at(130)).isMatch)
        #expect(try connection.check(fingerprint(1), fields: at(140)).isMatch)
        #expect(try connection.check(fingerprint(1), fields: at(150)).isNoMatch)
    }

    @Test("an answer that could not be delivered goes to the next check, once")
    func undelivered() throws {
        let (installation, disk, server) = try AfterlinkProcess.onFaultyDisk(["--threads", "1"])
        let (connection, key) = (try server.connect(), installation.keys.app)
        #expect(try connection.click(fingerprint(1)).status == 201)
        // Commit the claim only after the client has closed, because bytes in the client's kernel would count as
        // delivered.
        try disk.set(.stuckSync)
        let vanishing = try server.connect()
        vanishing.sendCheck(fingerprint(1), key: key)
        // The server has one event loop: when it responds to this request, it has read the earlier check.
        #expect(try connection.get("/healthz").status == 200)
        vanishing.reset()
        try disk.set()
        #expect(try Polling.until { try connection.check(fingerprint(1), key: key).isMatch })
        #expect(try connection.check(fingerprint(1)).isNoMatch)
        #expect(try connection.totals(installation.keys.admin)["matches"] as? Int == 1)
    }

    @Test("if as many checks as clicks come at once, all of them match, each with a different click")
    func manyClicksManyChecks() throws {
        let (_, server, connection) = try start(["--replay-grace", "0"])
        let count = 200
        for number in 0..<count {
            #expect(
                try connection.click(
                    fingerprint(1),
                    ["jid": "j\(number)"],
                    fields: ["User-Agent": "B/\(number)"]
                ).status == 201
            )
        }
        let checks = try (0..<count).map { _ in try server.connect() }
        for check in checks { check.sendCheck(fingerprint(1)) }
        let journeys = try checks.map { try $0.receive() }.compactMap { $0.string("jid") }
        #expect(Set(journeys).count == count)
        #expect(try connection.check(fingerprint(1)).isNoMatch)
    }
}
