/// What clicks and launches teach: pure increments of learnt counters.
///
/// A click costs a dozen additions in memory, all of them to counters of the app. A launch without a live click costs three
/// to counters of its own (fingerprint, exact and near address) and six to the app's; with candidates some more to the
/// app's, and three counters are read. ``LearntIncrements`` gathers them, and they are stored in the background: a process
/// that dies loses some seconds of learning and never a click or a claim.
public enum ModelUpdates {
    /// Adds what a recorded click teaches; not for clicks of robots and repeated posts.
    ///
    /// `forms` are those under which the click can be found, each once; `relativeClickRate` is the model's at its time.
    public static func addClick(
        at: Timestamp,
        platform: Platform,
        forms: [FingerprintForm?],
        hasAddress: Bool,
        release: OSRelease? = nil,
        signals: SignalHashes = .none,
        relativeClickRate: Double = 1,
        to increments: inout LearntIncrements
    ) {
        increments.add(to: CounterKey(AppTotal.clicks), at: at)
        if hasAddress { increments.add(to: CounterKey(AppTotal.clicksWithAddress), at: at) }
        increments.add(to: CounterKey(.clicksByTwoMinutes, RelativeClickRate.slot(at)), at: at)
        let level = RelativeClickRateLevel.key(relativeClickRate)
        increments.add(to: CounterKey(.clicksByRelativeRate, level), at: at)
        increments.add(to: CounterKey(.clicksByHour, ModelCounters.hour(at)), at: at)
        for form in forms {
            let code = PlatformForm(platform: platform, form: form).code
            increments.add(to: CounterKey(.clicks, code), at: at)
        }
        if let release { increments.add(to: CounterKey(.releases, release.code), at: at) }
        for component in signals.components {
            guard let hash = signals[component] else { continue }
            increments.add(to: CounterKey(component, hash: hash), at: at)
            increments.add(to: CounterKey(allOf: component), at: at)
        }
    }

    /// Adds what a launch teaches that only its fingerprint could recognise, and that was neither a replay nor lost to
    /// another: one for each install id, or for each fingerprint, address and agent within an hour.
    ///
    /// The evidence is what the verdict was made from; it is empty for a launch without a live click. The fingerprint is the
    /// first word of a keyed hash.
    public static func addLaunch(
        _ launch: LaunchTraits,
        _ evidence: CandidateEvidence,
        fingerprint: UInt64,
        address: AddressHashes?,
        model: MatchingModel,
        to increments: inout LearntIncrements
    ) {
        let at = launch.at
        let hasCandidates =
            evidence.candidates.contains { $0.claimedAt == nil } || !evidence.background.isEmpty
        var explained = 0.0
        if hasCandidates {
            let update = LaunchUpdate(evidence, launch: launch, model: model)
            explained = update.explained
            update.add(to: &increments, at: at)
            increments.add(1 - explained, to: CounterKey(AppTotal.organicWithCandidates), at: at)
            countMeeting(evidence, launch, to: &increments)
        }
        increments.add(to: CounterKey(AppTotal.launches), at: at)
        increments.add(1 - explained, to: CounterKey(AppTotal.organic), at: at)
        increments.add(
            1 - explained,
            to: CounterKey(.organicByTenMinutes, RelativeOrganicRate.slot(at)),
            at: at
        )
        let level = RelativeClickRateLevel.key(model.relativeClickRate)
        increments.add(1 - explained, to: CounterKey(.organicByRelativeRate, level), at: at)
        increments.add(1 - explained, to: CounterKey(.organic, fingerprint), at: at)
        guard let address, launch.hasAddress else { return }
        increments.add(to: CounterKey(AppTotal.launchesWithAddress), at: at)
        increments.add(to: CounterKey(.launchesAtAddress, address.exact), at: at)
        increments.add(to: CounterKey(.launchesNearAddress, address.near), at: at)
    }

    /// Adds what a pair teaches that a token has made certain: how delays and addresses behave, but not how many clicks
    /// convert without a token.
    public static func addCertainPair(
        agreement: AddressAgreement,
        delaySeconds: Double,
        at: Timestamp,
        to increments: inout LearntIncrements
    ) {
        increments.add(to: CounterKey(.delays, UInt64(DelayBins.bin(forSeconds: delaySeconds))), at: at)
        guard agreement != .missing else { return }
        let age = ClickAge(seconds: delaySeconds)
        increments.add(to: CounterKey(.agreements, AgreementCount.pairs(age)), at: at)
        guard agreement != .differs else { return }
        increments.add(to: CounterKey(.agreements, AgreementCount.agreeing(agreement, age)), at: at)
    }

    /// Counts how often launches meet others at an address where one was seen, which decides how much an address proves
    /// that only one click has come from.
    private static func countMeeting(
        _ evidence: CandidateEvidence,
        _ launch: LaunchTraits,
        to increments: inout LearntIncrements
    ) {
        // A visitor who has launched here before with the same fingerprint is no stranger.
        let isKnown = evidence.candidates.contains { $0.claimedAt != nil && $0.address == .exact }
        guard launch.hasAddress, !isKnown else { return }
        let traffic = evidence.addressTraffic
        func count(_ launches: Double, first: AppTotal, second: AppTotal) {
            if launches < ModelConstants.firstMeetingLimit {
                increments.add(to: CounterKey(first), at: launch.at)
            } else if launches < ModelConstants.secondMeetingLimit {
                increments.add(to: CounterKey(second), at: launch.at)
            }
        }
        count(traffic.launchesExact, first: .firstAtAddress, second: .secondAtAddress)
        count(traffic.launchesNear, first: .firstNearAddress, second: .secondNearAddress)
    }
}

/// What one launch with candidates teaches about conversions, delays and addresses.
struct LaunchUpdate {
    /// How many conversions the launch stands for.
    ///
    /// At addresses of few people, the launches count that agree exactly with a click, each for all the conversions that
    /// did not agree, 1 / P(exact | same device): right on average even while nothing is known of L(h). At busy
    /// addresses, and without one, the posterior counts, which converges more slowly.
    private(set) var explained = 0.0
    private var byPlatformForm: [PlatformForm: Double] = [:]
    private var byBin: [Int: Double] = [:]
    private var pairs: [ClickAge: (pairs: Double, exact: Double, near: Double)] = [:]

    init(_ evidence: CandidateEvidence, launch: LaunchTraits, model: MatchingModel) {
        let rates = LaunchRates(evidence, launch: launch, model: model)
        let total = rates.clicks + rates.reinstalls + rates.intensity.learning
        guard total > 0, total.isFinite else { return }
        let belief = Self.discount(rates.clicks / total)
        let likelihood = AddressLikelihood(evidence, model: model)
        let reliability =
            launch.hasAddress ? Self.addressReliability(evidence, rates, likelihood, model: model) : 0
        for visitor in rates.visitors {
            let posterior = visitor.rate / total
            var count = (1 - reliability) * belief * posterior
            if visitor.last.address == .exact {
                let age = ClickAge(seconds: Self.age(visitor.last, launch))
                let agreeing = model.agreement(age).exact * model.clickAddressShare
                count += reliability * posterior / max(agreeing, ModelConstants.minimumAgreeingShare)
            }
            add(count, visitor.last.platformForm, visitor.bin)
        }
        for count in rates.background {
            add((1 - reliability) * belief * count.rate / total, count.platformForm, count.bin)
        }
        if launch.hasAddress, rates.background.isEmpty { observe(rates, launch: launch, likelihood) }
    }

    func add(to increments: inout LearntIncrements, at: Timestamp) {
        for (platformForm, count) in byPlatformForm {
            increments.add(count, to: CounterKey(.conversions, platformForm.code), at: at)
        }
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

    private mutating func add(_ count: Double, _ platformForm: PlatformForm, _ bin: Int) {
        guard count > 0, count.isFinite else { return }
        explained += count
        byPlatformForm[platformForm, default: 0] += count
        byBin[bin, default: 0] += count
    }

    /// Returns the factor of a posterior for learning where nothing else confirms it: its odds are drawn towards one to
    /// one.
    ///
    /// Conversions and L(h) are learnt from the posterior, and it is made from them: where time and address say little,
    /// an error would only confirm itself and grow.
    private static func discount(_ probability: Double) -> Double {
        guard probability > 0, probability < 1 else { return 1 }
        let exponent = 1 - ModelConstants.posteriorDiscount
        let odds = LearningEpoch.power(probability / (1 - probability), exponent)
        let result = odds / (1 + odds) / probability
        return result.isFinite ? result : 1
    }

    /// Returns how far agreement on the launch's address distinguishes conversions from chance: 0 where strangers are
    /// expected to agree, near 1 where none is.
    private static func addressReliability(
        _ evidence: CandidateEvidence,
        _ rates: LaunchRates,
        _ likelihood: AddressLikelihood,
        model: MatchingModel
    ) -> Double {
        let clicks = evidence.background.reduce(Double(rates.visitors.count)) { $0 + $1.weight }
        let chance = clicks * likelihood.strangerExact(own: 1)
        let agreeing = model.agreement(.hour).exact
        return agreeing / (agreeing + ModelConstants.rarelyAgreeing)
            / (1 + ModelConstants.chanceAgreementWeight * chance)
    }

    /// Counts whether the addresses agree where the fingerprint alone makes a click nearly certain.
    private mutating func observe(_ rates: LaunchRates, launch: LaunchTraits, _ likelihood: AddressLikelihood)
    {
        let all = rates.visitors.reduce(rates.intensity.learning) { $0 + $1.rateWithoutAddress }
        guard all > 0, rates.reinstalls == 0 else { return }
        for visitor in rates.visitors where visitor.last.address != .missing {
            let certainty = visitor.rateWithoutAddress / all
            guard certainty >= ModelConstants.certainFingerprint else { continue }
            let age = ClickAge(seconds: Self.age(visitor.last, launch))
            // As far as the click is a stranger's, it agrees as often as strangers do.
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

/// The launches of the last hour from which the model has learnt, so that a device that asks again and again teaches
/// once.
///
/// Bounded: beyond the limit, the oldest launches are dropped sooner. Each server has its own, and it is lost with the
/// process.
public struct RecentLaunches: Sendable {
    private var recent: Set<UInt64> = []
    private var older: Set<UInt64> = []
    private var since: Timestamp?
    private let limit: Int

    private static let hour: Int64 = 3_600_000

    public init(limit: Int = 100_000) {
        self.limit = max(1, limit)
    }

    /// Returns whether nothing was learnt from such a launch in the last hour, and adds the launch.
    ///
    /// A launch is the first word of a keyed hash of the install id, or of fingerprint, address and agent.
    public mutating func isNew(_ launch: UInt64, at now: Timestamp) -> Bool {
        let start = since ?? now
        since = start
        let age = now.milliseconds(since: start)
        if age >= 2 * Self.hour || age < -Self.hour {
            older = []
            recent = []
            since = now
        } else if age >= Self.hour || recent.count >= limit {
            older = recent
            // The next hour may bring as many, so the set must not grow step by step again.
            recent = Set(minimumCapacity: older.count)
            since = now
        }
        let isKnown = older.contains(launch)
        return recent.insert(launch).inserted && !isKnown
    }
}
