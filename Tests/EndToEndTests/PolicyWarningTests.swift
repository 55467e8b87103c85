import Foundation
import SQLite
import Support
import Testing

@Suite("Warnings about apps' policies", .blocking)
struct PolicyWarningTests {
    private func set(_ installation: Installation, _ words: String...) throws {
        #expect(try installation.run(["apps", "set", "--app", installation.appID] + words).status == 0)
    }

    private func policies(_ installation: Installation) throws -> [String] {
        let output = try installation.run(["doctor", "--listen", "127.0.0.1:0"])
        return output.text.split(separator: "\n").map(String.init).filter { $0.contains("policies: ") }
    }

    private func warnings(
        _ connection: HTTPTestClient,
        _ installation: Installation,
        _ query: String = ""
    ) throws
        -> [String]
    {
        let reply = try connection.get("/admin/stats" + query, key: installation.keys.admin)
        return try #require(reply.json["warnings"] as? [String])
    }

    @Test("warnings about settings appear in the log at the start, in the statistics and in doctor")
    func settings() throws {
        let words = "accepts matches that are more likely wrong than right"
        let installation = try Installation()
        #expect(
            try policies(installation) == [
                "ok       policies: the apps' policies fit their settings and traffic"
            ]
        )
        let usual = try AfterlinkProcess(installation)
        #expect(try !warnings(usual.connect(), installation).contains { $0.contains(words) })
        usual.kill()
        #expect(!installation.log.contains(words))

        try set(installation, "--minimum-confidence", "0.4")
        let server = try AfterlinkProcess(installation)
        #expect(Polling.until { installation.log.contains(words) })
        #expect(try warnings(server.connect(), installation).contains { $0.contains(words) })
        let printed = try installation.run(["stats"])
        #expect(printed.status == 0 && printed.errors.contains("Warning: the app \"app\" \(words)"))
        let doctor = try policies(installation)
        #expect(doctor.count == 1)
        #expect(doctor.first?.hasPrefix("warning  policies: ") == true)
        #expect(doctor.first?.contains(words) == true)
    }

    @Test("warnings about traffic appear in the app's statistics and in doctor")
    func traffic() throws {
        let words = "of 100 checks none brought a token"
        let installation = try Installation()
        try set(installation, "--fingerprinting", "off")
        let (_, connection) = try installation.serve(["--rate-limit", "off"])
        for number in 1...100 { #expect(try connection.check(fingerprint(number)).isNoMatch) }
        // The next statistics bring the pending records of checks to disk.
        let shown = try warnings(connection, installation, "?app=\(installation.appID)")
        #expect(shown.contains { $0.contains(words) })
        let printed = try installation.run(["stats", "--app", installation.appID])
        #expect(printed.errors.contains(words))
        let doctor = try policies(installation)
        #expect(doctor.count == 1 && doctor.first?.hasPrefix("warning  policies: ") == true)
        #expect(doctor.first?.contains(words) == true)
    }

    @Test("warnings about too many wrong matches appear in the statistics and in doctor")
    func collisions() throws {
        let words = "of 200 matches of the app \"app\" by fingerprint, 40 % are expected to be wrong"
        let installation = try Installation()
        try set(installation, "--matching", "newest")
        let connection = try installation.open()
        try connection.execute(
            """
            WITH figure (name, value) AS (
                VALUES ('counted_at', 1700000000000.0), ('window_seconds', 86400.0), ('matches', 200.0),
                    ('expected_false', 80.0), ('spread', 5.0)
            )
            INSERT OR REPLACE INTO figures SELECT number * 2, 'collisions', figure.name, value FROM apps, figure
            """
        )
        #expect(try installation.run(["stats"]).errors.contains(words))
        #expect(try policies(installation).first?.contains(words) == true)
    }
}
