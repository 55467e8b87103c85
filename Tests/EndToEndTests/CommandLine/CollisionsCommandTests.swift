import Attribution
import Foundation
import SQLite
import Support
import Testing

@Suite("afterlink collisions", .blocking)
struct CollisionsCommandTests {
    /// Plays clicks of three people with one fingerprint, one of whom clicks twice, and of a fourth person with another
    /// fingerprint; then a launch with each fingerprint.
    private func fill(_ installation: Installation) throws {
        let (server, connection) = try installation.serve()
        for (fingerprint, agent, path) in [
            (1, "Anna", "a"), (1, "Ben", "a"), (1, "Anna", "b"), (1, "Cem", "a"), (2, "Dua", "a"),
        ] {
            let click = try connection.click(
                EndToEndTests.fingerprint(fingerprint),
                ["deeplink_url": "myapp://promo/\(path)"],
                fields: ["User-Agent": "Mozilla/5.0 (iPhone; \(agent))"]
            )
            #expect(click.status == 201)
            // Two clicks of one millisecond have no order.
            let now = { Int(Date().timeIntervalSince1970 * 1000) }
            let clicked = now()
            while now() == clicked {}
        }
        for number in 1...2 { #expect(try connection.check(fingerprint(number)).isMatch) }
        server.terminate()
        #expect(server.waitUntilExit() == 0)
    }

    private func collisions(_ json: Any?) throws -> [String: Any] {
        let object = try #require(json as? [String: Any])
        return try #require((object["collisions"] as? [[String: Any]])?.first)
    }

    private func check(_ app: [String: Any], _ installation: Installation) throws {
        #expect(app["app"] as? String == installation.appID)
        #expect(app["window_seconds"] as? Int == Int(AttributionWindow.standard.seconds))
        let form = try #require((app["forms"] as? [[String: Any]])?.first)
        #expect(form["clicks"] as? Double == 5)
        #expect(form["form"] == nil)
        // Two of the five clicks were alone: Anna's first click and Dua's click.
        #expect(form["alone"] as? Double == 0.4)
        // With 0, 1, 1, 3 and 0 earlier clicks of other people, the mean is 1: Anna's two clicks do not compete with
        // each other.
        #expect(form["competing_clicks"] as? Double == 1)
        #expect(app["matches"] as? Int == 2)
        #expect(
            (app["limits"] as? [[String: Any]])?.map { $0["false_match_share"] as? Double } == [0.01, 0.05]
        )
    }

    @Test("`collisions` counts how many people share a fingerprint, as a table and as JSON")
    func command() throws {
        let installation = try Installation()
        let empty = try installation.run(["collisions"])
        #expect(empty.status == 0)
        #expect(empty.text.contains("no click with a fingerprint"))
        try fill(installation)
        let printed = try installation.run(["collisions", "--json"])
        #expect(printed.status == 0, "\(printed.errors)")
        try check(collisions(JSONSerialization.jsonObject(with: printed.standardOutput)), installation)
        let text = try installation.run(["collisions", "--attribution-window", "3600"]).text
        for words in [
            "Collisions of app, window 60 min", "ready-made", "40.0 %", "Matches by fingerprint: 2 recorded",
            "rule probability, minimum confidence 0.7", "WRONG AT MOST",
        ] { #expect(text.contains(words), "\(words): \(text)") }
        #expect(try installation.run(["collisions", "--app", "Unknown"]).status == 1)
        #expect(try installation.run(["collisions", "--test"]).text.contains("no click with a fingerprint"))
    }

    @Test("a serving process counts the same collisions in the background, and the statistics report them")
    func statistics() throws {
        let installation = try Installation()
        try fill(installation)
        let connection = try SQLiteConnection(
            path: installation.database.path,
            access: .readWrite,
            busyMilliseconds: 10_000
        )
        // Delete the figures: if the first server has counted some clicks, the next server waits a minute before it
        // counts.
        try connection.execute("DELETE FROM figures")
        let client = try installation.serve().connection
        let isShown = try Polling.until {
            let statistics = try client.get("/admin/stats", key: installation.keys.admin)
            return (statistics.json["collisions"] as? [Any])?.isEmpty == false
        }
        #expect(isShown)
        let statistics = try client.get("/admin/stats", key: installation.keys.admin)
        let app = try collisions(statistics.json)
        try check(app, installation)
        #expect((app["counted_at"] as? String)?.hasSuffix("Z") == true)
        #expect(try installation.run(["stats"]).text.contains("Collisions of app"))
    }
}
