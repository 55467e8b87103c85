import Foundation
import Support
import Testing

/// The responses to a launch that may follow any of several people's clicks.
@Suite("Launches after the clicks of several people", .blocking)
struct CampaignOnlyTests {
    private static let hour = 3600.0
    private static let settings = [
        "--unsafe-test-clock", "--rate-limit", "off", "--trusted-proxy", "127.0.0.1/32",
    ]

    /// The address that a proxy forwards.
    private func from(_ address: String) -> [String: String] { ["X-Forwarded-For": address] }

    /// Plays five hours in which every launch follows a click by some minutes, so that the model has learnt from
    /// traffic.
    private func teach(_ connection: HTTPTestClient) throws {
        for person in 0..<40 {
            let moment = Double(person) * Self.hour / 8
            let home = from("93.184.\(person).1")
            let click = try connection.click(
                fingerprint(1000 + person),
                fields: at(moment).merging(home) { $1 }
            )
            #expect(click.status == 201)
            let launch = try connection.check(
                fingerprint(1000 + person),
                fields: at(moment + Double(1 + person % 8) * 60).merging(home) { $1 }
            )
            #expect(launch.isMatch)
        }
    }

    /// Two people whose phones are alike open their own links of one campaign, two minutes apart.
    private func clickTwice(_ connection: HTTPTestClient) throws {
        for (number, name) in ["anna", "ben"].enumerated() {
            let click = try connection.click(
                fingerprint(7),
                [
                    "deeplink_url": "myapp://gift/for-\(name)?pin=\(number)", "campaign_key": "GIFTS26",
                    "jid": "j_\(name)", "metadata": ["name": name],
                ],
                fields: at(5 * Self.hour + Double(number) * 120)
                    .merging(from("93.184.\(100 + number).1")) { $1 }
            )
            #expect(click.status == 201)
        }
    }

    private func launch(_ connection: HTTPTestClient, _ seconds: Double) throws -> HTTPTestClient.Reply {
        try connection.check(
            fingerprint(7),
            fields: at(5 * Self.hour + seconds).merging(["X-Install-ID": "install-of-one-of-them"]) { $1 }
                .merging(from("93.184.200.1")) { $1 }
        )
    }

    @Test("an ambiguous launch gets the campaign and the app's default link, and no personal link")
    func campaignOnly() throws {
        let installation = try Installation()
        let set = try installation.run([
            "apps", "set", "--on-ambiguity", "campaignOnly", "--default-link", "myapp://home?tab=1",
        ])
        #expect(set.status == 0, "\(set.errors)")
        let (server, connection) = try installation.serve(Self.settings)
        try teach(connection)
        try clickTwice(connection)
        let first = try launch(connection, 360)
        #expect(first.isMatch, "\(first.text)")
        #expect(first.json["campaignOnly"] as? Bool == true)
        #expect(first.string("campaignKey") == "GIFTS26")
        #expect(first.string("url") == "myapp://home?tab=1&keyName=GIFTS26")
        let confidence = try #require(first.json["confidence"] as? Double)
        #expect((0.7...0.99).contains(confidence))
        #expect(first.json["competingClicks"] as? Int == 1)
        for text in ["anna", "ben", "pin", "j_", "metadata"] {
            #expect(!first.text.contains(text), "\(text): \(first.text)")
        }
        #expect(try launch(connection, 400).text == first.text)

        server.kill()
        let again = try AfterlinkProcess(installation, Self.settings)
        #expect(try launch(again.connect(), 3600).text == first.text)
        let checks = try again.connect().get(
            "/admin/api/checks?campaign=GIFTS26",
            key: installation.keys.admin
        )
        #expect(checks.text.contains(#""campaign_only":true"#), "\(checks.text)")
    }

    @Test("an ambiguous launch gets no match if the app's policy does not allow a campaign alone")
    func withoutPolicy() throws {
        let (installation, _, connection) = try Installation.serving(Self.settings)
        try teach(connection)
        try clickTwice(connection)
        #expect(try launch(connection, 360).isNoMatch)
        let checks = try connection.get("/admin/api/checks?outcome=no_match", key: installation.keys.admin)
        #expect(checks.text.contains(#""reason":"ambiguous""#), "\(checks.text)")
    }
}
