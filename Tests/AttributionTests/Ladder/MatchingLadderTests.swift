import Attribution
import Testing

@Suite("The ladder of methods")
struct MatchingLadderTests {
    private let key: ServerKey
    private let olderKey: ServerKey
    private let click = ClickID(high: 5, low: 6)
    private let idText = "6D92078A-8246-4BA4-AE5B-76104861E7DC"

    init() throws {
        key = try #require(ServerKey(bytes: Array(0..<32)))
        olderKey = try #require(ServerKey(bytes: Array(1...32)))
    }

    private func token(
        _ click: ClickID,
        of app: AppID = TestValues.app,
        until end: Timestamp = TestValues.noon
    ) -> String { ClickToken(for: click, of: app, expiresAt: end, signedBy: key).text }

    private func ladder(
        _ evidence: LaunchEvidence,
        fingerprints: [Fingerprint] = [],
        isTest: Bool = false,
        keys: [ServerKey]? = nil
    ) -> MatchingLadder {
        MatchingLadder(
            evidence,
            fingerprints: fingerprints,
            of: TestValues.app,
            isTest: isTest,
            among: [TestValues.app, TestValues.otherApp],
            keys: keys ?? [key],
            at: TestValues.noon
        )
    }

    @Test("puts the methods in order, although the evidence comes in another order")
    func order() throws {
        let gaid = try #require(AdvertisingID(idText, as: .gaid))
        let idfa = try #require(AdvertisingID(idText, as: .idfa))
        var evidence = LaunchEvidence(fingerprint: TestValues.fingerprint)
        evidence.add(gaid)
        evidence.add(idfa)
        evidence.add(token: click.text)
        evidence.add(referrer: "al=\(token(ClickID(high: 7, low: 8)))")
        let ladder = ladder(evidence, fingerprints: [TestValues.fingerprint])
        #expect(
            ladder.rungs == [
                .signedToken(ClickID(high: 7, low: 8)), .clickID(click),
                .advertisingID(.idfa, key.advertisingID(app: TestValues.app, isTest: false, id: idfa)),
                .advertisingID(.gaid, key.advertisingID(app: TestValues.app, isTest: false, id: gaid)),
            ]
        )
        #expect(ladder.fingerprints == [key.keyed(TestValues.fingerprint)])
        #expect(ladder.refusal == nil)
        #expect(ladder.rungs.map(\.method) == [.signedToken, .clickID, .idfa, .gaid])
    }

    @Test("has the methods in the specification's order, with the specified words and confidences")
    func methods() {
        let methods = AttributionMethod.allCases
        let words = ["signed_token", "click_id", "idfa", "gaid", "probabilistic", "fingerprint"]
        #expect(methods.map(\.rawValue) == words)
        #expect(methods.map(\.confidence) == [0.99, 0.95, 0.95, 0.95, nil, nil])
        #expect(methods.filter(\.isGuaranteed) == [.signedToken])
    }

    @Test("skips a refused token, and reports the reason")
    func refused() throws {
        let late = token(click, until: TestValues.noon.advanced(byMilliseconds: -1000))
        let (app, noon) = (TestValues.app, TestValues.noon)
        let unknownKey = ClickToken(for: click, of: app, expiresAt: noon, signedBy: olderKey).text
        let cases: [(String, ClickTokenError)] = [
            ("nonsense", .malformed), (token(click, of: TestValues.otherApp), .otherApp), (late, .expired),
            (unknownKey, .altered),
        ]
        for (text, error) in cases {
            var evidence = LaunchEvidence()
            evidence.add(token: text)
            let ladder = ladder(evidence, fingerprints: [TestValues.fingerprint])
            #expect(ladder.rungs.isEmpty)
            #expect(ladder.fingerprints == [key.keyed(TestValues.fingerprint)])
            #expect(ladder.refusal == error)
            #expect(ladder.namesClick, "a refused token also names a click")
        }
        var several = LaunchEvidence()
        let pasteboard = "https://a.example/s?al=\(token(click))"
        several.add(token: "nonsense", referrer: "al=\(late)", pasteboard: pasteboard)
        #expect(ladder(several).rungs == [.signedToken(click)])
        #expect(ladder(several).refusal == .malformed)
    }

    @Test("tries every server key in order, and names each click once")
    func rotation() throws {
        let idfa = try #require(AdvertisingID(idText, as: .idfa))
        var evidence = LaunchEvidence()
        evidence.add(idfa)
        evidence.add(token: token(click), referrer: "al=\(token(click))")
        evidence.add(clickID: click.text)
        let keys = [olderKey, key]
        let ladder = ladder(evidence, fingerprints: [TestValues.fingerprint], isTest: true, keys: keys)
        func keyed(_ key: ServerKey) -> KeyedHash {
            key.advertisingID(app: TestValues.app, isTest: true, id: idfa)
        }
        #expect(
            ladder.rungs == [
                .signedToken(click), .clickID(click),
                .advertisingID(.idfa, keyed(olderKey)), .advertisingID(.idfa, keyed(key)),
            ]
        )
        #expect(ladder.fingerprints == keys.map { $0.keyed(TestValues.fingerprint) })
    }

    @Test("is empty without evidence, and for a fingerprint if the app does not use fingerprints")
    func nothing() {
        #expect(ladder(LaunchEvidence()).rungs.isEmpty)
        let alone = ladder(LaunchEvidence(fingerprint: TestValues.fingerprint))
        #expect(alone.rungs.isEmpty && alone.fingerprints.isEmpty)
    }
}
