import Attribution
import Testing

/// What agreement of addresses is worth: the odds of a click beside those of one whose address is not known.
///
/// By hand throughout: the model knows 1,000 launches and 1,000 clicks, and that nobody was met twice at an address, so
/// that a stranger comes from one where nobody else was seen with 0.2 / 4 / 1,001. A device that has moved, 0.24 of those
/// of the first minutes, is met like a stranger.
@Suite("What an address is worth")
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
        _ model: MatchingModel = Scenario.taught()
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
        _ model: MatchingModel = Scenario.taught()
    ) -> Double {
        func click(_ address: AddressAgreement) -> [Candidate] {
            [Scenario.candidate(1, secondsAgo: secondsAgo, address: address)] + others
        }
        return odds(click(address), traffic, model) / odds(click(.missing), traffic, model)
    }

    private func isClose(_ value: Double, _ expected: Double) -> Bool { abs(value / expected - 1) < 1e-6 }

    @Test(
        "falls with the click's age, as phones change their networks",
        arguments: [(300, 0.70), (1800, 0.65), (7200, 0.50), (30_000, 0.40), (60_000, 0.35)]
    )
    func age(seconds: Double, same: Double) {
        let moved = 1 - same - 0.06
        #expect(isClose(ratio(.exact, alone, secondsAgo: seconds), same / unseen + moved))
        #expect(isClose(ratio(.near, alone, secondsAgo: seconds), 0.06 / unseen + moved))
        #expect(isClose(ratio(.differs, alone, secondsAgo: seconds), moved))
    }

    @Test("is that of the launches which were seen since addresses can be compared")
    func coverage() {
        var traffic = alone
        traffic.coverage = 0.5
        #expect(isClose(ratio(.exact, traffic), 0.24 + 0.70 / (0.05 / 501)))
    }

    @Test("falls with everybody else who was seen there, and counts nobody twice")
    func others() {
        let traffic = self.traffic(6, 11, of: 1000, launches: (4, 9))
        #expect(isClose(ratio(.exact, traffic), 0.24 + 0.70 / ((5.0 + 4) / 2001 + unseen)))
        // Eleven near are five beside the six at the address itself, one of them the click's own.
        #expect(isClose(ratio(.near, traffic), 0.24 + 0.06 / ((4.0 + 5) / 2001 + unseen)))
    }

    @Test("of a crowd too large to be counted is that of its share of the launches")
    func largeCrowd() {
        var traffic = self.traffic(
            AddressTraffic.countLimit,
            AddressTraffic.countLimit,
            of: 100_000,
            launches: (500, 500)
        )
        #expect(isClose(ratio(.exact, traffic), 0.24 + 0.70 / (500.0 / 1001)))
        traffic.clicksExact -= 1
        #expect(isClose(ratio(.exact, traffic), 0.24 + 0.70 / (8690.0 / 101_001 + unseen)))
        traffic.clicksExact = 1990
        traffic.liveClicks = 1000
        // More are known than live: some were claimed.
        let share = (1989.0 + 500) / (AddressTraffic.countLimit + 1001)
        #expect(isClose(ratio(.exact, traffic), 0.24 + 0.70 / (share + unseen)))
    }

    @Test("of a network where everybody is says nothing, nor that a click from elsewhere is the likely one")
    func everybody() {
        let traffic = self.traffic(300, 498, of: 500, launches: (600, 1000))
        #expect(isClose(ratio(.exact, traffic), 0.24 + 0.70 / (899.0 / 1501 + unseen)))
        #expect(isClose(ratio(.near, traffic), 0.24 + 0.06 / (597.0 / 1501 + unseen)))
        #expect(isClose(ratio(.differs, traffic), 0.24))
        let all = self.traffic(1000, 1000, of: 1000, launches: (1000, 1000))
        #expect(isClose(ratio(.exact, all), 0.24 + 0.70 / 0.98), "never that everybody is there")
    }

    @Test("among clicks of the same minutes is told by their own share")
    func rush() {
        func others(_ count: Int, _ address: AddressAgreement, secondsAgo: Double) -> [Candidate] {
            (0..<count).map { number in
                let id = UInt64(100 + number) * (address == .exact ? 1000 : 1)
                return Scenario.candidate(id, secondsAgo: secondsAgo, url: 2, address: address)
            }
        }
        let strangers = others(10, .differs, secondsAgo: 400)
        // Sixteen since the oldest that differs, of which six are here: four besides the click and the one it may be.
        let rush = strangers + others(5, .exact, secondsAgo: 200)
        #expect(isClose(ratio(.exact, alone, beside: rush), 0.24 + 0.70 / (4.0 / 16)))
        let before = strangers + others(5, .exact, secondsAgo: 500)
        #expect(isClose(ratio(.exact, alone, beside: before), 0.24 + 0.70 / unseen))
        let few = others(3, .differs, secondsAgo: 400) + others(3, .exact, secondsAgo: 200)
        #expect(isClose(ratio(.exact, alone, beside: few), 0.24 + 0.70 / unseen))
    }

    @Test("is learnt within bounds: never that a device keeps its address for certain")
    func learnt() {
        func model(_ agreement: AddressAgreement) -> MatchingModel {
            Scenario.taught { increments in
                for _ in 0..<10_000 {
                    ModelUpdates.addCertainPair(
                        agreement: agreement,
                        delaySeconds: 300,
                        at: Scenario.noon,
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
        "makes the answer more than a fingerprint's where it agrees at all",
        arguments: zip(AddressAgreement.allCases, [true, true, false, false])
    )
    func evidence(address: AddressAgreement, isProbabilistic: Bool) {
        let click = Scenario.candidate(1, secondsAgo: 300, address: address)
        let share = Scenario.posterior([click]).destinations.first
        #expect(share?.evidence == (isProbabilistic ? .probabilistic : .fingerprint))
    }

    @Test("of a click that was consumed tells of a device set up anew, from the same address alone")
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
        "leaves a fiftieth of a visitor's older clicks once he has launched, unless many people share the address",
        arguments: [(1.0, 0.02), (5, 0.02), (6, 1)]
    )
    func spent(clicksThere: Double, left: Double) {
        let click = Scenario.candidate(1, secondsAgo: 300, address: .exact)
        let traffic = self.traffic(clicksThere, clicksThere, of: 1000)
        func odds(claimedSecondsAgo: Double) -> Double {
            let claimed = Scenario.candidate(
                2,
                secondsAgo: 500,
                address: .exact,
                claimedSecondsAgo: claimedSecondsAgo
            )
            return self.odds([click, claimed], traffic)
        }
        #expect(isClose(odds(claimedSecondsAgo: 200) / odds(claimedSecondsAgo: 400), left))
    }

    @Test("of five clicks from one address and agent is five people's, of four one's", arguments: [4, 5])
    func manyClicks(count: UInt64) {
        let clicks = (1...count).map {
            Scenario.candidate($0, secondsAgo: 300, url: $0, address: .exact, visitor: 9)
        }
        #expect(Scenario.posterior(clicks).destinations.count == (count == 4 ? 1 : 5))
    }

    @Test("beside it counts how many launches send such a fingerprint at all")
    func lanes() {
        func model(others: Double) -> MatchingModel {
            Scenario.taught { increments in
                increments.add(1000, to: CounterKey(AppTotal.organicWithCandidates), at: Scenario.noon)
                for (form, count) in [(FingerprintForm.a, 90), (.d, others)] {
                    let lane = PlatformForm(platform: .ios, form: form).code
                    increments.add(count, to: CounterKey(.conversions, lane), at: Scenario.noon)
                }
            }
        }
        let click = [Scenario.candidate(1, secondsAgo: 300)]
        let (alone, beside) = (model(others: 0), model(others: 810))
        // 1,000 / 1,500 organic launches for each click of the day, 100 / 910 of them in form A; observed for 124,649 s.
        let expected = 1000.0 / 1500 / 86_400
        let observed = alone.epoch.observedSeconds(.organic, at: Scenario.noon)
        let rarer = (observed + 910 / 100 / expected) / (observed + 1 / expected)
        #expect(abs(odds(click, self.alone, beside) / odds(click, self.alone, alone) / rarer - 1) < 1e-6)
        #expect(rarer > 5)
    }
}
