import Attribution
import Testing

@Suite("Organic launches in busy minutes")
struct RelativeClickRateTests {
    /// Traffic that updates a model every two minutes, as a server does.
    private struct Traffic {
        private(set) var model = MatchingModel.fresh(at: TestValues.noon)
        private var increments = LearntIncrements(epoch: LearningEpoch(began: TestValues.noon))
        private var slots: Int64 = 0

        mutating func pass(clicks: Int, launches: Int) {
            for number in 0..<max(clicks, launches) {
                let at = TestValues.noon.advanced(byMilliseconds: slots * 120_000 + Int64(number) * 1000)
                if number < clicks {
                    ModelUpdates.addClick(
                        at: at,
                        platform: .ios,
                        forms: [.d],
                        hasAddress: true,
                        relativeClickRate: model.relativeClickRate,
                        to: &increments
                    )
                }
                if number < launches {
                    ModelUpdates.addLaunch(
                        LaunchTraits(at: at),
                        CandidateEvidence(candidates: []),
                        fingerprint: UInt64(number),
                        address: nil,
                        model: model,
                        to: &increments
                    )
                }
            }
            slots += 1
            let now = TestValues.noon.advanced(byMilliseconds: slots * 120_000)
            model = MatchingModel(sums: increments.sums, epoch: increments.epoch, at: now)
        }
    }

    /// Returns a day's traffic with a rush of ten minutes every four hours, and then 200 quiet minutes.
    private func traffic(launchesInRush: Int) -> Traffic {
        var traffic = Traffic()
        for slot in 0..<720 {
            let isRush = slot % 120 >= 115
            traffic.pass(clicks: isRush ? 40 : 4, launches: isRush ? launchesInRush : 1)
        }
        for _ in 0..<100 { traffic.pass(clicks: 4, launches: 1) }
        return traffic
    }

    @Test("are expected to rise with the clicks at once, if they did so before")
    func follow() {
        var following = traffic(launchesInRush: 10)
        // A message to customers brings many clicks, but no more organic launches than before.
        var unmoved = traffic(launchesInRush: 1)
        for _ in 0..<3 {
            following.pass(clicks: 40, launches: 1)
            unmoved.pass(clicks: 40, launches: 1)
        }
        #expect(following.model.relativeClickRate > 3)
        #expect(following.model.relativeClickRate == unmoved.model.relativeClickRate)
        #expect(following.model.relativeOrganicRate > 1.5 * unmoved.model.relativeOrganicRate)
        #expect((0.4...1.6).contains(unmoved.model.relativeOrganicRate))
    }

    @Test("are expected according to the clicks of the last minutes, also when a new slot begins")
    func current() {
        // Noon is 80 s after the start of a two-minute slot, and 200 s after the start of a ten-minute slot.
        let began = TestValues.noon.advanced(byMilliseconds: -200_000)
        var increments = LearntIncrements(epoch: LearningEpoch(began: began))
        func model(after seconds: Int64) -> MatchingModel {
            let now = began.advanced(byMilliseconds: seconds * 1000)
            return MatchingModel(sums: increments.sums, epoch: increments.epoch, at: now)
        }
        for second in 0..<1200 where second < 600 || second.isMultiple(of: 10) {
            let at = began.advanced(byMilliseconds: Int64(second) * 1000)
            ModelUpdates.addClick(at: at, platform: .ios, forms: [.d], hasAddress: true, to: &increments)
            guard second.isMultiple(of: 5) else { continue }
            ModelUpdates.addLaunch(
                LaunchTraits(at: at),
                CandidateEvidence(candidates: []),
                fingerprint: UInt64(second),
                address: nil,
                model: .fresh(at: at),
                to: &increments
            )
        }
        // A click a second for ten minutes, then one in ten seconds; a slot ends after 1,200 seconds.
        let (before, at, after) = (model(after: 1199), model(after: 1200), model(after: 1201))
        #expect(at.relativeClickRate < 0.6)
        for other in [before, after] {
            #expect(abs(at.relativeClickRate - other.relativeClickRate) < 0.02)
            #expect(abs(at.relativeOrganicRate - other.relativeOrganicRate) < 0.02)
        }
    }

    @Test("have the average rate without any traffic")
    func unknown() {
        let model = MatchingModel.fresh(at: TestValues.noon)
        #expect(model.relativeClickRate == 1)
        #expect(model.relativeOrganicRate == 1)
    }
}
