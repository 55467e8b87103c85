/// What one launch with candidates teaches about conversions, delays and addresses.
struct LaunchUpdate {
    /// How many conversions the launch stands for.
    ///
    /// Of launches at addresses of few people those count that agree exactly with a click, each for all the conversions
    /// that did not agree, 1 / P(exact | same device): right on average even while nothing is known of L(h). At
    /// crowded addresses, and without one, it is the posterior, which converges more slowly.
    private(set) var explained = 0.0
    private var byLane: [PlatformForm: Double] = [:]
    private var byBin: [Int: Double] = [:]
    private var pairs: [ClickAge: (pairs: Double, exact: Double, near: Double)] = [:]

    /// 0 would believe the posterior as it is, 1 never.
    private static let doubt = 0.4
    /// A key that makes one click at least this likely without looking at the address tells how addresses go.
    private static let certainKey = 0.5

    init(_ evidence: CandidateEvidence, launch: LaunchTraits, model: MatchingModel) {
        let rates = LaunchRates(evidence, launch: launch, model: model)
        let total = rates.clicks + rates.reinstalls + rates.intensity.learning
        guard total > 0, total.isFinite else { return }
        let belief = Self.doubted(rates.clicks / total)
        let trust = Self.trust(evidence, rates, launch: launch, model: model)
        for visitor in rates.visitors {
            let posterior = visitor.rate / total
            var count = (1 - trust) * belief * posterior
            if visitor.last.address == .exact {
                let age = ClickAge(seconds: Self.age(visitor.last, launch))
                let agreeing = model.agreement(age).exact * model.clickAddressShare
                count += trust * posterior / max(agreeing, 0.05)
            }
            note(count, visitor.last.lane, visitor.bin)
        }
        for count in rates.background {
            note((1 - trust) * belief * count.rate / total, count.lane, count.bin)
        }
        if launch.hasAddress, rates.background.isEmpty {
            observe(rates, launch: launch, evidence, model: model)
        }
    }

    func teach(at: Timestamp, into increments: inout LearntIncrements) {
        for (lane, count) in byLane { increments.add(count, to: CounterKey(.conversions, lane.code), at: at) }
        for (bin, count) in byBin { increments.add(count, to: CounterKey(.delays, UInt64(bin)), at: at) }
        for (age, counts) in pairs {
            increments.add(counts.pairs, to: CounterKey(.agreements, AgreementCount.pairs(age)), at: at)
            increments.add(
                counts.exact,
                to: CounterKey(.agreements, AgreementCount.agreeing(.exact, age)),
                at: at
            )
            increments.add(
                counts.near,
                to: CounterKey(.agreements, AgreementCount.agreeing(.near, age)),
                at: at
            )
        }
    }

    private mutating func note(_ count: Double, _ lane: PlatformForm, _ bin: Int) {
        guard count > 0, count.isFinite else { return }
        explained += count
        byLane[lane, default: 0] += count
        byBin[bin, default: 0] += count
    }

    /// By what a posterior is multiplied for learning where nothing but itself bears it out: its odds are drawn towards
    /// one to one.
    ///
    /// Conversions and L(h) are learnt from the posterior, and it is made from them: where time and address tell
    /// little, an error would only confirm itself and grow.
    private static func doubted(_ probability: Double) -> Double {
        guard probability > 0, probability < 1 else { return 1 }
        let odds = LearningEpoch.power(probability / (1 - probability), 1 - doubt)
        let result = odds / (1 + odds) / probability
        return result.isFinite ? result : 1
    }

    /// How far agreement on the launch's address tells conversions from chance: 0 where strangers are expected to
    /// agree, near 1 where none is.
    private static func trust(
        _ evidence: CandidateEvidence,
        _ rates: LaunchRates,
        launch: LaunchTraits,
        model: MatchingModel
    ) -> Double {
        guard launch.hasAddress else { return 0 }
        let likelihood = AddressLikelihood(evidence, model: model)
        let clicks = evidence.background.reduce(Double(rates.visitors.count)) { $0 + $1.weight }
        let chance = clicks * likelihood.strangerExact(own: 1)
        let agreeing = model.agreement(.hour).exact
        return agreeing / (agreeing + 0.1) / (1 + 5 * chance)
    }

    /// Where the fingerprint alone makes a click nearly certain, whether the addresses agree says what devices do.
    private mutating func observe(
        _ rates: LaunchRates,
        launch: LaunchTraits,
        _ evidence: CandidateEvidence,
        model: MatchingModel
    ) {
        let all = rates.visitors.reduce(rates.intensity.learning) { $0 + $1.rateWithoutAddress }
        guard all > 0, rates.reinstalls == 0 else { return }
        let likelihood = AddressLikelihood(evidence, model: model)
        for visitor in rates.visitors where visitor.last.address != .missing {
            let certainty = visitor.rateWithoutAddress / all
            guard certainty >= Self.certainKey else { continue }
            let age = ClickAge(seconds: Self.age(visitor.last, launch))
            // As far as it is a stranger's, it agrees as often as strangers do.
            let strange = 1 - certainty
            pairs[age] = (
                certainty,
                (visitor.last.address == .exact ? 1 : 0) - strange * likelihood.strangerExact(own: 1),
                (visitor.last.address == .near ? 1 : 0) - strange * likelihood.strangerNear(own: 1)
            )
        }
    }

    private static func age(_ click: Candidate, _ launch: LaunchTraits) -> Double {
        Double(launch.at.milliseconds(since: click.clickedAt)) / 1000
    }
}
