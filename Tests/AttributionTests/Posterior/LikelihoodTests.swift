import Attribution
import Testing

/// Tests the odds of a click, divided by the odds of a click with an unknown address.
///
/// All numbers are computed by hand. The model knows 1,000 launches and 1,000 clicks, all with an address. It has
/// learnt of no second launch at an address, so the prior applies: of 4 launches at one visitor's address, 0.2 are
/// strangers'. A stranger therefore has an address without other traffic with a probability of 0.2 / 4 / 1,001. In
/// the first minutes after a click, a share of 0.70 of the devices has the same address, and a share of 0.06 a near
/// one. The remaining 0.24 have changed their network; such a device counts like a stranger.
@Suite("The likelihood ratio of addresses")
struct LikelihoodTests {
    private let unseen = 0.05 / 1001
    private let alone = AddressTraffic(clicksExact: 1, clicksNear: 1, liveClicks: 1000)

    private func traffic(
        _ exact: Double,
        _ near: Double,
        of live: Double,
        launches: (Double, Double) = (0, 0)
    ) -> AddressTraffic {
        AddressTraffic(
            clicksExact: exact,
            clicksNear: near,
            liveClicks: live,
            launchesExact: launches.0,
            launchesNear: launches.1
        )
    }

    private func odds(
        _ candidates: [Candidate],
        _ traffic: AddressTraffic,
        _ model: MatchingModel = Scenario.learnt()
    ) -> Double {
        let posterior = Scenario.posterior(candidates, organic: 2, traffic: traffic, model: model)
        let first = posterior.destinations.first { $0.destination.url == 1 }
        return (first?.probability ?? 0) / posterior.organic
    }

    private func ratio(
        _ address: AddressAgreement,
        _ traffic: AddressTraffic,
        secondsAgo: Double = 300,
        beside others: [Candidate] = [],
        _ model: MatchingModel = Scenario.learnt()
    ) -> Double {
        func click(_ address: AddressAgreement) -> [Candidate] {
            [Scenario.candidate(1, secondsAgo: secondsAgo, address: address)] + others
        }
        return odds(click(address), traffic, model) / odds(click(.missing), traffic, model)
    }

    private func isClose(_ value: Double, _ expected: Double) -> Bool { abs(value / expected - 1) < 1e-6 }

    @Test(
        "falls with the click's age, because phones change networks",
        arguments: [(300, 0.70), (1800, 0.65), (7200, 0.50), (30_000, 0.40), (60_000, 0.35)]
    )
    func age(seconds: Double, same: Double) {
        let moved = 1 - same - 0.06
        #expect(isClose(ratio(.exact, alone, secondsAgo: seconds), same / unseen + moved))
        #expect(isClose(ratio(.near, alone, secondsAgo: seconds), 0.06 / unseen + moved))
        #expect(isClose(ratio(.differs, alone, secondsAgo: seconds), moved))
    }

    @Test("uses only launches since the time from which addresses can be compared")
    func coverage() {
        var traffic = alone
        traffic.coverage = 0.5
        #expect(isClose(ratio(.exact, traffic), 0.24 + 0.70 / (0.05 / 501)))
    }

    @Test("falls with other clicks and launches at the address, and counts no click twice")
    func others() {
        let traffic = self.traffic(6, 11, of: 1000, launches: (4, 9))
        #expect(isClose(ratio(.exact, traffic), 0.24 + 0.70 / ((5.0 + 4) / 2001 + unseen)))
        // The eleven clicks near the address include the six at it; one of the other five is the click itself.
        #expect(isClose(ratio(.near, traffic), 0.24 + 0.06 / ((4.0 + 5) / 2001 + unseen)))
    }

    @Test("uses the share of launches if clicks are too many to be counted")
    func largeCrowd() {
        let limit = AddressTraffic.countLimit
        var traffic = self.traffic(limit, limit, of: 100_000, launches: (500, 500))
        #expect(isClose(ratio(.exact, traffic), 0.24 + 0.70 / (500.0 / 1001)))
        traffic.clicksExact -= 1
        #expect(isClose(ratio(.exact, traffic), 0.24 + 0.70 / (8690.0 / 101_001 + unseen)))
        traffic.clicksExact = 1990
        traffic.liveClicks = 1000
        // Only 1,000 clicks are live, but more were counted near the address; the larger number is used.
        let share = (1989.0 + 500) / (limit + 1001)
        #expect(isClose(ratio(.exact, traffic), 0.24 + 0.70 / (share + unseen)))
    }

    @Test("is small for a network that nearly all visitors use, and does not favour clicks from elsewhere")
    func everybody() {
        let traffic = self.traffic(300, 498, of: 500, launches: (600, 1000))
        #expect(isClose(ratio(.exact, traffic), 0.24 + 0.70 / (899.0 / 1501 + unseen)))
        #expect(isClose(ratio(.near, traffic), 0.24 + 0.06 / (597.0 / 1501 + unseen)))
        #expect(isClose(ratio(.differs, traffic), 0.24))
        let all = self.traffic(1000, 1000, of: 1000, launches: (1000, 1000))
        #expect(isClose(ratio(.exact, all), 0.24 + 0.70 / 0.98), "the share is at most 0.98")
    }

    @Test("uses the address's share among the clicks of the same minutes")
    func rush() {
        func others(_ count: Int, _ address: AddressAgreement, secondsAgo: Double) -> [Candidate] {
            (0..<count).map { number in
                let id = UInt64(100 + number) * (address == .exact ? 1000 : 1)
                return Scenario.candidate(id, secondsAgo: secondsAgo, url: 2, address: address)
            }
        }
        let strangers = others(10, .differs, secondsAgo: 400)
        // Since the oldest click from elsewhere, 16 clicks came: 10 from elsewhere, and 6 from the address. Of
        // these 6, one is the visitor's, one may be the same person's, and 4 are strangers'.
        let rush = strangers + others(5, .exact, secondsAgo: 200)
        #expect(isClose(ratio(.exact, alone, beside: rush), 0.24 + 0.70 / (4.0 / 16)))
        let before = strangers + others(5, .exact, secondsAgo: 500)
        #expect(isClose(ratio(.exact, alone, beside: before), 0.24 + 0.70 / unseen))
        let few = others(3, .differs, secondsAgo: 400) + others(3, .exact, secondsAgo: 200)
        #expect(isClose(ratio(.exact, alone, beside: few), 0.24 + 0.70 / unseen))
    }

    @Test("is learnt within bounds: no device keeps its address for certain")
    func learnt() {
        func model(_ agreement: AddressAgreement) -> MatchingModel {
            Scenario.learnt { increments in
                let noon = Scenario.noon
                for _ in 0..<10_000 {
                    ModelUpdates.addCertainPair(
                        agreement: agreement,
                        delaySeconds: 300,
                        at: noon,
                        to: &increments
                    )
                }
            }
        }
        #expect(isClose(ratio(.exact, alone, model(.exact)), 0.95 / unseen + 0.045))
        #expect(isClose(ratio(.near, alone, model(.exact)), 0.005 / unseen + 0.045))
        #expect(isClose(ratio(.exact, alone, model(.near)), 0.02 / unseen + 0.03))
        #expect(isClose(ratio(.near, alone, model(.near)), 0.95 / unseen + 0.03))
    }

    @Test(
        "makes the evidence probabilistic if addresses agree",
        arguments: zip(AddressAgreement.allCases, [true, true, false, false])
    )
    func evidence(address: AddressAgreement, isProbabilistic: Bool) {
        let click = Scenario.candidate(1, secondsAgo: 300, address: address)
        let share = Scenario.posterior([click]).destinations.first
        #expect(share?.evidence == (isProbabilistic ? .probabilistic : .fingerprint))
    }

    @Test("suggests a reinstallation only if a consumed click has the launch's exact address")
    func reinstall() {
        let click = Scenario.candidate(1, secondsAgo: 300)
        func organic(_ address: AddressAgreement) -> Double {
            let claimed = Scenario.candidate(2, secondsAgo: 500, address: address, claimedSecondsAgo: 400)
            return Scenario.posterior([click, claimed]).organic
        }
        let without = Scenario.posterior([click]).organic
        #expect(organic(.differs) == without && organic(.near) == without)
        #expect(organic(.exact) > 10 * without)
    }

    @Test(
        "the odds of a visitor's older clicks fall to 1/50 after a launch, unless the address is crowded",
        arguments: [(1.0, 0.02), (5, 0.02), (6, 1)]
    )
    func spent(clicksThere: Double, left: Double) {
        let click = Scenario.candidate(1, secondsAgo: 300, address: .exact)
        let traffic = self.traffic(clicksThere, clicksThere, of: 1000)
        func odds(claimedSecondsAgo: Double) -> Double {
            let ago = claimedSecondsAgo
            let claimed = Scenario.candidate(2, secondsAgo: 500, address: .exact, claimedSecondsAgo: ago)
            return self.odds([click, claimed], traffic)
        }
        #expect(isClose(odds(claimedSecondsAgo: 200) / odds(claimedSecondsAgo: 400), left))
    }

    @Test(
        "four clicks from one address and agent count as one visitor's, and five as five visitors'",
        arguments: [4, 5]
    )
    func manyClicks(count: UInt64) {
        let clicks = (1...count).map {
            Scenario.candidate($0, secondsAgo: 300, url: $0, address: .exact, visitor: 9)
        }
        #expect(Scenario.posterior(clicks).destinations.count == (count == 4 ? 1 : 5))
    }

    @Test("is combined with the share of launches that send a fingerprint of the click's form")
    func forms() {
        func model(others: Double) -> MatchingModel {
            Scenario.learnt { increments in
                increments.add(1000, to: CounterKey(AppTotal.organicWithCandidates), at: Scenario.noon)
                for (form, count) in [(FingerprintForm.a, 90), (.d, others)] {
                    let code = PlatformForm(platform: .ios, form: form).code
                    increments.add(count, to: CounterKey(.conversions, code), at: Scenario.noon)
                }
            }
        }
        let click = [Scenario.candidate(1, secondsAgo: 300)]
        let (alone, beside) = (model(others: 0), model(others: 810))
        // For each click of the day, the model expects 1,000 / 1,500 organic launches: it has counted 1,000 for 1,000
        // clicks, and its prior weighs as much as 500 clicks. Form A has a share of 100 / 910: 90 of 900 conversions,
        // and a prior of 10.
        let expected = 1000.0 / 1500 / 86_400
        let observed = alone.epoch.observedSeconds(.organic, at: Scenario.noon)
        let rarer = (observed + 910 / 100 / expected) / (observed + 1 / expected)
        #expect(abs(odds(click, self.alone, beside) / odds(click, self.alone, alone) / rarer - 1) < 1e-6)
        #expect(rarer > 5)
    }
}
