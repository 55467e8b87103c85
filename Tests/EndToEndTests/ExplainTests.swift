import Foundation
import Support
import Testing

@Suite("Explaining a check", .blocking)
struct ExplainTests {
    /// SHA-256 of `iPhone|Asia/Dubai|tr`, which SDKs of form D send.
    private static let launch = "a7347674ec38d6c2dbc28cd78b053ef48214ab0838385fe3ba39c39778dd6a4a"

    @Test("the command lists the same checks as the endpoint, with the same filters")
    func list() throws {
        let (installation, _, connection) = try Installation.serving()
        #expect(try connection.click(fingerprint(1)).status == 201)
        for number in 1...3 { _ = try connection.check(fingerprint(number)) }
        let path = "/admin/api/checks"
        #expect(
            try Polling.until {
                let reply = try connection.get(path, key: installation.keys.admin)
                return reply.text.components(separatedBy: "chk_").count == 4
            }
        )
        for (items, options, count) in [
            ("", [], 3), ("?outcome=match", ["--outcome", "match"], 1),
            ("?reason=no_click&limit=1", ["--reason", "no_click", "--limit", "1"], 1),
            ("?fingerprint=\(fingerprint(2))", ["--fingerprint", fingerprint(2)], 1),
            ("?to=2001-01-01T00:00:00Z", ["--to", "2001-01-01"], 0), ("?test=true", ["--test"], 0),
        ] {
            let reply = try connection.get(path + items, key: installation.keys.admin)
            let output = try installation.run(["checks", "--json"] + options)
            #expect(output.text.filter { !$0.isWhitespace } == reply.text.filter { !$0.isWhitespace })
            let table = try installation.run(["checks"] + options).text
            #expect(table.components(separatedBy: "chk_").count == count + 1, "\(options): \(table)")
        }
        let late = try installation.run(["checks", "--from", "2027-01-31", "--to", "2027-01-30"])
        #expect(late.status == 2 && late.errors.contains("must not be before --from"))
        let wrong = try installation.run(["checks", "--reason", "no_clicks"])
        #expect(wrong.status == 2 && wrong.errors.contains("must be one of no_click, "))
    }

    @Test("the endpoint and the command name the value that differs, although the launch sent only a hash")
    func difference() throws {
        let (installation, server, connection) = try Installation.serving()
        let body = """
            {"signals":{"model":"iPhone","osVersion":"17.2","screenWidth":390,"screenHeight":844,"pixelRatio":3,\
            "timezone":"Europe/Istanbul","language":"tr-TR"},"deeplink_url":"myapp://promo/item",\
            "campaign_key":"SUMMER25","platform":"ios"}
            """
        let click = try connection.call(
            "POST",
            "/v1/deferred-deeplink/click",
            fields: ["Content-Type": "application/json"],
            body: body
        )
        #expect(click.status == 201)
        let request = ["X-Request-ID": "launch-1"]
        let reply = try connection.check(Self.launch, fields: request)
        #expect(reply.isNoMatch)

        let path = "/admin/api/checks/launch-1/explain"
        let explained = try connection.get(path, key: installation.keys.admin)
        #expect(explained.status == 200)
        for words in [
            #""component":"timezone""#, #""click":"Europe/Istanbul""#, #""launch":"Asia/Dubai""#,
            #""campaign":"SUMMER25""#, #""form":"D""#,
        ] { #expect(explained.text.contains(words), "\(words)") }
        #expect(!explained.text.contains(Self.launch))
        let start = try #require(click.text.range(of: "clk_"))
        let clickID = String(click.text[start.lowerBound...].prefix(30))
        let alone = try connection.get("/admin/api/checks/\(clickID)/explain", key: installation.keys.admin)
        #expect(alone.text.contains(#""state":"open""#))
        server.terminate()
        #expect(server.waitUntilExit() == 0)

        let text = try installation.run(["explain", Self.launch]).text
        #expect(text.contains("click says Europe/Istanbul, launch hash fits Asia/Dubai"))
        #expect(text.contains("timezone"))
        let json = try installation.run(["explain", "launch-1", "--json"])
        #expect(try JSONSerialization.jsonObject(with: json.standardOutput) is [String: Any])
        let id = try #require(text.split(separator: " ").first { $0.hasPrefix("chk_") })
        let again = try installation.run(["explain", String(id.prefix(30))])
        #expect(again.text.contains("launch hash fits Asia/Dubai"))
        let unclaimed = try installation.run(["explain", clickID])
        #expect(unclaimed.text.contains("No check is known that got the click \(clickID)"))
        #expect(unclaimed.text.contains("It is live until "))
        let material = try installation.run(["explain", clickID, "--json"])
        #expect(try JSONSerialization.jsonObject(with: material.standardOutput) is [String: Any])
        let none = try installation.run(["explain", "launch-2"])
        #expect(none.status != 0)
        #expect(none.errors.contains("The database has no record of this check."))
        let unknown = try installation.run(["explain", "clk_01jz8w6t7n3k5m9q2r4v6x8y0z"])
        #expect(unknown.status != 0 && unknown.errors.contains("The database has no click with this id."))
        #expect(try installation.run(["explain", "two words"]).status != 0)
    }
}
