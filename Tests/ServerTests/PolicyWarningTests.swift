import Attribution
import Server
import Testing

@Suite("Warnings about apps' matching settings")
struct PolicyWarningTests {
    private let id = AppID(high: 1, low: 2)

    private func warnings(
        _ policy: MatchPolicy,
        defaultLink: String? = nil,
        _ figures: PolicyFigures = PolicyFigures()
    ) -> [String] {
        var settings = App.Settings(name: "Shop", policy: policy)
        settings.defaultLink = defaultLink.map { DeepLinkURL(stored: $0) }
        let app = App(id: id, settings: settings, createdAt: Timestamp(milliseconds: 0))
        return Directory(apps: [app], keys: []).policyWarnings([id: figures])
    }

    private func report(matches: Int, wrong: Double) -> CollisionReport {
        CollisionReport(
            countedAt: Timestamp(milliseconds: 0),
            window: .standard,
            forms: [],
            matches: matches,
            expectedFalse: wrong,
            spread: 1,
            limits: [FalseMatchLimit(share: 0.05, threshold: .init(minimum: 0.83, matches: 90))]
        )
    }

    @Test("usual settings cause no warning, with much traffic and with none")
    func usual() {
        #expect(warnings(MatchPolicy()).isEmpty)
        #expect(warnings(MatchPolicy(rule: .newest)).isEmpty)
        #expect(warnings(MatchPolicy(usesFingerprints: false)).isEmpty)
        let figures = PolicyFigures(
            checks: 5000,
            certainMatches: 0,
            collisions: report(matches: 900, wrong: 40)
        )
        #expect(warnings(MatchPolicy(), figures).isEmpty)
        #expect(warnings(MatchPolicy(onAmbiguity: .campaignOnly), defaultLink: "myapp://home").isEmpty)
    }

    @Test("without fingerprints, a warning appears after 100 checks without any token or id")
    func withoutAnything() {
        let policy = MatchPolicy(minimumConfidence: 0.1, usesFingerprints: false)
        let found = warnings(policy, PolicyFigures(checks: 100, certainMatches: 0))
        #expect(found.count == 1)
        #expect(found.first?.contains("of 100 checks none brought a token") == true)
        #expect(found.first?.contains("--app \(id.text) --fingerprinting on`") == true)
        #expect(warnings(policy, PolicyFigures(checks: 99, certainMatches: 0)).isEmpty)
        #expect(warnings(policy, PolicyFigures(checks: 5000, certainMatches: 1)).isEmpty)
    }

    @Test("a warning names the option that corrects the setting")
    func settings() {
        for (policy, words) in [
            (MatchPolicy(onAmbiguity: .campaignOnly), ["has no default link", "--default-link …`"]),
            (MatchPolicy(minimumConfidence: 0.49), ["more likely wrong than right", "0.49", "0.7`"]),
            (MatchPolicy(minimumConfidence: 1), ["hardly any fingerprint", "--minimum-confidence 0.7`"]),
            (
                MatchPolicy(rule: .newest, minimumConfidence: 0.4),
                ["the minimum confidence of the app \"Shop\" has no effect", "--matching probability`"]
            ),
            (
                MatchPolicy(rule: .newest, minimumConfidence: 0.9, onAmbiguity: .newest),
                ["minimum confidence and answer to ambiguity of the app \"Shop\" have no effect"]
            ),
        ] as [(MatchPolicy, [String])] {
            let found = warnings(policy)
            #expect(found.count == 1, "\(found)")
            for word in words { #expect(found.first?.contains(word) == true, "\(word): \(found)") }
        }
        #expect(warnings(MatchPolicy(minimumConfidence: 0.5)).isEmpty)
    }

    @Test("a warning reports matches that are expected to be wrong, and the setting that avoids them")
    func wrong() {
        let much = PolicyFigures(collisions: report(matches: 1000, wrong: 490))
        let newest = warnings(MatchPolicy(rule: .newest), much)
        #expect(newest.count == 1)
        #expect(newest.first?.contains("of 1000 matches of the app \"Shop\" by fingerprint, 49 %") == true)
        #expect(newest.first?.contains("--matching probability`") == true)
        let low = warnings(MatchPolicy(minimumConfidence: 0.5), much)
        #expect(low.first?.contains("--minimum-confidence 0.83`") == true)
        #expect(
            warnings(MatchPolicy(rule: .newest), PolicyFigures(collisions: report(matches: 99, wrong: 50)))
                .isEmpty
        )
        #expect(warnings(MatchPolicy(), PolicyFigures(collisions: report(matches: 1000, wrong: 100))).isEmpty)
    }

    @Test("an expired or revoked admin key warns as a missing one does")
    func adminKeys() throws {
        let now = Timestamp(milliseconds: 1000)
        let digest = try #require(KeyDigest(bytes: Array(repeating: 1, count: 32)))
        func warnings(expires: Int64? = nil, revoked: Int64? = nil) -> [String] {
            let key = APIKey(
                id: KeyID(high: 1, low: 3),
                kind: .admin,
                app: nil,
                label: "phone",
                digest: digest,
                createdAt: Timestamp(milliseconds: 0),
                expiresAt: expires.map { Timestamp(milliseconds: $0) },
                revokedAt: revoked.map { Timestamp(milliseconds: $0) }
            )
            return Directory(apps: [], keys: [key]).warnings(at: now)
        }
        #expect(warnings().isEmpty && warnings(expires: 1001).isEmpty)
        for texts in [warnings(expires: 1000), warnings(expires: 2000, revoked: 500)] {
            #expect(texts.count == 1 && texts.first?.contains("keys create --kind admin") == true)
        }
    }

    @Test("warnings use only the counts of one app's whole live traffic")
    func figures() {
        var report = StatisticsReport()
        report.byApp = [.init(name: id.text, counts: [.checks: 7])]
        report.totals = [.checks: 7]
        report.byMethod = [
            .init(name: "signed_token", counts: [.matches: 2]), .init(name: "idfa", counts: [.matches: 1]),
            .init(name: "fingerprint", counts: [.matches: 4]),
        ]
        report.collisions = [AppCollisions(app: id, report: self.report(matches: 4, wrong: 1))]
        let whole = report.policyFigures(of: StatisticsQuery())[id]
        #expect(whole?.checks == 7 && whole?.certainMatches == 3 && whole?.collisions?.matches == 4)
        var query = StatisticsQuery()
        query.from = Timestamp(milliseconds: 1)
        let part = report.policyFigures(of: query)[id]
        #expect(part?.checks == nil && part?.certainMatches == nil && part?.collisions?.matches == 4)
        #expect(report.policyFigures(of: StatisticsQuery(isTest: true)).isEmpty)
    }
}
