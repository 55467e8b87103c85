import Foundation
import Support
import Testing

@Suite("afterlink backtest on a database", .blocking)
struct BacktestDatabaseTests {
    /// Two clicks of each phone, one of which it comes for after five minutes or two hours; every third launch has no
    /// click.
    private func play(_ connection: HTTPTestClient, _ installation: Installation) throws {
        for phone in 0..<30 {
            let start = Double(phone) * 600
            for tap in 0..<2 {
                _ = try connection.click(
                    fingerprint(phone),
                    ["deeplink_url": "myapp://promo/\(tap)"],
                    fields: at(start + Double(tap))
                )
            }
        }
        // In the order of time, and when all clicks have come.
        for phone in [Int](stride(from: 0, to: 30, by: 2)) + stride(from: 1, to: 30, by: 2) {
            let delay = phone.isMultiple(of: 2) ? 300.0 : 7200.0
            let wanted = phone.isMultiple(of: 3) ? 500 + phone : phone
            let fields = at(30 * 600 + delay + Double(phone))
            _ = try connection.check(fingerprint(wanted), fields: fields)
        }
        // Answered when everything that was noted is on disk.
        _ = try connection.get("/admin/api/checks", key: installation.keys.admin)
    }

    private func json(_ output: ChildProcess.Output) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: output.standardOutput)
        return try #require(object as? [String: Any], "\(output.errors)")
    }

    @Test("plays it beside the server that writes it, and gives what was really given")
    func besideServer() throws {
        let (installation, server, connection) = try Installation.serving([
            "--unsafe-test-clock", "--rate-limit", "off",
        ])
        defer { server.kill() }
        try play(connection, installation)

        let text = try installation.run(["backtest"])
        #expect(text.status == 0, "\(text.errors)")
        #expect(
            text.text.contains("RECORDED") && text.text.contains("CURRENT") && !text.text.contains("PROPOSED")
        )
        #expect(text.text.contains("30 of 30 launches (100.0 %) get what they were really given."))
        #expect(text.text.contains("False attribution is not known"))
        let asked = try json(installation.run(["backtest", "--window", "3600", "--json"]))
        let fidelity = try #require(asked["fidelity"] as? [String: Any])
        #expect(fidelity["same"] as? Int == 30)
        let given = try #require(asked["recorded"] as? [String: Any])
        let present = try #require(asked["current"] as? [String: Any])
        #expect(given["matches"] as? Int == present["matches"] as? Int)
        #expect(given["matches"] as? Int ?? 0 >= 10)
        let changes = try #require(asked["changes"] as? [String: Any])
        #expect(changes["lost"] as? Int ?? 0 > 5, "those who came after an hour")
        let gaps = try #require(asked["unknown"] as? [String: Any])
        #expect(gaps["clicks_without_visitor"] as? Int == 0)
        #expect(gaps["launches_without_address"] as? Int == 30, "a loopback address tells nothing")

        // Nothing of it was written, and the server goes on.
        #expect(try connection.click(fingerprint(900), fields: at(100_000)).status == 201)
    }

    @Test("says what it lacks: a database, an app, traffic")
    func lacking() throws {
        let installation = try Installation()
        let empty = try installation.run(["backtest"])
        #expect(empty.status == 1)
        #expect(empty.errors.contains("holds no clicks and checks of the app"))
        #expect(try installation.run(["backtest", "--test"]).errors.contains("no test clicks and checks"))
        #expect(try installation.run(["backtest", "--app", "nobody"]).errors.contains("There is no app"))
        let nowhere = try Installation.run(["backtest", "--database", "/nowhere/afterlink.db"])
        #expect(nowhere.status == 1)
        #expect(nowhere.errors.contains("/nowhere"))
    }
}
