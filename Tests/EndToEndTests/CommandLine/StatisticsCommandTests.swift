import Foundation
import Support
import Testing

@Suite("afterlink stats", .blocking)
struct StatisticsCommandTests {
    @Test("`stats` reports whether a campaign has no clicks in the chosen time, or no clicks at all")
    func absentCampaign() throws {
        let installation = try Installation()
        let none = try installation.run(["stats", "--campaign", "SUMMER25"])
        #expect(none.status == 0)
        #expect(none.errors.contains("The campaign \"SUMMER25\" has no click. There is no campaign yet."))
        let server = try AfterlinkProcess(installation)
        #expect(try server.connect().click(fingerprint(1), ["campaign_key": "SUMMER25"]).status == 201)
        server.terminate()
        #expect(server.waitUntilExit() == 0)

        #expect(try !installation.run(["stats", "--campaign", "SUMMER25"]).errors.contains("no click"))
        let mistyped = try installation.run(["stats", "--campaign", "summer25"])
        let hint = "\"summer25\" has no click. Known campaigns, case-sensitive: \"SUMMER25\"."
        #expect(mistyped.errors.contains(hint))
        let before = try installation.run(["stats", "--campaign", "SUMMER25", "--to", "2020-01-01", "--json"])
        #expect(before.errors.contains("The campaign \"SUMMER25\" has no click and no match in this time."))
        #expect(try JSONSerialization.jsonObject(with: before.standardOutput) is [String: Any])
        let test = try installation.run(["stats", "--test", "--campaign", "SUMMER25"])
        #expect(test.errors.contains("has no test click"))
    }

    @Test("`stats` shows matches per check and per click in the totals, and per click for each campaign")
    func rates() throws {
        let (installation, server, connection) = try Installation.serving()
        for number in 1...4 {
            #expect(try connection.click(fingerprint(number), ["campaign_key": "SUMMER25"]).status == 201)
        }
        #expect(try connection.check(fingerprint(1)).isMatch)
        #expect(try connection.check(fingerprint(9)).isNoMatch)
        server.terminate()
        #expect(server.waitUntilExit() == 0)
        let text = try installation.run(["stats"]).text
        func cells(_ name: String) -> [String] {
            let line = text.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
            return line.dropFirst(name.count).split(separator: " ").map(String.init)
        }
        #expect(cells("match rate") == ["50.0", "%"])
        #expect(cells("conversion rate") == ["25.0", "%"])
        #expect(cells("CAMPAIGN") == ["CLICKS", "CHECKS", "MATCHES", "MATCH", "RATE", "CONVERSION", "RATE"])
        #expect(cells("SUMMER25").suffix(2) == ["25.0", "%"])
    }

    @Test("`stats` warns once of all apps that allow any destination")
    func destinations() throws {
        let installation = try Installation()
        func warnings() throws -> [String] {
            let errors = try installation.run(["stats"]).errors
            return errors.split(separator: "\n").filter { $0.contains("any destination") }.map(String.init)
        }
        #expect(try warnings().count == 1)
        #expect(try warnings().first?.contains("the app \"app\" allows any destination") == true)
        for name in ["Shop", "Blog"] { #expect(try installation.run(["apps", "create", name]).status == 0) }
        #expect(try warnings().count == 1)
        let all =
            "3 apps allow any destination: a stranger can plant a link in another person's first launch: \"app\", \"Shop\", \"Blog\""
        #expect(try warnings().first?.contains(all) == true)
        #expect(
            try installation.run(["apps", "set", "--app", "Blog", "--destination", "blog://"]).status == 0
        )
        #expect(try warnings().first?.contains("2 apps") == true)
    }
}

@Suite("Statistics during clicks", .blocking)
struct StatisticsBesideClicksTests {
    /// A connection that requests statistics without waiting for the responses.
    private final class Asker {
        private let client: RawClient
        private let request: String
        private(set) var waitingCount = 0

        init(_ server: AfterlinkProcess) throws {
            client = try RawClient(port: server.port, patienceMilliseconds: 60_000)
            let key = server.installation.keys.admin
            request = "GET /admin/stats HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(key)\r\n\r\n"
        }

        func ask(untilWaiting count: Int) {
            client.send(String(repeating: request, count: max(count - waitingCount, 0)))
            waitingCount = max(count, waitingCount)
        }

        func readResponse() throws {
            #expect(try client.answer().status == 200)
            waitingCount -= 1
        }

        func readResponses() throws {
            while waitingCount > 0, !client.isSilent(milliseconds: 0) { try readResponse() }
        }
    }

    @Test("statistics delay no click, however often they are requested")
    func clicksGoOn() throws {
        let (_, server, connection) = try Installation.serving()
        let askers = try (0..<4).map { _ in try Asker(server) }
        var overtaking = 0
        for number in 1...40 {
            for asker in askers { asker.ask(untilWaiting: 50) }
            let isStored = try Polling.until {
                let status = try connection.click(fingerprint(number)).status
                // A busy machine may not store a click within a second.
                #expect(status == 201 || status == 503)
                return status == 201
            }
            #expect(isStored)
            for asker in askers { try asker.readResponses() }
            if askers.contains(where: { $0.waitingCount > 0 }) { overtaking += 1 }
        }
        // A click that waits for the statistics that were requested before it overtakes none of them.
        #expect(overtaking > 30, "\(overtaking) of 40 clicks")
        for asker in askers { while asker.waitingCount > 0 { try asker.readResponse() } }
    }
}

@Suite("The commands on the model", .blocking)
struct ModelCommandTests {
    private func figures(_ installation: Installation) throws -> [String: Any] {
        let shown = try installation.run(["model", "show", "--json"])
        #expect(shown.status == 0, "\(shown.text)")
        let object = try JSONSerialization.jsonObject(with: shown.standardOutput) as? [String: Any]
        return try #require(object)
    }

    @Test("`model` shows the built-in figures, shows the learnt figures, and resets them")
    func showAndReset() throws {
        let installation = try Installation()
        let fresh = try figures(installation)
        #expect(fresh["learning_since"] is NSNull || fresh["learning_since"] == nil)
        let (server, connection) = try installation.serve()
        for number in 1...5 { #expect(try connection.check(fingerprint(number)).isNoMatch) }
        server.terminate()
        #expect(server.waitUntilExit() == 0)
        let learnt = try #require(try figures(installation)["figures"] as? [String: Any])
        let launches = try #require(learnt["launches"] as? Double)
        #expect(abs(launches - 5) < 0.1)
        #expect(try installation.run(["model", "show"]).text.contains("launches"))
        #expect(try installation.run(["model", "reset"]).status == 0)
        let forgotten = try #require(try figures(installation)["figures"] as? [String: Any])
        #expect(forgotten["launches"] as? Double == 0)
    }
}
