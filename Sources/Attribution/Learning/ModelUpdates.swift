/// Computes what the model learns from clicks and launches, as increments of learnt counters.
///
/// A click costs about a dozen additions in memory, all to counters of the app. A launch without a live click
/// costs at most three additions to counters of its own (fingerprint, exact and near address) and six to the
/// app's. A launch with candidates (live clicks with its fingerprint) costs some more additions to the app's
/// counters, and reads three counters. ``LearntIncrements`` gathers the additions, which are stored in the
/// background: a process that dies loses some seconds of learning, but never a click or a claim.
public enum ModelUpdates {
    /// Adds the updates of a recorded click; callers must omit robots' clicks and repeated posts.
    ///
    /// `forms` are the forms by which the click can be found, each once. `relativeClickRate` is the rate of clicks
    /// when the click came, as a multiple of the average.
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

    /// Adds the updates of a launch that only its fingerprint could recognise.
    ///
    /// Callers must omit replays, launches that lost their click to another launch, and repeated checks,
    /// which ``RecentLaunches`` recognises.
    ///
    /// `evidence` is the evidence from which the ``Verdict`` on the launch was computed; it is empty for a launch
    /// without a live click. `fingerprint` is the first word of a keyed hash.
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
        increments.add(to: CounterKey(.allLaunches, 0), at: at)
        increments.add(1 - explained, to: CounterKey(AppTotal.organic), at: at)
        let slot = RelativeOrganicRate.slot(at)
        increments.add(1 - explained, to: CounterKey(.organicByTenMinutes, slot), at: at)
        let level = RelativeClickRateLevel.key(model.relativeClickRate)
        increments.add(1 - explained, to: CounterKey(.organicByRelativeRate, level), at: at)
        increments.add(1 - explained, to: CounterKey(.organic, fingerprint), at: at)
        guard let address, launch.hasAddress else { return }
        increments.add(to: CounterKey(AppTotal.launchesWithAddress), at: at)
        increments.add(to: CounterKey(.launchesAtAddress, address.exact), at: at)
        increments.add(to: CounterKey(.launchesNearAddress, address.near), at: at)
    }

    /// Adds the updates of a click and a launch that a certain match (such as a token) connects: delay and
    /// address agreement.
    ///
    /// It adds no conversion, because the share of conversions is learnt for launches that only a fingerprint
    /// can recognise.
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

    /// Counts the launch if its address had no launch before, or only one.
    ///
    /// The ratio of the two counts shows how often strangers share an address, and so how much a shared
    /// address proves.
    private static func countMeeting(
        _ evidence: CandidateEvidence,
        _ launch: LaunchTraits,
        to increments: inout LearntIncrements
    ) {
        // A visitor who launched here before with the same fingerprint is no stranger.
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

/// The model update of one launch with candidates (clicks with its fingerprint): conversions, delays and addresses.
struct LaunchUpdate {
    /// The number of conversions that the launch counts for.
    ///
    /// At addresses of few people, a launch counts only if its address is exactly a click's address. Its posterior is
    /// then divided by P(exact | same device), so that it also represents launches whose address did not agree. On
    /// average, this count is right even before the model has learnt L(h), the rate of organic launches with the
    /// fingerprint h. At busy addresses, and without an address, the launch counts by its posterior, and the model
    /// learns more slowly.
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
            let (exact, near) = (AgreementCount.agreeing(.exact, age), AgreementCount.agreeing(.near, age))
            increments.add(counts.pairs, to: CounterKey(.agreements, AgreementCount.pairs(age)), at: at)
            increments.add(counts.exact, to: CounterKey(.agreements, exact), at: at)
            increments.add(counts.near, to: CounterKey(.agreements, near), at: at)
        }
    }

    private mutating func add(_ count: Double, _ platformForm: PlatformForm, _ bin: Int) {
        guard count > 0, count.isFinite else { return }
        explained += count
        byPlatformForm[platformForm, default: 0] += count
        byBin[bin, default: 0] += count
    }

    /// Returns the factor by which learning multiplies a posterior: it draws the odds towards one to one.
    ///
    /// Conversions and L(h) are learnt from the posterior, and the posterior is computed from them. If time
    /// and address prove little, an error would therefore confirm itself and grow.
    private static func discount(_ probability: Double) -> Double {
        guard probability > 0, probability < 1 else { return 1 }
        let exponent = 1 - ModelConstants.posteriorDiscount
        let odds = LearningEpoch.power(probability / (1 - probability), exponent)
        let result = odds / (1 + odds) / probability
        return result.isFinite ? result : 1
    }

    /// Returns how well an equal address distinguishes conversions from chance: near 0 if many strangers are expected
    /// to have the address, near 1 if none are.
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

    /// Counts whether the addresses agree, if the fingerprint alone makes a click likely enough.
    private mutating func observe(_ rates: LaunchRates, launch: LaunchTraits, _ likelihood: AddressLikelihood)
    {
        let all = rates.visitors.reduce(rates.intensity.learning) { $0 + $1.rateWithoutAddress }
        guard all > 0, rates.reinstalls == 0 else { return }
        for visitor in rates.visitors where visitor.last.address != .missing {
            let certainty = visitor.rateWithoutAddress / all
            guard certainty >= ModelConstants.certainFingerprint else { continue }
            let age = ClickAge(seconds: Self.age(visitor.last, launch))
            // Subtract the expected agreement by chance, in case the click is a stranger's.
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

/// The launches of the last one to two hours, so that a device that repeats its check counts once.
///
/// The size is bounded: above the limit, the oldest launches are dropped sooner. Each server process has its own set,
/// which ends with the process.
public struct RecentLaunches: Sendable {
    private var recent: Set<UInt64> = []
    private var older: Set<UInt64> = []
    private var since: Timestamp?
    private let limit: Int

    private static let hour: Int64 = 3_600_000

    public init(limit: Int = 100_000) { self.limit = max(1, limit) }

    /// Adds a launch, and returns whether it is new: false if it came already in the last one to two hours.
    ///
    /// `launch` is the first word of a keyed hash: of the install id, or else of the caller.
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
            // Reserve the capacity of the past hour, so that the set does not grow step by step again.
            recent = Set(minimumCapacity: older.count)
            since = now
        }
        let isKnown = older.contains(launch)
        return recent.insert(launch).inserted && !isKnown
    }
}
