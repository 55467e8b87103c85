import Attribution
import Testing

@Suite("Learnt counters")
struct LearningEpochTests {
    private let epoch = LearningEpoch(began: TestValues.noon)

    private func later(days: Double) -> Timestamp {
        TestValues.noon.advanced(byMilliseconds: Int64(days * 86_400_000))
    }

    @Test("are worth one at first, half after a half-life, a quarter after two")
    func fades() {
        var increments = LearntIncrements(epoch: epoch)
        let key = CounterKey(.organic, 7)
        increments.add(to: key, at: later(days: 1))
        let stored = increments.sums[key] ?? 0
        for (days, worth) in [(1.0, 1.0), (3, 0.5), (5, 0.25)] {
            let value = epoch.value(of: stored, .organic, at: later(days: days))
            #expect(abs(value - worth) < 1e-9)
        }
    }

    @Test("have the same sums, whichever increments are merged first")
    func commutes() {
        let keys = [
            CounterKey(.organic, 1), CounterKey(AppTotal.launches), CounterKey(.clicksByHour, 9),
            CounterKey(.releases, 17), CounterKey(.launchesNearAddress, 3),
        ]
        var left = LearntIncrements(epoch: epoch)
        var right = LearntIncrements(epoch: epoch)
        for (index, key) in keys.enumerated() {
            left.add(Double(index + 1), to: key, at: later(days: 0.5))
            right.add(2, to: key, at: later(days: 2))
        }
        right.add(to: CounterKey(.releases, 18), at: later(days: 2))
        right.add(to: CounterKey(.organic, 2), at: later(days: 2))
        var one = left
        one.merge(right)
        var other = right
        other.merge(left)
        #expect(one == other)
    }

    @Test(
        "have the same sums whether an event is added N times, or once with the weight N",
        arguments: [1, 2, 64]
    )
    func countsTimes(_ times: Int) {
        let total = CounterKey(AppTotal.launches)
        let keys = [CounterKey(.organic, 1), total, CounterKey(.launchesAtAddress, 9)]
        let add = { (increments: inout LearntIncrements) in
            for (index, key) in keys.enumerated() {
                increments.add(1 / Double(index + 3), to: key, at: later(days: 0.5))
            }
        }
        var counted = LearntIncrements(epoch: epoch)
        counted.counting(times: times, add)
        // An event after `counting` has the weight 1 again.
        add(&counted)
        var added = LearntIncrements(epoch: epoch)
        for _ in 0...times { add(&added) }
        #expect(Set(counted.sums.keys) == Set(keys))
        for key in keys { #expect(abs((counted.sums[key] ?? 0) - (added.sums[key] ?? 0)) < 1e-9) }
    }

    @Test("stay finite at any time of the clock")
    func extremeTimes() {
        var increments = LearntIncrements(epoch: epoch)
        for moment in [Timestamp(milliseconds: .min), Timestamp(milliseconds: .max), later(days: -20_000)] {
            increments.add(to: CounterKey(.organic, 1), at: moment)
            for family in CounterFamily.allCases {
                let weight = epoch.weight(of: family, at: moment)
                #expect(weight.isFinite && weight > 0)
                #expect(epoch.value(of: weight, family, at: TestValues.noon).isFinite)
                #expect(epoch.observedSeconds(family, at: moment) >= 0)
            }
        }
        increments.add(.nan, to: CounterKey(.organic, 2), at: TestValues.noon)
        increments.add(.infinity, to: CounterKey(.organic, 2), at: TestValues.noon)
        #expect(increments.sums[CounterKey(.organic, 2)] == nil)
        let areFinite = increments.sums.values.allSatisfy { $0.isFinite }
        #expect(areFinite)
    }

    @Test("keep their value when the landmark, the zero of their decay, moves")
    func moves() {
        let moved = LearningEpoch(began: epoch.began, landmark: later(days: 100))
        for family in CounterFamily.allCases {
            let stored = epoch.weight(of: family, at: later(days: 99))
            let before = epoch.value(of: stored, family, at: later(days: 101))
            let factor = epoch.factor(movingTo: moved.landmark, for: family)
            let after = moved.value(of: stored * factor, family, at: later(days: 101))
            #expect(abs(before - after) < 1e-9 * before)
        }
    }

    @Test("are observed for at most their mean life")
    func observes() {
        #expect(epoch.observedSeconds(.organic, at: TestValues.noon) == 0)
        let hour = epoch.observedSeconds(.organic, at: later(days: 1.0 / 24))
        #expect(abs(hour - 3600) < 30)
        // The mean life is half-life / ln 2.
        #expect(abs(epoch.observedSeconds(.organic, at: later(days: 365)) - 172_800 / 0.693147) < 1)
    }
}
