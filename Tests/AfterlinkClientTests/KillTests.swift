import Foundation
import SQLite
import Support
import Testing

@Suite("A client that is killed", .blocking(minutes: 60))
struct KillTests {
    /// Kills one launch at a step, and in each third round a second launch, before launches that run to their end.
    @Test("gets its match exactly once", arguments: ClientKind.available)
    func kills(kind: ClientKind) async throws {
        let server = try RealServer()
        let probe = try ClientApp(kind, server: server.url, key: server.installation.keys.app)
        let whole = try probe.launch(
            "opened=myapp://other?al=\(try await server.click("PROBE"))",
            "within=20"
        )
        // The app was opened by the click's own link, so it has the link already.
        #expect(whole.lines.contains("campaign PROBE"), "\(whole.lines) \(whole.errors)")
        let steps = whole.steps
        #expect(steps > 12, "\(whole.lines)")
        let rounds = isLong ? 300 : kind == .swift ? 4 : 2
        // Few rounds kill at steps that are far apart, so that not all of them kill the launch before its request.
        let distance = isLong ? 7 : (steps + 4) / rounds
        // A launch waits this long for a late link, also if it already has the match.
        let late = isLong ? "late=4" : "late=1.5"
        var kills = 0
        for round in 0..<rounds {
            let app = try ClientApp(kind, server: server.url, key: server.installation.keys.app)
            let token = try await server.click("K\(round)")
            let pasted = Self.evidence(kind, token)
            // The steps of a launch depend on what earlier launches have done, so the second kill is at a random step.
            let deaths =
                [1 + (round * distance) % (steps + 4)] + (round % 3 == 0 ? [Int.random(in: 1...steps)] : [])
            var deliveries: [String] = []
            for death in deaths {
                let launch = try app.launch("within=20", late, pasted, "die=\(death)")
                if launch.status == -SIGKILL || launch.status == 137 { kills += 1 }
                deliveries += launch.lines.filter { $0.contains("myapp://promo/") }
            }
            // Launch until the link has been delivered, as the answer or later.
            for _ in 0..<2 where deliveries.isEmpty {
                let last = try app.launch("within=20", pasted, late)
                deliveries += last.lines.filter { $0.contains("myapp://promo/") }
            }
            let again = try app.launch("within=20", pasted)
            #expect(deliveries.count == 1, "round \(round), killed at \(deaths): \(deliveries), \(app.state)")
            #expect(deliveries.allSatisfy { $0.contains("myapp://promo/K\(round)") }, "\(deliveries)")
            #expect(again.deliveries == 0, "round \(round): \(again.lines)")
        }
        #expect(kills >= rounds * 2 / 3)
        // Each click was matched once, for one installation.
        #expect(try server.claimCount() == Int64(rounds + 1))
        let installs = try server.installation.open().integer("SELECT count(DISTINCT install) FROM claims")
        #expect(installs == Int64(rounds + 1))
    }

    /// Returns the argument with a click's token: in Swift a pasted link, which the app passes on after the first
    /// answer, and in Java the referrer of Google Play.
    static func evidence(_ kind: ClientKind, _ token: String) -> String {
        switch kind {
        case .swift: "pasted=https://go.example/k?al=\(token)"
        case .java: "referrer=al=\(token)&utm_source=instagram"
        }
    }

    @Test("offers at most once to paste a link")
    func dialogs() throws {
        let server = try HostileServer { _, _ in [HostileServer.response("503 Busy", "")] }
        for step in stride(from: 1, through: 8, by: isLong ? 1 : 3) {
            let app = try ClientApp(server: server.url)
            var offers = 0
            for arguments in ["die=\(step)", "die=\(step + 2)", "log"] {
                let launch = try app.launch("first=no", "offer", arguments)
                offers += launch.lines.count { $0 == "offer true" }
            }
            #expect(offers <= 1)
        }
    }
}
