import Attribution
import Testing
import Storage

private let noon = Script.noon
private let hour = Script.hour

@Suite("Backtest")
struct BacktestTests {
    @Test("counts the launches that gain a match, lose it, or get another link")
    func changes() {
        var script = Script()
        script.click(1, at: 0, key: 1, link: 1, window: 60)
        script.click(2, at: 0, key: 2, link: 2, window: 7200)
        script.click(3, at: 0, key: 3, link: 3, window: 7200)
        script.click(4, at: 1000, key: 3, link: 4, window: 60)
        script.launch(at: 300_000, keys: [1], answer: RecordedAnswer(.noMatch, reason: .expired))
        for (at, click) in [(hour, 2), (300_000 + hour, 3)] as [(Int64, UInt64)] {
            let answer = RecordedAnswer(.match, click: click, method: .fingerprint)
            script.launch(at: at, keys: [click], answer: answer)
        }
        let current = ReplayPlan(policy: MatchPolicy(rule: .newest), warmUpDays: 0)
        var proposed = current
        proposed.window = AttributionWindow(seconds: 1800)
        var backtest = Backtest(current, proposed: proposed, began: noon)
        script.events.forEach { backtest.play($0) }
        var expected = Backtest.Changes()
        (expected.gained, expected.lost) = (1, 2)
        #expect(backtest.changes == expected)
        #expect(backtest.clicks == 4)
        #expect(backtest.launches == 3)
        #expect(backtest.latest == noon.advanced(byMilliseconds: 300_000 + hour))

        proposed.window = AttributionWindow(seconds: 7200)
        backtest = Backtest(current, proposed: proposed, began: noon)
        script.events.forEach { backtest.play($0) }
        expected = Backtest.Changes()
        (expected.gained, expected.redirected, expected.same) = (1, 1, 1)
        #expect(backtest.changes == expected)
    }

    @Test(
        "compares both plans with recorded responses; the current plan's changes show the replay's accuracy"
    )
    func recordedResponses() {
        var script = Script()
        for name in 1...4 as ClosedRange<UInt64> { script.click(name, at: 0, key: name, link: name) }
        let first = RecordedAnswer(
            .match,
            click: 1,
            method: .fingerprint,
            probability: 0.97,
            organicShare: 0.03
        )
        script.launch(at: 1000, keys: [1], answer: first)
        let second = RecordedAnswer(.match, click: 2, method: .signedToken, probability: 1)
        script.launch(at: 2000, keys: [2], caller: 8, answer: second)
        script.launch(at: 2001, keys: [2], caller: 8, answer: RecordedAnswer(.replay, click: 2))
        let none = RecordedAnswer(.noMatch, reason: .belowThreshold, probability: 0.4, organicShare: 0.6)
        script.launch(at: 3000, keys: [3], answer: none)
        for (at, key, click) in [(4000, 9, 99), (5000, 4, 3)] as [(Int64, UInt64, UInt64)] {
            let answer = RecordedAnswer(.match, click: click, method: .fingerprint)
            script.launch(at: at, keys: [key], answer: answer)
        }
        let current = ReplayPlan(warmUpDays: 0)
        var proposed = current
        proposed.policy.usesFingerprints = false
        var backtest = Backtest(current, proposed: proposed, began: noon)
        script.events.forEach { backtest.play($0) }
        var fidelity = Backtest.Changes()
        (fidelity.same, fidelity.gained, fidelity.redirected, fidelity.unknown) = (3, 1, 1, 1)
        #expect(backtest.fidelity == fidelity)
        #expect(
            backtest.changes.lost == 3,
            "compared with the recorded responses, not with the current replay"
        )
        #expect(backtest.changes.repeatedInOne == 1)
        let score = backtest.recorded
        #expect(score?.launches == 5)
        #expect(score?.matches == 4)
        #expect(score?.tokenMatches == 1)
        #expect(score?.replays == 1)
        #expect(score?.reasons == [.belowThreshold: 1])
        #expect(abs((score?.expected ?? 0) - 1.37) < 1e-9)
        #expect(abs((score?.expectedRight ?? 0) - 0.97) < 1e-9)
    }

    @Test("without a proposed plan, replays once and reports no changes")
    func alone() {
        var script = Script()
        script.click(1, at: 0)
        script.launch(at: 1000)
        var backtest = Backtest(ReplayPlan(warmUpDays: 0), began: noon)
        script.events.forEach { backtest.play($0) }
        #expect(backtest.proposed == nil)
        #expect(backtest.changes == Backtest.Changes())
        #expect(backtest.current.score.matches == 1)
    }
}

@Suite("Calibration")
struct CalibrationTests {
    @Test("compares stated probabilities with the share of right matches, tenth by tenth")
    func error() {
        var calibration = Calibration()
        #expect(calibration.error == 0)
        for isRight in [true, true, false, false] { calibration.add(stated: 0.75, isRight: isRight) }
        calibration.add(stated: 1, isRight: true)
        // Four matches are off by 0.25, and one match is off by 0.
        #expect(calibration.error == 0.2)
        #expect(calibration.bins[7].count == 4)
        #expect(calibration.bins[7].stated == 0.75)
        #expect(calibration.bins[7].right == 0.5)
        #expect(calibration.bins[9].count == 1)
        #expect(calibration.bins[0].right == 0)
    }
}
