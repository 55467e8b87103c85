/// What an app's traffic has taught so far, at one moment: everything of the posterior that is not about one launch.
///
/// Made from the counters of the families that ``CounterFamily/belongsToModel`` names, at most some thousands, every
/// few seconds and not for each check. An app without any counters has the model of the priors.
public final class MatchingModel: Sendable {
    public let at: Timestamp
    public let epoch: LearningEpoch
    /// Conversions a click of a lane leads to, through that lane's fingerprint: k · s.
    let sharesByPlatformForm: [UInt64: PlatformFormShare]
    /// Probability density of the delay by ``DelayBins``, a second.
    public let delayDensity: [Double]
    private let agreements: [Agreement]
    /// How many strangers were met at an address where one visitor had been seen, per visitor: exact and near.
    let repeatExact: Double
    let repeatNear: Double
    /// Launches that fingerprints alone could recognise, at their present worth.
    public let launches: Double
    public let launchesWithAddress: Double
    /// The share of clicks whose address is known.
    public let clickAddressShare: Double
    /// Launches without a click for each click, where both have the same fingerprint.
    let organicPerClick: Double
    /// The same with a guess instead of nothing while little has been seen: for learning, not for answers.
    let organicPerClickGuess: Double
    /// How busy the present is with launches that come from no click, as a multiple of the average.
    public let presentActivity: Double
    /// How many clicks come at the present, as a multiple of the average.
    public let busyness: Double
    let releaseShares: ReleaseShares
    let signalShares: SignalShares

    /// What a device does with its address.
    struct Agreement: Equatable, Sendable {
        var exact: Double
        var near: Double
    }

    /// - Parameters:
    ///   - sums: the app's stored sums of the model's families.
    ///   - epoch: what they are relative to.
    ///   - at: the present.
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
        launchesWithAddress = counters[.launchesWithAddress]
        clickAddressShare = (counters[.clicksWithAddress] + 0.9) / (counters[.clicks] + 1)
        let guessClicks = 500.0
        organicPerClick = counters[.organicWithCandidates] / (counters[.clicks] + guessClicks)
        organicPerClickGuess =
            (counters[.organicWithCandidates] + guessClicks * PlatformFormShare.prior)
            / (counters[.clicks] + guessClicks)
        let busyness = RelativeClickRate(counters)
        self.busyness = busyness.now
        presentActivity = RelativeOrganicRate.factor(counters, busyness)
        releaseShares = ReleaseShares(counters)
        signalShares = SignalShares(counters)
    }

    /// The model of an app from which nothing has been learnt.
    public static func fresh(at: Timestamp) -> MatchingModel {
        MatchingModel(sums: [:], epoch: LearningEpoch(began: at), at: at)
    }

    /// Whether too little has been seen to say more than the plain rule does: the newest click with the fingerprint.
    ///
    /// Launches count as they were, and not as they have faded: an app of few launches a day does not stay fresh.
    public var isFresh: Bool {
        let seconds = Double(at.milliseconds(since: epoch.began)) / 1000
        return seconds < 3600 || launches * seconds < 10 * epoch.observedSeconds(.totals, at: at)
    }

    /// Conversions a second that a click of this lane and age leads to through the lane's fingerprint: k · s · f(age).
    func hazard(_ lane: PlatformForm, bin: Int) -> Double {
        (sharesByPlatformForm[lane.code]?.conversions ?? PlatformFormShare.prior) * delayDensity[bin]
    }

    func agreement(_ age: ClickAge) -> Agreement {
        agreements[Int(age.rawValue)]
    }

    /// The prior counts as so many pairs.
    private static func agreement(of age: ClickAge, _ counters: ModelCounters) -> Agreement {
        let weight = 80.0
        let pairs = counters[.agreements, AgreementCount.pairs(age)] + weight
        let exact = counters[.agreements, AgreementCount.agreeing(.exact, age)] + weight * age.priorExact
        let near = counters[.agreements, AgreementCount.agreeing(.near, age)] + weight * age.priorNear
        let bounded = min(max(exact / pairs, 0.02), 0.95)
        return Agreement(exact: bounded, near: min(max(near / pairs, 0.005), 0.97 - bounded))
    }

    /// The prior counts as a few launches that met strangers now and then.
    private static func repetition(_ first: Double, _ second: Double) -> Double {
        min(1, (second + 0.2) / (first + 4))
    }

    private static func density(_ counters: ModelCounters, _ exposure: ClickExposure) -> [Double] {
        let weight = 30.0
        let seen = (0..<DelayBins.count).map { counters[.delays, UInt64($0)] / exposure.byBin[$0] }
        let total = seen.reduce(weight, +)
        return (0..<DelayBins.count).map { bin in
            let range = DelayBins.bounds(ofBin: bin)
            return (seen[bin] + weight * DelayPrior.masses[bin]) / total
                / (range.upperBound - range.lowerBound)
        }
    }
}

/// The keys of ``CounterFamily/agreements``.
public enum AgreementCount {
    /// Pairs of one device, by the age of the click.
    public static func pairs(_ age: ClickAge) -> UInt64 { UInt64(age.rawValue) << 8 | 0xff }

    /// Those of them that agreed in this way.
    public static func agreeing(_ agreement: AddressAgreement, _ age: ClickAge) -> UInt64 {
        UInt64(age.rawValue) << 8 | UInt64(agreement.rawValue)
    }
}

extension MatchingModel {
    /// The learnt figures in a few lines, for people.
    public var summary: String {
        var lines: [String] = []
        for (lane, share) in sharesByPlatformForm.sorted(by: { $0.key < $1.key }) {
            lines.append("lane \(lane): \(share.conversions) per click, \(share.share) of its platform")
        }
        for age in ClickAge.allCases {
            lines.append("address \(age): exact \(agreement(age).exact), near \(agreement(age).near)")
        }
        lines.append("met again: exact \(repeatExact), near \(repeatNear)")
        lines.append("organic per click: \(organicPerClick), now \(presentActivity), launches \(launches)")
        return lines.joined(separator: "\n")
    }
}
