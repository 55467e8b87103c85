import Attribution
import Simulation
import Support
import Testing

@Suite("The posterior")
struct PosteriorTests {
    // Computed by hand for a click five minutes old and two organic launches in two days, with a half-life of two
    // days. The delay is in a bin of 106 s. 29/30 of the prior of delays are 70 % prompt and 30 % late installations,
    // of which 0.1475 and 0.0046 are in this bin; 1/30 is spread evenly over 45 bins. So the density is
    // f = (29/30 · (0.7 · 0.1475 + 0.3 · 0.0046) + 1/1350) / 106 s = 9.61e-4 a second. With 0.15 conversions per
    // click, n = 0.15 · f = 1.441e-4. The observed time is 124,649 s, and two days are eight times
    // `organicTrustSeconds`, so L = 2 / 124,649 s · (1 − e^−8) = 1.604e-5. By the prior of 0.2 strangers in 4
    // launches, after 1,000 launches, a stranger has the address of this click alone with a probability of
    // 0.2 / 4 / 1,001 = 5.0e-5.
    @Test(
        "weighs the agreement of addresses as in the calculation by hand",
        arguments: [
            (AddressAgreement.missing, 0.8999),  // n / (n + L)
            (.differs, 0.6833),  // n · 0.24 / 0.9994
            (.near, 0.99990),  // n · 0.06 / 5.0e-5
            (.exact, 0.99999),  // n · 0.70 / 5.0e-5
        ]
    )
    func byHand(address: AddressAgreement, probability: Double) throws {
        let candidates = [Scenario.candidate(1, secondsAgo: 300, address: address)]
        let posterior = Scenario.posterior(candidates, organic: 2)
        let share = try #require(posterior.destinations.first)
        #expect(abs(share.probability - probability) < 2e-4)
        #expect(abs(posterior.organic + share.probability - 1) < 1e-12)
    }

    // Almost none of the 1,000 clicks has been the candidate of an organic launch, because the launches came
    // before the first campaign. So L is (200 − 2 · √200) / (124,649 s + 6 h) · (1 − e^−8) = 1.17e-3, while
    // n = 1.441e-4 as above.
    @Test("keeps the organic launches from before the first clicks")
    func organicBeforeClicks() {
        let few = CounterKey(AppTotal.organicWithCandidates)
        let model = Scenario.learnt { $0.add(0.01, to: few, at: Scenario.noon) }
        let click = Scenario.candidate(1, secondsAgo: 300, address: .missing)
        let posterior = Scenario.posterior([click], organic: 200, model: model)
        #expect(abs(posterior.organic - 0.890) < 2e-3)
    }

    @Test("adds up to one for any evidence, or to less if a count has no destination", arguments: 1...40)
    func addsUp(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let candidates = (0..<random.below(40)).map { RandomEvidence.candidate(UInt64($0), &random) }
        let background = (0..<random.below(10)).map { _ in RandomEvidence.background(&random) }
        let traffic = RandomEvidence.traffic(&random)
        let posterior = Scenario.posterior(
            candidates,
            background: background,
            organic: random.chance(0.3) ? 0 : random.unit() * 1000,
            traffic: traffic
        )
        let sum = posterior.destinations.reduce(posterior.organic) { $0 + $1.probability }
        let lumped = background.contains { $0.destination == nil }
        #expect(posterior.organic >= 0 && posterior.organic <= 1)
        #expect(posterior.destinations.allSatisfy { $0.probability >= 0 && $0.probability <= 1 })
        #expect(lumped ? sum < 1 + 1e-9 : abs(sum - 1) < 1e-9)
    }

    @Test("does not depend on the order of the candidates", arguments: 1...10)
    func ignoresOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let candidates = (0..<20).map { RandomEvidence.candidate(UInt64($0), &random) }
        let one = Scenario.posterior(candidates, organic: 3)
        let other = Scenario.posterior(candidates.shuffled(using: &random), organic: 3)
        #expect(one.destinations.map(\.click) == other.destinations.map(\.click))
        #expect(abs(one.organic - other.organic) < 1e-12)
    }

    @Test("grows with every better agreement of addresses")
    func growsWithAgreement() {
        let order: [AddressAgreement] = [.differs, .missing, .near, .exact]
        let probabilities = order.map { address in
            let click = Scenario.candidate(1, secondsAgo: 7200, address: address)
            return Scenario.posterior([click], organic: 40).conversion
        }
        #expect(zip(probabilities, probabilities.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("falls with the organic launches of the fingerprint, and with the traffic at the address")
    func fallsWithOrganicLaunches() {
        let click = [Scenario.candidate(1, secondsAgo: 7200, address: .exact)]
        let byOrganic = [0.0, 1, 10, 100, 1000].map { Scenario.posterior(click, organic: $0).conversion }
        #expect(zip(byOrganic, byOrganic.dropFirst()).allSatisfy { $0 > $1 })
        let byTraffic = [1.0, 10, 100, 1000].map {
            let traffic = AddressTraffic(clicksExact: $0, clicksNear: $0, liveClicks: 1000)
            return Scenario.posterior(click, organic: 40, traffic: traffic).conversion
        }
        #expect(zip(byTraffic, byTraffic.dropFirst()).allSatisfy { $0 > $1 })
    }

    @Test("weighs the clicks of a background count like the same number of candidates")
    func countsBackground() {
        let middle = DelayBins.middle(ofBin: 20)
        let single = (1...30).map { Scenario.candidate($0, secondsAgo: middle, visitor: $0) }
        let count = BackgroundCount(
            destination: CreditedDestination(url: 1, campaign: 1),
            platformForm: PlatformForm(platform: .ios, form: .a),
            ageBin: 20,
            weight: 29
        )
        let listed = Scenario.posterior(single, organic: 9)
        let counted = Scenario.posterior([single[0]], background: [count], organic: 9)
        #expect(abs(listed.organic - counted.organic) < 1e-9)
    }
}

/// Random candidates, background counts and address traffic.
enum RandomEvidence {
    static func candidate(_ number: UInt64, _ random: inout SeededGenerator) -> Candidate {
        let ages = [-5, 0, 1, 60, 300, 3000, 40_000, 86_400, 2_600_000]
        let addresses = AddressAgreement.allCases
        return Scenario.candidate(
            number,
            secondsAgo: Double(ages[random.below(ages.count)]) + random.unit(),
            url: UInt64(random.below(5)),
            campaign: UInt64(random.below(3)),
            address: addresses[random.below(addresses.count)],
            visitor: UInt64(random.below(12)),
            form: random.chance(0.7) ? .a : nil,
            claimedSecondsAgo: random.chance(0.1) ? random.unit() * 1000 : nil
        )
    }

    static func background(_ random: inout SeededGenerator) -> BackgroundCount {
        BackgroundCount(
            destination: random.chance(0.3) ? nil : CreditedDestination(url: 1, campaign: 1),
            platformForm: PlatformForm(platform: .android, form: nil),
            ageBin: random.below(60) - 5,
            weight: random.chance(0.1) ? -1 : random.unit() * 10_000,
            shareWithAddress: random.unit() * 2
        )
    }

    static func traffic(_ random: inout SeededGenerator) -> AddressTraffic {
        AddressTraffic(
            clicksExact: Double(random.below(1200)),
            clicksNear: Double(random.below(1200)),
            liveClicks: Double(random.below(30_000)),
            launchesExact: random.unit() * 100,
            launchesNear: random.unit() * 100
        )
    }
}
