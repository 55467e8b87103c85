/// The figures learnt from an app's traffic up to one time, from which posteriors are computed.
///
/// A conversion is a launch that a click led to. The model is computed every few seconds, not for each check,
/// from the counters of the families with ``CounterFamily/belongsToModel``: at most some thousands. Without
/// counters, it consists of the priors.
public final class MatchingModel: Sendable {
    public let at: Timestamp
    public let epoch: LearningEpoch
    /// Conversions per click by ``PlatformForm/code``.
    let sharesByPlatformForm: [UInt64: PlatformFormShare]
    /// The probability density of the delay per second, by ``DelayBins`` bin.
    public let delayDensity: [Double]
    private let agreements: [Agreement]
    /// The average number (at most 1) of strangers' launches at an exact address at which one visitor has launched
    /// before.
    let repeatExact: Double
    /// The same average for a near address (IPv4 /24, IPv6 /48).
    let repeatNear: Double
    /// The number of launches that only a fingerprint could recognise; older ones count less.
    public let launches: Double
    /// The number of launches that only a fingerprint could recognise; older ones count in full.
    ///
    /// Earlier versions stored only ``launches``, so the number is at least ``launches``.
    private let launchCount: Double
    public let launchesWithAddress: Double
    /// The share of clicks whose address is known, 0…1.
    public let clickAddressShare: Double
    /// The number of organic launches per click.
    ///
    /// A launch is organic if no click explains it. The number includes only launches whose fingerprint a live
    /// click has.
    let organicPerClick: Double
    /// The number of organic launches per click for learning; before the first launches, it is a guess and not 0.
    let organicPerClickGuess: Double
    /// The current rate of launches that no click explains, as a multiple of the average.
    public let relativeOrganicRate: Double
    /// The current rate of clicks, as a multiple of the average.
    public let relativeClickRate: Double
    let releaseShares: ReleaseShares
    let signalShares: SignalShares

    /// The probabilities that a device has the same address again, or one near it.
    struct Agreement: Equatable, Sendable {
        var exact: Double
        var near: Double
    }

    /// - Parameters:
    ///   - sums: the app's stored sums of the model's families.
    ///   - epoch: the epoch that the sums are relative to.
    ///   - at: the current time.
    public init(sums: [CounterKey: Double], epoch: LearningEpoch, at: Timestamp) {
        let counters = ModelCounters(sums: sums, epoch: epoch, at: at)
        self.at = at
        self.epoch = epoch
        let exposure = ClickExposure(counters)
        delayDensity = Self.density(counters, exposure)
        sharesByPlatformForm = PlatformFormShare.all(counters, exposed: exposure.share(density: delayDensity))
        agreements = ClickAge.allCases.map { Self.agreement(of: $0, counters) }
        repeatExact = Self.repetition(counters[.firstAtAddress], counters[.secondAtAddress])
        repeatNear = Self.repetition(counters[.firstNearAddress], counters[.secondNearAddress])
        launches = counters[.launches]
        launchCount = max(counters[.allLaunches, 0], launches)
        launchesWithAddress = counters[.launchesWithAddress]
        clickAddressShare =
            (counters[.clicksWithAddress] + ModelConstants.clickAddressShare) / (counters[.clicks] + 1)
        let guessClicks = ModelConstants.organicGuessClicks
        organicPerClick = counters[.organicWithCandidates] / (counters[.clicks] + guessClicks)
        organicPerClickGuess =
            (counters[.organicWithCandidates] + guessClicks * ModelConstants.conversionsPerClick)
            / (counters[.clicks] + guessClicks)
        let clickRate = RelativeClickRate(counters)
        relativeClickRate = clickRate.now
        relativeOrganicRate = RelativeOrganicRate.factor(counters, clickRate)
        releaseShares = ReleaseShares(counters)
        signalShares = SignalShares(counters)
    }

    /// Returns the model of an app from which nothing has been learnt.
    public static func fresh(at: Timestamp) -> MatchingModel {
        MatchingModel(sums: [:], epoch: LearningEpoch(began: at), at: at)
    }

    /// Whether too little has been learnt to improve on the plain rule, by which the newest click with the
    /// fingerprint matches.
    ///
    /// Old launches count in full here, so that an app with few launches a day does not stay fresh. After weeks without a
    /// launch, an app is fresh again.
    public var isFresh: Bool {
        let seconds = Double(at.milliseconds(since: epoch.began)) / 1000
        return seconds < ModelConstants.freshSeconds || launchCount < ModelConstants.freshLaunches
            || launches * seconds < ModelConstants.freshLaunches * epoch.observedSeconds(.totals, at: at)
    }

    /// Returns k · s · f(age) of ``Posterior``: the conversions per second to which one click of this age leads,
    /// through fingerprints of this form.
    func hazard(_ platformForm: PlatformForm, bin: Int) -> Double {
        (sharesByPlatformForm[platformForm.code]?.conversions ?? ModelConstants.conversionsPerClick)
            * delayDensity[bin]
    }

    func agreement(_ age: ClickAge) -> Agreement { agreements[Int(age.rawValue)] }

    private static func agreement(of age: ClickAge, _ counters: ModelCounters) -> Agreement {
        let weight = ModelConstants.agreementPriorPairs
        let pairs = counters[.agreements, AgreementCount.pairs(age)] + weight
        let exact =
            counters[.agreements, AgreementCount.agreeing(.exact, age)]
            + weight * ModelConstants.exactAgreement(age)
        let near =
            counters[.agreements, AgreementCount.agreeing(.near, age)]
            + weight * ModelConstants.nearAgreement
        let bounded = min(max(exact / pairs, 0.02), 0.95)
        return Agreement(exact: bounded, near: min(max(near / pairs, 0.005), 0.97 - bounded))
    }

    private static func repetition(_ first: Double, _ second: Double) -> Double {
        min(1, (second + ModelConstants.repeatPriorMet) / (first + ModelConstants.repeatPriorLaunches))
    }

    private static func density(_ counters: ModelCounters, _ exposure: ClickExposure) -> [Double] {
        let weight = ModelConstants.delayPriorConversions
        let seen = (0..<DelayBins.count).map { counters[.delays, UInt64($0)] / exposure.byBin[$0] }
        let total = seen.reduce(weight, +)
        return (0..<DelayBins.count).map { bin in
            let range = DelayBins.bounds(ofBin: bin)
            return (seen[bin] + weight * DelayPrior.masses[bin]) / total
                / (range.upperBound - range.lowerBound)
        }
    }
}

/// The group of clicks whose share of conversions is learnt together: the platform, and the form of the
/// fingerprint by which a launch finds the click.
///
/// A click is indexed under the fingerprints of every form, and its device sends one of them.
public struct PlatformForm: Hashable, Sendable {
    public let platform: Platform
    /// Nil for a ready-made fingerprint, which a client sent as a hash.
    public let form: FingerprintForm?

    public init(platform: Platform, form: FingerprintForm?) {
        self.platform = platform
        self.form = form
    }

    /// Reads a ``code``; nil for an unknown platform.
    ///
    /// An unknown form counts as a ready-made fingerprint.
    public init?(code: UInt64) {
        guard let platform = Platform.allCases.first(where: { UInt64($0.code) == code >> 8 })
        else { return nil }
        let letter = UInt8(truncatingIfNeeded: code)
        let form = FingerprintForm.allCases.first { $0.rawValue.utf8.first == letter }
        self.init(platform: platform, form: form)
    }

    /// The number of the group in a counter's key; it stays the same when forms are added.
    public var code: UInt64 { UInt64(platform.code) << 8 | UInt64(form?.rawValue.utf8.first ?? 0) }
}

extension Platform {
    /// The number of the platform in counters' keys.
    var code: UInt8 {
        switch self {
        case .ios: 1
        case .android: 2
        case .other: 3
        case .unknown: 4
        }
    }
}

/// The conversions of a click through one form, and the form's share of its platform's conversions.
struct PlatformFormShare: Equatable, Sendable {
    /// k · s: conversions through fingerprints of the form, for each click that has one.
    let conversions: Double
    /// s: the form's share of its platform's conversions.
    let share: Double

    static func all(_ counters: ModelCounters, exposed: Double) -> [UInt64: PlatformFormShare] {
        let clicks = counters.all(.clicks)
        let conversions = counters.all(.conversions)
        let prior = ModelConstants.conversionsPerClick
        let priorClicks = ModelConstants.conversionPriorClicks
        let priorConversions = ModelConstants.formSharePriorConversions
        var byPlatform: [UInt64: Double] = [:]
        for (code, count) in conversions { byPlatform[code >> 8, default: 0] += max(0, count) }
        var result: [UInt64: PlatformFormShare] = [:]
        for code in Set(clicks.keys).union(conversions.keys) {
            let converted = max(0, conversions[code] ?? 0)
            let seen = (clicks[code] ?? 0) * exposed
            let share = (converted + priorClicks * prior) / (seen + priorClicks)
            let platform = byPlatform[code >> 8] ?? 0
            result[code] = PlatformFormShare(
                conversions: min(max(share, 1e-5), 1),
                share: min(1, (converted + priorConversions) / (platform + priorConversions))
            )
        }
        return result
    }
}

/// One figure of a model, for people and programs.
public struct ModelFigure: Equatable, Sendable {
    /// The name in JSON: lower case with underscores.
    public let name: String
    public let meaning: String
    public let value: Double

    public init(_ name: String, _ value: Double, _ meaning: String) {
        self.name = name
        self.meaning = meaning
        self.value = value
    }
}

extension MatchingModel {
    /// The learnt figures, or their priors if nothing was learnt, in reading order.
    public var figures: [ModelFigure] { traffic + platformForms + delays + addresses }

    private var traffic: [ModelFigure] {
        [
            .init("launches", launches, "Launches in the model; a launch of two days ago counts half"),
            .init("launches_with_address", launchesWithAddress, "Launches in the model with a known address"),
            .init(
                "organic_per_click",
                organicPerClick,
                "Launches that no click led to although a click with their fingerprint was live, for each click"
            ),
            .init(
                "present_activity",
                relativeOrganicRate,
                "Current rate of launches that no click led to / its average"
            ),
            .init("click_address_share", clickAddressShare, "Share of clicks whose address is known"),
        ]
    }

    private var platformForms: [ModelFigure] {
        sharesByPlatformForm.sorted { $0.key < $1.key }.flatMap { code, share -> [ModelFigure] in
            guard let platformForm = PlatformForm(code: code) else { return [] }
            let (platform, form) = (platformForm.platform, platformForm.form)
            let name = "\(platform.rawValue)_\(form?.rawValue.lowercased() ?? "ready_made")"
            let words =
                "\(platform.rawValue), \(form.map { "form \($0.rawValue)" } ?? "ready-made fingerprints")"
            return [
                ModelFigure("conversions_\(name)", share.conversions, "Conversions for each click: \(words)"),
                ModelFigure("share_\(name)", share.share, "Share of the platform's conversions: \(words)"),
            ]
        }
    }

    private var delays: [ModelFigure] {
        let times: [(name: String, words: String, seconds: Double)] = [
            ("10_minutes", "ten minutes", 600), ("1_hour", "an hour", 3600), ("1_day", "a day", 86_400),
        ]
        return times.map { time in
            ModelFigure(
                "launched_within_\(time.name)",
                shareLaunched(within: time.seconds),
                "Share of conversions whose launch comes within \(time.words) of the click"
            )
        }
    }

    private var addresses: [ModelFigure] {
        let names = ["10_minutes", "1_hour", "4_hours", "12_hours", "later"]
        return zip(ClickAge.allCases, names).flatMap { age, name -> [ModelFigure] in
            let words = String(name.map { $0 == "_" ? " " : $0 })
            let share = agreement(age)
            return [
                .init("same_address_\(name)", share.exact, "Probability of the same address again: \(words)"),
                .init("near_address_\(name)", share.near, "Probability of an address near by: \(words)"),
            ]
        }
    }

    private func shareLaunched(within seconds: Double) -> Double {
        (0..<DelayBins.count).reduce(0) { sum, bin in
            let range = DelayBins.bounds(ofBin: bin)
            let covered = min(max(seconds - range.lowerBound, 0), range.upperBound - range.lowerBound)
            return sum + delayDensity[bin] * covered
        }
    }
}

/// The store of the learnt counters, shared by all servers on one database.
public protocol LearningStore {
    /// Returns the model at a time, computed from all counters; the priors if nothing was learnt.
    func matchingModel(of app: AppID, isTest: Bool, at now: Timestamp) async throws(StoreError)
        -> MatchingModel

    /// Deletes everything that was learnt from the app's traffic: learning starts again as on a new server.
    ///
    /// Running servers notice the deletion within some seconds. Until then they may still add updates. The audit log
    /// gets an entry in the first transaction of the deletion.
    func resetLearning(of app: AppID, isTest: Bool, by actor: AuditActor) async throws(StoreError)
}
