import Foundation
import Support
import Testing

@Suite("afterlink backtest", .blocking)
struct BacktestCommandTests {
    /// Posts two clicks of each of 30 phones, then a launch of each; every third launch has another fingerprint.
    private func play(_ connection: HTTPTestClient, _ installation: Installation) throws {
        for phone in 0..<30 {
            let start = Double(phone) * 600
            for tap in 0..<2 {
                let link = ["deeplink_url": "myapp://promo/\(tap)"]
                _ = try connection.click(fingerprint(phone), link, fields: at(start + Double(tap)))
            }
        }
        // Send the launches in the order of their times, all of them later than the clicks.
        for phone in [Int](stride(from: 0, to: 30, by: 2)) + stride(from: 1, to: 30, by: 2) {
            let delay = phone.isMultiple(of: 2) ? 300.0 : 7200.0
            let wanted = phone.isMultiple(of: 3) ? 500 + phone : phone
            let fields = at(30 * 600 + delay + Double(phone))
            _ = try connection.check(fingerprint(wanted), fields: fields)
        }
        // The response comes when every record is on disk.
        _ = try connection.get("/admin/api/checks", key: installation.keys.admin)
    }

    private func json(_ output: ChildProcess.Output) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: output.standardOutput)
        return try #require(object as? [String: Any], "\(output.errors)")
    }

    @Test("`backtest` replays a database while a server runs, and reproduces the recorded responses")
    func besideServer() throws {
        let (installation, _, connection) = try Installation.serving([
            "--unsafe-test-clock", "--rate-limit", "off",
        ])
        try play(connection, installation)

        let current = try installation.run(["backtest"])
        #expect(current.status == 0, "\(current.errors)")
        #expect(current.errors.isEmpty)
        #expect(current.text.hasPrefix("Clicks: 60, launches: 30, from "))
        #expect(current.text.contains("RECORDED") && current.text.contains("CURRENT"))
        #expect(!current.text.contains("PROPOSED"))
        #expect(current.text.contains("30 of 30 launches (100.0 %) get their recorded response."))
        #expect(current.text.contains("False attribution is not known"))

        let hour = ["backtest", "--window", "3600"]
        let proposed = try installation.run(hour)
        #expect(proposed.text.contains("PROPOSED") && proposed.text.contains("lose their match"))
        let body = try json(installation.run(hour + ["--json"]))
        let scores = try ["recorded", "current", "proposed"].map { try #require(body[$0] as? [String: Any]) }
        let matches = scores.map { $0["matches"] as? Int ?? 0 }
        #expect(matches[0] == matches[1] && matches[0] >= 10 && matches[2] < matches[1])
        #expect(scores[2]["window"] as? Int == 3600)
        #expect((body["fidelity"] as? [String: Any])?["same"] as? Int == 30)
        let changes = try #require(body["changes"] as? [String: Any])
        #expect(changes["lost"] as? Int ?? 0 > 5, "the launches after more than an hour")
        let gaps = try #require(body["unknown"] as? [String: Any])
        #expect(gaps["clicks_without_visitor"] as? Int == 0)
        #expect(gaps["launches_without_address"] as? Int == 30, "loopback addresses distinguish no visitors")

        let warm = try installation.run(["backtest", "--warm-up-days", "1"])
        #expect(warm.status == 0)
        #expect(warm.errors.contains("--warm-up-days 0 counts them."))

        // The backtest wrote nothing, and the server continues.
        #expect(try connection.click(fingerprint(900), fields: at(100_000)).status == 201)
    }

    @Test("`backtest` reports what is missing: a database, an app, traffic")
    func lacking() throws {
        let installation = try Installation()
        let empty = try installation.run(["backtest"])
        #expect(empty.status == 1)
        #expect(empty.errors.contains("holds no clicks and checks of the app"))
        let test = try installation.run(["backtest", "--test"])
        #expect(test.errors.contains("holds no test clicks and test checks"))
        #expect(try installation.run(["backtest", "--app", "unknown"]).errors.contains("There is no app"))
        let nowhere = try Installation.run(["backtest", "--database", "/nowhere/afterlink.db"])
        #expect(nowhere.status == 1)
        #expect(nowhere.errors.contains("/nowhere"))
    }

    @Test(
        "`backtest` refuses wrong options before it reads anything",
        arguments: [
            ("--trace week.jsonl", "`afterlink backtest` has no option --trace."),
            ("week.jsonl", "`afterlink backtest` does not know what to do with \"week.jsonl\"."),
            ("--window 5", "from 60 to 2592000"),
            ("--minimum-confidence 1.1", "a number from 0 to 1"),
            ("--rule oldest", "newest or probability"),
            ("--on-ambiguity maybe", "noMatch, newest or campaignOnly"),
            ("--warm-up-days x", "from 0 to 365"),
        ]
    )
    func wrongUse(options: String, explanation: String) throws {
        let words = ["backtest", "--database", "/nowhere/afterlink.db"]
        let output = try Installation.run(words + options.split(separator: " ").map(String.init))
        #expect(output.status == 2)
        #expect(output.errors.contains(explanation))
    }
}
