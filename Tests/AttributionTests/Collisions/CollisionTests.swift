import Attribution
import Simulation
import Testing

private let d = Lane(platform: .ios, form: .d)
private let a = Lane(platform: .ios, form: .a)
private let minute = 60_000

private func row(_ key: UInt64, _ lane: Lane = d, at minutes: Int, visitor: UInt64, weight: Double = 1)
    -> CollisionRow
{
    let at = Timestamp(milliseconds: Int64(minutes * minute))
    return CollisionRow(key: key, lane: lane, at: at, weight: weight, visitor: visitor)
}

private func windows(_ seconds: Int64...) -> [AttributionWindow] {
    seconds.compactMap { AttributionWindow(seconds: $0) }
}

@Suite("Collisions of fingerprints")
struct CollisionCountTests {
    @Test("counts the other people's clicks in the window before each click, and those that have none")
    func byHand() throws {
        let rows = [
            // Three people, the second click of the first among them.
            row(1, at: 0, visitor: 1), row(1, at: 10, visitor: 2), row(1, at: 30, visitor: 1),
            row(1, at: 70, visitor: 3),
            row(2, at: 0, visitor: 4),
        ]
        let crowding = try #require(CollisionCount.of(rows, windows: windows(1800, 3600))[d])
        // Within half an hour: none, 1, 1 (not himself), none; none.
        #expect(crowding[0].clicks == 5)
        #expect(crowding[0].alone == 0.6)
        #expect(crowding[0].competing == 0.4)
        // Within an hour the last one meets the clicks of minutes 10 and 30.
        #expect(crowding[1].alone == 0.4)
        #expect(crowding[1].competing == 0.8)
    }

    @Test("takes a fingerprint's rows in any order, and a click at the window's end as within")
    func order() throws {
        let rows = [row(1, at: 60, visitor: 2), row(1, at: 0, visitor: 1), row(1, at: 121, visitor: 3)]
        let crowding = try #require(CollisionCount.of(rows, windows: windows(3600))[d])
        #expect(crowding[0].competing == 1.0 / 3)
    }

    @Test("tells forms apart, and counts a click with several fingerprints by their weights")
    func lanes() throws {
        let rows = [
            row(1, a, at: 0, visitor: 1, weight: 0.75), row(1, a, at: 1, visitor: 2, weight: 0.5),
            row(2, a, at: 0, visitor: 1, weight: 0.25), row(3, d, at: 0, visitor: 1),
        ]
        let crowding = CollisionCount.of(rows, windows: windows(3600))
        let first = try #require(crowding[a]?.first)
        #expect(first.clicks == 1.5)
        #expect(first.alone == 1 / 1.5)
        #expect(first.competing == 0.5 / 1.5)
        #expect(crowding[d]?.first?.alone == 1)
    }

    @Test("has nothing to tell of no rows")
    func none() {
        #expect(CollisionCount.of([], windows: windows(3600)).isEmpty)
        #expect(Crowding().alone == nil)
        #expect(Crowding().competing == nil)
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

    @Test("are what the probabilities of the matches leave over")
    func byHand() throws {
        let estimate = estimate([(0.75, 60, true), (1, 60, true), (0.5, 7000, true), (0.25, 60, false)])
        #expect(estimate.matches == 3)
        #expect(estimate.expectedFalse == 0.75)
        #expect(estimate.falseShare == 0.25)
        #expect(abs(estimate.spread - (0.75 * 0.25 + 0.25).squareRoot()) < 1e-9)
        #expect(FalseMatchEstimate().falseShare == nil)
    }

    @Test("are kept below a share by the lowest threshold that does, told by all launches")
    func threshold() throws {
        let launches: [(Double, Double?, Bool)] =
            (0..<96).map { _ in (1, 60, true) } + [(0.5, 60, false), (0.5, nil, false), (0, 60, false)]
        let estimate = estimate(launches)
        // One expected to be wrong of 98.
        let least = try #require(estimate.threshold(keepingFalseBelow: 0.02))
        #expect(least.minimum == 0.005)
        #expect(least.matches == 98)
        #expect(estimate.threshold(keepingFalseBelow: 0.01)?.minimum == 0.505)
        #expect(estimate.threshold(keepingFalseBelow: 0.5)?.minimum == 0)
        #expect(self.estimate([(0.9, 60, true)]).threshold(keepingFalseBelow: 0.05) == nil)
    }

    @Test("are kept below a share by the longest window that does")
    func window() throws {
        let estimate = estimate(
            (0..<9).map { _ in (1, 600, true) } + [(0.5, 3601, true), (0.5, 90_000, true), (0.5, 1, false)]
        )
        #expect(estimate.window(keepingFalseBelow: 0.01)?.window == AttributionWindow(seconds: 3600))
        #expect(estimate.window(keepingFalseBelow: 0.05)?.matches == 10)
        #expect(estimate.window(keepingFalseBelow: 0.05)?.window == AttributionWindow(seconds: 86_400))
        #expect(self.estimate([(0.5, 1, true)]).window(keepingFalseBelow: 0.05) == nil)
    }

    @Test(
        "of a simulated world are those that there are, give or take, by either rule",
        arguments: [MatchPolicy.Rule.probability, .newest]
    )
    func simulated(rule: MatchPolicy.Rule) throws {
        var world = Worlds.turkey(2000)
        world.days = 2
        let plan = ReplayPlan(policy: MatchPolicy(rule: rule))
        let run = SimulatedEstimate(world, seed: 11, plan)
        #expect(run.estimate.matches == run.score.matches)
        // Of the matches, three in a hundred more or less.
        let off = abs(run.estimate.expectedFalse - Double(run.trueFalse))
        #expect(off <= 0.03 * Double(run.score.matches) + 2 * run.estimate.spread)
    }

    @Test("fall below the share in the simulated world when the threshold for it is set")
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
