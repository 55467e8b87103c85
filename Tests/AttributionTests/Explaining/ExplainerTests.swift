import Attribution
import Testing

@Suite("Explanations of checks")
struct ExplainerTests {
    private static let noon = TestValues.noon
    private static let app = AppID(high: 1, low: 1)
    private let key = ServerKey(bytes: Array(repeating: 7, count: ServerKey.byteCount))

    private static func signals(_ line: String) -> CanonicalSignals {
        let words = line.split(separator: ";").map(String.init)
        var signals = TestValues.signals
        (signals.model, signals.timezone, signals.languages) = (words[0], words[1], [words[2]])
        return signals
    }

    private func explainer() throws -> Explainer {
        Explainer(keys: [try #require(key)], signals: { Self.signals($0) })
    }

    private func record(
        _ reason: NoMatchReason?,
        launch text: String? = nil,
        set: (inout CheckFacts) -> Void = { _ in }
    ) throws -> RecordedCheck {
        let key = try #require(key)
        var facts = CheckFacts(
            at: Self.noon,
            outcome: reason == nil ? .match : .noMatch,
            reason: reason,
            fingerprint: text.map { key.keyed(Fingerprint(of: $0)) }
        )
        set(&facts)
        return RecordedCheck(id: CheckID(high: 9, low: 9), app: Self.app, isTest: false, facts: facts)
    }

    private func click(
        _ number: UInt64,
        minutesAgo: Int64,
        _ line: String? = nil,
        window: Int64 = 86_400_000,
        set: (inout KnownClick) -> Void = { _ in }
    ) -> KnownClick {
        let clickedAt = Self.noon.advanced(byMilliseconds: -minutesAgo * 60_000)
        var click = KnownClick(
            id: ClickID(high: number, low: number),
            clickedAt: clickedAt,
            expiresAt: clickedAt.advanced(byMilliseconds: window),
            campaign: CampaignKey("SUMMER25")
        )
        click.canonicalText = line
        set(&click)
        return click
    }

    @Test(
        "name the value that differs in the nearest click, although the client sent only a hash",
        arguments: [
            (
                "iPhone|Asia/Dubai|tr", FingerprintForm.d, SignalComponent.timezone, "Europe/Istanbul",
                "Asia/Dubai"
            ),
            ("iPhone|Europe/Istanbul|de", .d, .language, "tr", "de"),
            ("iPhone|1170|Asia/Dubai|tr", .c, .timezone, "Europe/Istanbul", "Asia/Dubai"),
            ("iPhone|1206|Europe/Istanbul|tr", .c, .width, "1170", "1206"),
            ("iPhone|18.5|390x844|Europe/Istanbul|tr", .a, .osVersion, "17.2", "18.5"),
            ("iPad|Europe/Istanbul|tr", .d, .model, "iPhone", "iPad"),
        ]
    )
    func difference(
        launch: String,
        form: FingerprintForm,
        component: SignalComponent,
        click: String,
        value: String
    ) throws {
        // This click is the only one, and it lacks the launch's value.
        let near = self.click(1, minutesAgo: 3, "iPhone;Europe/Istanbul;tr")
        let material = ExplanationInput(record: try record(.noClick, launch: launch), recent: [near])
        let explanation = try explainer().explain(material)
        #expect(explanation.launch?.text == launch)
        #expect(explanation.launch?.form == form)
        let nearest = try #require(explanation.clicks.first)
        #expect(nearest.differences == [.init(component, click: click, launch: value)])
        #expect(nearest.state == .open)
        #expect(explanation.summary.contains("click says \(click), launch hash fits \(value)"))
        #expect(explanation.summary.contains("SUMMER25"))
        #expect(explanation.summary.contains("3 min before"))
        #expect(explanation.advice.contains { $0.hasPrefix("\(component.rawValue): ") })
    }

    @Test(
        "list the click with the fewest differences first, and among equals the one from the launch's address"
    )
    func nearest() throws {
        let clicks = [
            click(1, minutesAgo: 1, "iPhone;Europe/Berlin;de"),
            click(2, minutesAgo: 2, "iPhone;Europe/Istanbul;tr"),
            click(3, minutesAgo: 9, "iPhone;Europe/Istanbul;tr") { $0.agreement = .exact },
        ]
        let record = try record(.noClick, launch: "iPhone|Asia/Dubai|tr")
        let explanation = try explainer().explain(ExplanationInput(record: record, recent: clicks))
        #expect(explanation.clicks.map(\.click.id.high) == [3, 2, 1])
    }

    @Test("state whether the launch has the screen of its click", arguments: [true, false, nil])
    func screen(isSame: Bool?) throws {
        let signals = isSame.map { $0 ? TestValues.screen(390, 844) : TestValues.screen(430, 932) } ?? .none
        let record = try record(nil, launch: "iPhone|Europe/Istanbul|tr") {
            $0.click = ClickID(high: 1, low: 1)
            $0.signals = signals
        }
        let click = click(1, minutesAgo: 3, "iPhone;Europe/Istanbul;tr")
        let explanation = try explainer().explain(ExplanationInput(record: record, sameFingerprint: [click]))
        #expect(explanation.clicks.map(\.hasSameScreen) == [isSame])
        #expect(explanation.summary.contains("the same screen as the click's page") == (isSame == true))
        #expect(explanation.summary.contains("another screen than the click's page") == (isSame == false))
    }

    @Test("state how many combinations were tried if the hash has unknown values")
    func unknown() throws {
        var explainer = try explainer()
        explainer.searchLimit = 2000
        let material = ExplanationInput(
            record: try record(.noClick, launch: "Nokia 3310|Mars/Base|tlh"),
            recent: [click(1, minutesAgo: 3, "iPhone;Europe/Istanbul;tr")]
        )
        let explanation = explainer.explain(material)
        #expect(explanation.launch == nil)
        #expect(explanation.triedCombinations == 2000)
        #expect(explanation.clicks.isEmpty)
        #expect(explanation.summary.contains("none of 2000 combinations"))
    }

    @Test("find the values of a fingerprint under a former server key, too")
    func earlierKey() throws {
        let current = try #require(ServerKey(bytes: Array(repeating: 8, count: ServerKey.byteCount)))
        let explainer = Explainer(keys: [current, try #require(key)], signals: { Self.signals($0) })
        let material = ExplanationInput(
            record: try record(.noClick, launch: "iPhone|Asia/Dubai|tr"),
            recent: [click(1, minutesAgo: 3, "iPhone;Europe/Istanbul;tr")]
        )
        #expect(explainer.explain(material).launch?.text == "iPhone|Asia/Dubai|tr")
    }

    @Test(
        "list the clicks with the launch's fingerprint and the state of each, and then search no other clicks"
    )
    func fates() throws {
        let hour: Int64 = 3_600_000
        let clicks = [
            click(1, minutesAgo: -5), click(2, minutesAgo: 10) { $0.isRobot = true },
            click(3, minutesAgo: 20) { $0.claimedAt = Self.noon.advanced(byMilliseconds: -hour / 6) },
            click(4, minutesAgo: 300, window: hour), click(5, minutesAgo: 30) { $0.isRetired = true },
            click(6, minutesAgo: 40),
        ]
        let material = ExplanationInput(
            record: try record(.expired, launch: "iPhone|Asia/Dubai|tr"),
            sameFingerprint: clicks,
            recent: [click(7, minutesAgo: 3, "iPhone;Europe/Istanbul;tr")]
        )
        let explanation = try explainer().explain(material)
        #expect(explanation.triedCombinations == nil)
        #expect(explanation.clicks.map(\.state) == [.open, .robot, .claimed, .expired, .retired, .later])
        #expect(explanation.clicks.allSatisfy { $0.hasSameFingerprint })
        #expect(explanation.summary.contains("had expired 4 h before: its window was 60 min"))
    }

    @Test("state that a weighed click has the launch's fingerprint, although the list of such clicks is full")
    func weighedClicks() throws {
        let (weighed, named) = (click(1, minutesAgo: 30), click(2, minutesAgo: 20))
        let record = try record(.ambiguous, launch: "iPhone|Asia/Dubai|tr") { facts in
            facts.click = weighed.id
            facts.shares = [CheckFacts.Share(click: ClickID(high: 1, low: 0), probability: 0.6)]
        }
        var material = ExplanationInput(record: record, sameFingerprint: [click(3, minutesAgo: 5)])
        material.named = [weighed]
        var explainer = try self.explainer()
        // The window of tokens and ids is no window of a weighed click.
        explainer.windows[record.app] = MethodWindows(deterministic: AttributionWindow(seconds: 60))
        let explanation = explainer.explain(material)
        #expect(explanation.clicks.map(\.click.id) == [weighed.id, click(3, minutesAgo: 5).id])
        #expect(explanation.clicks.map(\.state) == [.open, .open])
        #expect(explanation.clicks.allSatisfy { $0.hasSameFingerprint })
        // A token's click has the fingerprint only if the check weighed it.
        let byToken = try self.record(nil, launch: "iPhone|Asia/Dubai|tr") { facts in
            (facts.click, facts.method) = (named.id, .signedToken)
        }
        var other = ExplanationInput(record: byToken)
        other.named = [named]
        #expect(explainer.explain(other).clicks.map(\.hasSameFingerprint) == [false])
    }

    @Test("name the app's setting that ended the window of a click")
    func limitingSetting() throws {
        var explainer = try self.explainer()
        let record = try self.record(.expired, launch: "iPhone|Asia/Dubai|tr")
        let material = ExplanationInput(record: record, sameFingerprint: [click(1, minutesAgo: 300)])
        explainer.windows[record.app] = MethodWindows(fingerprint: AttributionWindow(seconds: 3600))
        let limited = explainer.explain(material)
        #expect(
            limited.summary.contains("its window was 60 min, as the app's --fingerprint-window is 3600 s.")
        )
        #expect(limited.advice.map { $0.contains("`afterlink apps set --fingerprint-window`") } == [true])
        // The click's own window was the shorter one.
        let own = ExplanationInput(
            record: record,
            sameFingerprint: [click(1, minutesAgo: 300, window: 600_000)]
        )
        #expect(!explainer.explain(own).summary.contains("--fingerprint-window"))
        #expect(explainer.explain(own).advice[0].contains("--attribution-window"))
        let named = try self.record(.expired) { $0.namesClick = true }
        explainer.windows[named.app] = MethodWindows(deterministic: AttributionWindow(seconds: 60))
        let token = explainer.explain(ExplanationInput(record: named))
        #expect(token.summary.contains("The app's --deterministic-window is 60 s."))
        #expect(token.advice[0].contains("`afterlink apps set --deterministic-window`"))
    }

    @Test("have a sentence and advice for every reason", arguments: NoMatchReason.allCases)
    func words(reason: NoMatchReason) throws {
        let explanation = Explanation(record: try record(reason, launch: "iPhone|Asia/Dubai|tr"))
        #expect(explanation.summary.hasSuffix("."))
        #expect(!explanation.advice.isEmpty)
        #expect(explanation.advice.allSatisfy { $0.hasSuffix(".") })
    }

    @Test("state the click, campaign, method, confidence and competitors of a match")
    func match() throws {
        let answered = click(4, minutesAgo: 4)
        var record = try record(nil, launch: "iPhone|Asia/Dubai|tr") { facts in
            facts.click = answered.id
            facts.method = .probabilistic
            facts.confidence = 0.83
            facts.candidates = 3
            facts.shares = [CheckFacts.Share(click: ClickID(high: 4, low: 0), probability: 0.83)]
        }
        record.campaign = CampaignKey("SUMMER25")
        let explanation = try explainer().explain(
            ExplanationInput(record: record, sameFingerprint: [click(3, minutesAgo: 9), answered])
        )
        #expect(explanation.clicks.map(\.state) == [.answered, .open])
        #expect(explanation.clicks.first?.share == 0.83)
        for words in [
            answered.id.text, "\"SUMMER25\"", "4 min after the click", "83 %", "2 other live clicks",
        ] {
            #expect(explanation.summary.contains(words))
        }
        #expect(explanation.advice.isEmpty)
    }

    @Test(
        "state that a match is less likely than the app demands only if that is true",
        arguments: [
            (.fingerprint, 0.5, 0.999, true), (.fingerprint, 0.5, 0.7, true),
            (.fingerprint, 0.83, 0.7, false), (.probabilistic, 0.95, 0.999, true),
            (.fingerprint, 0.99, 0.999, false),
            // The minimum does not apply to ids.
            (.clickID, 0.95, 0.999, false), (.gaid, 0.95, 0.97, false),
        ] as [(AttributionMethod, Double, Double, Bool)]
    )
    func lessThanDemanded(method: AttributionMethod, confidence: Double, minimum: Double, isStated: Bool)
        throws
    {
        let record = try record(nil, launch: "iPhone|Asia/Dubai|tr") { facts in
            facts.click = ClickID(high: 4, low: 4)
            facts.method = method
            facts.confidence = confidence
            facts.minimumConfidence = minimum
        }
        let statesIt = Explanation(record: record).summary.contains("that the app demands")
        #expect(statesIt == isStated, "a match by fingerprint states at most 0.99")
    }

    @Test(
        "count the other live clicks",
        arguments: [
            (0, nil), (1, nil), (2, " Another live click had the same fingerprint."),
            (3, " 2 other live clicks had the same fingerprint."),
        ] as [(Int, String?)]
    )
    func otherClicks(candidates: Int, words: String?) throws {
        let record = try record(nil, launch: "iPhone|Asia/Dubai|tr") { facts in
            (facts.click, facts.method) = (ClickID(high: 4, low: 4), .fingerprint)
            facts.candidates = candidates
        }
        let summary = Explanation(record: record).summary
        #expect(summary.contains("had the same fingerprint.") == (words != nil))
        if let words { #expect(summary.contains(words)) }
    }

    @Test(
        "show 100 % only for certainty",
        arguments: [
            (0, "0 %"), (0.004, "0 %"), (0.834, "83 %"), (0.994, "99 %"), (0.995, "99.5 %"),
            (0.999, "99.9 %"), (0.999_99, "99.9 %"), (1, "100 %"), (2, "100 %"), (-1, "0 %"),
            (.nan, "– %"), (.infinity, "– %"),
        ] as [(Double, String)]
    )
    func percent(probability: Double, text: String) { #expect(Explanation.percent(probability) == text) }

    @Test(
        "name the finding about Google Play's report, the times that differ, and what to do",
        arguments: [
            (
                PlayFinding.clickInjection, 42, 30,
                "the installation began 12 s before the click that led to the store (click_injection), so the match is not"
                    + " guaranteed."
            ),
            (
                .clickSpamming, 2400, 2500,
                "saw the click in the store 40 min after the link's click (click_spamming)"
            ),
            (
                .clickSpamming, -600, 30,
                "saw the click in the store 10 min before the link's click (click_spamming)"
            ),
            (
                .noServerTimes, 0, 0,
                "did not report both of the server times that could confirm the click (no_server_times)"
            ),
            (
                .noServerTimes, 20, 10_800,
                "began 2 h after the launch, so the report's server times confirm no click (no_server_times)"
            ),
        ] as [(PlayFinding, Int64, Int64, String)]
    )
    func playFinding(finding: PlayFinding, storeClick: Int64, begin: Int64, words: String) throws {
        let clicked = click(1, minutesAgo: 60)
        let record = try record(nil) { facts in
            (facts.click, facts.method, facts.confidence) = (clicked.id, .signedToken, 0.5)
            var install = PlayInstall()
            let seconds = clicked.clickedAt.milliseconds / 1000
            if begin != 0 {
                (install[.storeClick], install[.installBegin]) = (seconds + storeClick, seconds + begin)
            }
            (facts.play, facts.playFinding) = (install, finding)
        }
        var material = ExplanationInput(record: record)
        material.named = [clicked]
        let explanation = try explainer().explain(material)
        #expect(explanation.summary.contains(words), "\(explanation.summary)")
        #expect(explanation.summary.contains("the probability that this is right is 50 %."))
        #expect(!explanation.summary.contains("that the app demands"), "no fingerprint matched")
        #expect(explanation.advice == finding.advice && !explanation.advice.isEmpty)
    }

    @Test("state an early installation by the times of the device if the server's times are after the launch")
    func installationByDevice() throws {
        let clicked = click(1, minutesAgo: 60)
        let seconds = clicked.clickedAt.milliseconds / 1000
        let record = try record(nil) { facts in
            (facts.click, facts.method, facts.confidence) = (clicked.id, .signedToken, 0.5)
            var install = PlayInstall()
            (install[.storeClick], install[.installBegin]) = (seconds + 30, seconds + 10_800)
            (install[.storeClickOnDevice], install[.installBeginOnDevice]) = (seconds + 42, seconds + 30)
            (facts.play, facts.playFinding) = (install, .clickInjection)
        }
        let summary = Explanation(record: record).summary
        #expect(summary.contains("began 12 s before the click that led to the store"), "\(summary)")
    }

    @Test("can be requested by check id, click id, request id or fingerprint")
    func references() throws {
        let key = try #require(key)
        let (check, click) = (CheckID(high: 5, low: 6), ClickID(high: 7, low: 8))
        #expect(CheckReference(check.text, keys: [key]) == .check(check))
        #expect(CheckReference(click.text, keys: [key]) == .click(click))
        let hex = String(repeating: "ab", count: 32)
        let fingerprint = try #require(Fingerprint(hex: hex))
        #expect(CheckReference(hex, keys: [key]) == .fingerprint([key.keyed(fingerprint)]))
        #expect(CheckReference("req_x-1", keys: [key]) == .request("req_x-1"))
        let long = String(repeating: "r", count: 100)
        #expect(CheckReference(long, keys: [key]) == .request(String(long.prefix(64))))
        for text in ["", "two words", "ü", String(repeating: "r", count: 129)] {
            #expect(CheckReference(text, keys: [key]) == nil)
        }
    }
}
