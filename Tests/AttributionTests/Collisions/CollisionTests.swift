import Attribution
import Simulation
import Testing
import Storage

private let d = PlatformForm(platform: .ios, form: .d)
private let a = PlatformForm(platform: .ios, form: .a)
private let minute = 60_000

private func row(
    _ key: UInt64,
    _ form: PlatformForm? = d,
    at minutes: Int,
    visitor: UInt64,
    weight: Double = 1
) -> CollisionRow {
    let at = Timestamp(milliseconds: Int64(minutes * minute))
    return CollisionRow(key: key, platformForm: form, at: at, weight: weight, visitor: visitor)
}

private func windows(_ seconds: Int64...) -> [AttributionWindow] {
    seconds.compactMap { AttributionWindow(seconds: $0) }
}

@Suite("The report on colliding fingerprints")
struct CollisionCountTests {
    @Test("counts other visitors' clicks in the window before each click, and clicks without competitors")
    func byHand() throws {
        let rows = [
            // Three visitors; the first one clicks twice.
            row(1, at: 0, visitor: 1), row(1, at: 10, visitor: 2), row(1, at: 30, visitor: 1),
            row(1, at: 70, visitor: 3), row(2, at: 0, visitor: 4),
        ]
        let sharing = try #require(CollisionCount.of(rows, windows: windows(1800, 3600))[d])
        // Within half an hour, the clicks of fingerprint 1 have 0, 1, 1 and 0 competitors; the other click has none.
        #expect(sharing[0].clicks == 5)
        #expect(sharing[0].alone == 0.6)
        #expect(sharing[0].competing == 0.4)
        // Within an hour, the clicks of minutes 10 and 30 come before the last one.
        #expect(sharing[1].alone == 0.4)
        #expect(sharing[1].competing == 0.8)
    }

    @Test("accepts a fingerprint's rows in any order, and counts a click at the window's end")
    func order() throws {
        let rows = [row(1, at: 121, visitor: 3), row(1, at: 0, visitor: 1), row(1, at: 60, visitor: 2)]
        let sharing = try #require(CollisionCount.of(rows, windows: windows(3600))[d])
        #expect(sharing[0].competing == 1.0 / 3)
    }

    @Test("does not count a visitor's own clicks as competitors")
    func ownClicks() throws {
        let rows = [
            row(1, at: 0, visitor: 1), row(1, at: 10, visitor: 1), row(1, at: 65, visitor: 1),
            row(1, at: 66, visitor: 2),
        ]
        let sharing = try #require(CollisionCount.of(rows, windows: windows(3600))[d])
        // The visitor's clicks have no competitors, and the stranger's click has two.
        #expect(sharing[0].alone == 0.75)
        #expect(sharing[0].competing == 0.5)
    }

    @Test("separates forms, and counts a click with several fingerprints by their weights")
    func forms() throws {
        let rows = [
            row(1, a, at: 0, visitor: 1, weight: 0.75), row(1, a, at: 1, visitor: 2, weight: 0.5),
            row(2, a, at: 0, visitor: 1, weight: 0.25), row(3, d, at: 0, visitor: 1),
        ]
        let sharing = CollisionCount.of(rows, windows: windows(3600))
        let first = try #require(sharing[a]?.first)
        #expect(first.clicks == 1.5)
        #expect(first.alone == 1 / 1.5)
        #expect(first.competing == 0.5 / 1.5)
        #expect(sharing[d]?.first?.alone == 1)
    }

    @Test("counts a click of an unknown form as a competitor, and reports no such form")
    func unknownForm() throws {
        let rows = [row(1, nil, at: 0, visitor: 1), row(1, at: 1, visitor: 2)]
        let sharing = CollisionCount.of(rows, windows: windows(3600))
        #expect(sharing.count == 1)
        #expect(sharing[d]?.first?.clicks == 1)
        #expect(sharing[d]?.first?.competing == 1)
    }

    @Test("estimates the result for a very common fingerprint from a sample of its rows")
    func sample() throws {
        // Three clicks come each minute, each by another visitor, so 180 clicks come in the hour before each click.
        let count = 5 * CollisionCount.rowLimit
        let rows = (0..<count).lazy.map { number in
            let at = Timestamp(milliseconds: Int64(number) * 20_000)
            return CollisionRow(key: 1, platformForm: d, at: at, visitor: UInt64(number))
        }
        let sharing = try #require(CollisionCount.of(rows, windows: windows(3600))[d]?.first)
        #expect(abs(sharing.clicks / Double(count) - 1) < 0.02)
        // The sample is random, so the estimate is not exact.
        #expect(sharing.clicks != Double(count))
        #expect(abs((sharing.competing ?? 0) / 180 - 1) < 0.02)
        #expect((sharing.alone ?? 1) < 0.001)
    }

    @Test("is empty without rows")
    func none() {
        #expect(CollisionCount.of([], windows: windows(3600)).isEmpty)
        #expect(FingerprintSharing().alone == nil)
        #expect(FingerprintSharing().competing == nil)
    }
}

@Suite("Expected false matches")
struct FalseMatchEstimateTests {
    private func estimate(_ launches: [(probability: Double, age: Double?, isMatch: Bool)])
        -> FalseMatchEstimate
    {
        var estimate = FalseMatchEstimate()
        for launch in launches {
            estimate.add(probability: launch.probability, ageSeconds: launch.age, isMatch: launch.isMatch)
        }
        return estimate
    }

    @Test("are the sum of one minus the probability of each match")
    func byHand() throws {
        let estimate = estimate([(0.75, 60, true), (1, 60, true), (0.5, 7000, true), (0.25, 60, false)])
        #expect(estimate.matches == 3)
        #expect(estimate.expectedFalse == 0.75)
        #expect(estimate.falseShare == 0.25)
        #expect(abs(estimate.spread - (0.75 * 0.25 + 0.25).squareRoot()) < 1e-9)
        #expect(FalseMatchEstimate().falseShare == nil)
    }

    @Test("clamp probabilities to 0…1, and leave out launches whose probability is not a number")
    func strange() {
        let estimate = estimate([(1.5, 60, true), (-0.5, -60, true), (.nan, 60, true), (0.5, .nan, true)])
        #expect(estimate.matches == 3)
        #expect(estimate.expectedFalse == 1.5)
        #expect(estimate.spread == 0.5)
    }

    @Test("stay below a share with the lowest sufficient threshold, which also considers unmatched launches")
    func threshold() throws {
        let launches: [(Double, Double?, Bool)] =
            (0..<96).map { _ in (1, 60, true) } + [(0.5, 60, false), (0.5, nil, false), (0, 60, false)]
        let estimate = estimate(launches)
        // One match of 98 is expected to be wrong.
        let least = try #require(estimate.threshold(keepingFalseBelow: 0.02))
        #expect(least.minimum == 0.005)
        #expect(least.matches == 98)
        #expect(estimate.threshold(keepingFalseBelow: 0.01)?.minimum == 0.505)
        #expect(estimate.threshold(keepingFalseBelow: 0.5)?.minimum == 0)
        let unsure = self.estimate([(0.9, 60, true)])
        #expect(unsure.threshold(keepingFalseBelow: 0.05) == nil)
        // No launch has a lower probability.
        #expect(unsure.threshold(keepingFalseBelow: 0.2)?.minimum == 0)
    }

    private func window(_ estimate: FalseMatchEstimate, _ share: Double, within present: Int64 = 86_400)
        -> FalseMatchLimit.Window?
    { AttributionWindow(seconds: present).flatMap { estimate.window(keepingFalseBelow: share, within: $0) } }

    @Test("stay below a share within the longest sufficient window, up to the current window")
    func window() {
        let estimate = estimate(
            (0..<9).map { _ in (1, 3600, true) } + [(0.5, 3601, true), (0.5, 90_000, true), (0.5, 1, false)]
        )
        #expect(window(estimate, 0.01)?.window == AttributionWindow(seconds: 3600))
        #expect(window(estimate, 0.01)?.matches == 9)
        #expect(window(estimate, 0.05)?.window == AttributionWindow(seconds: 43_200))
        #expect(window(estimate, 0.05)?.matches == 10)
        // All launches count as within the current window, even if the clicks had another window.
        #expect(window(estimate, 0.1)?.window == AttributionWindow(seconds: 86_400))
        #expect(window(estimate, 0.1)?.matches == 11)
        #expect(window(estimate, 0.1, within: 100_000)?.window == AttributionWindow(seconds: 100_000))
        #expect(window(self.estimate([(0.5, 1, true)]), 0.05) == nil)
    }

    @Test("are not limited by a window that costs more than half of the right matches")
    func costlyWindow() {
        let early = (0..<10).map { _ in (probability: 1.0, age: Double?(60), isMatch: true) }
        func late(_ count: Int) -> [(probability: Double, age: Double?, isMatch: Bool)] {
            (0..<count).map { _ in (0.75, 7200, true) }
        }
        #expect(window(estimate(early + late(12)), 0.01)?.matches == 10)
        #expect(window(estimate(early + late(16)), 0.01) == nil)
    }

    private func facts(_ outcome: CheckOutcome, confidence: Double?, method: AttributionMethod? = nil)
        -> CheckFacts
    {
        var facts = CheckFacts(at: Timestamp(milliseconds: 600_000), outcome: outcome)
        facts.confidence = confidence
        facts.method = method
        return facts
    }

    @Test("are computed from records of checks by fingerprint, with shares above the maximum confidence, too")
    func records() {
        var estimate = FalseMatchEstimate()
        var sure = facts(.match, confidence: 0.99, method: .probabilistic)
        sure.shares = [CheckFacts.Share(click: ClickID(high: 1, low: 0), probability: 0.999)]
        estimate.add(sure, clickedAt: Timestamp(milliseconds: 0))
        estimate.add(facts(.match, confidence: 0.8, method: .fingerprint), clickedAt: nil)
        #expect(estimate.matches == 2)
        #expect(abs(estimate.expectedFalse - 0.201) < 1e-9)
        #expect(estimate.window(keepingFalseBelow: 0.01, within: .standard)?.window.seconds == 43_200)
        estimate.add(facts(.replay, confidence: 0.5, method: .fingerprint), clickedAt: nil)
        estimate.add(facts(.match, confidence: 0.99, method: .signedToken), clickedAt: nil)
        estimate.add(facts(.noMatch, confidence: nil), clickedAt: nil)
        #expect(estimate.matches == 2)
        #expect(estimate.threshold(keepingFalseBelow: 0.5)?.matches == 2)
        // A launch without a match counts for lower thresholds.
        estimate.add(facts(.noMatch, confidence: 0.6, method: .fingerprint), clickedAt: nil)
        #expect(estimate.matches == 2)
        #expect(estimate.threshold(keepingFalseBelow: 0.5)?.matches == 3)
        // The confidence in a campaign is the sum of its clicks' shares, not the share of the most likely one.
        var campaign = facts(.match, confidence: 0.99, method: .fingerprint)
        campaign.isCampaignOnly = true
        campaign.shares = [CheckFacts.Share(click: ClickID(high: 1, low: 0), probability: 0.999)]
        estimate.add(campaign, clickedAt: nil)
        #expect(abs(estimate.expectedFalse - 0.211) < 1e-9)
    }

    @Test(
        "of a simulated world are near the true number",
        arguments: [MatchPolicy.Rule.probability, .newest]
    )
    func simulated(rule: MatchPolicy.Rule) throws {
        var world = Worlds.turkey(2000)
        world.days = 2
        let plan = ReplayPlan(policy: MatchPolicy(rule: rule))
        let run = SimulatedEstimate(world, seed: 11, plan)
        #expect(run.estimate.matches == run.score.matches)
        // The estimate may be off by 3 % of the matches plus twice its spread.
        let off = abs(run.estimate.expectedFalse - Double(run.trueFalse))
        #expect(off <= 0.03 * Double(run.score.matches) + 2 * run.estimate.spread)
    }

    @Test("are at most 8 % of a simulated world's matches, under the threshold that is estimated for 5 %")
    func thresholdHolds() throws {
        var world = Worlds.turkey(2000)
        world.days = 2
        let estimate = SimulatedEstimate(world, seed: 11, ReplayPlan()).estimate
        let threshold = try #require(estimate.threshold(keepingFalseBelow: 0.05))
        let plan = ReplayPlan(policy: MatchPolicy(minimumConfidence: threshold.minimum))
        let run = SimulatedEstimate(world, seed: 11, plan)
        #expect(Double(run.trueFalse) <= 0.08 * Double(run.score.matches))
        #expect(abs(run.score.matches - threshold.matches) <= threshold.matches / 10)
    }
}
