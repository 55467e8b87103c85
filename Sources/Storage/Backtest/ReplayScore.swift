public import Attribution

/// The result of a replay: the number of answers, and of right answers to launches whose truth (which click led to
/// them) is known.
///
/// Launches of the warm-up are left out. Repeated answers, and launches that are retries in truth, do not count as
/// launches.
public struct ReplayScore: Equatable, Sendable {
    public var launches = 0
    public var matches = 0
    /// The matches by the token of a click.
    public var tokenMatches = 0
    /// The matches that credit a campaign and no link.
    public var campaignMatches = 0
    /// Launches that got the answer of an earlier one.
    public var replays = 0
    /// Launches without a match, by the verdict's reason; nil for launches without a live click.
    public var reasons: [NoMatchReason?: Int] = [:]
    /// The sum of the probabilities that a click led to the launch, for launches that only a fingerprint
    /// could recognise.
    public var expected = 0.0
    /// The variance of the number that ``expected`` estimates.
    public var variance = 0.0

    /// The number of matches by a fingerprint that are expected to be right: the sum of their uncapped probabilities.
    public var expectedRight = 0.0
    /// The results of fingerprints alone for launches that a token recognised.
    public var besideTokens = TokenTrials()

    /// Launches whose truth is known, and the matches among them.
    public var knownLaunches = 0
    public var knownMatches = 0
    /// Launches from a click whose window had not ended.
    public var conversions = 0
    /// Matches with the link and campaign of the click that led to the launch.
    public var rightLink = 0
    /// Matches with a click of the same person.
    public var rightPerson = 0
    public var organic = 0
    public var organicMatched = 0
    public var reinstalls = 0
    public var reinstallsMatched = 0
    /// Clicks that two launches got; 0 unless the replay has a defect.
    public var clicksUsedTwice = 0
    /// The calibration of the stated confidence, which never exceeds ``Verdict/highestConfidence``.
    public var calibration = Calibration()
    /// The calibration of the uncapped probability.
    public var uncappedCalibration = Calibration()

    public init() {}

    /// The expected number of launches that clicks led to; launches with a token are certain.
    public var expectedConversions: Double { expected + Double(tokenMatches) }
    /// The spread of the expected conversions: one standard deviation.
    public var spread: Double { variance.squareRoot() }

    public var matchRate: Double? { launches > 0 ? Double(matches) / Double(launches) : nil }
}

/// The results of fingerprints alone for launches that tokens recognised, whose truth is certain.
public struct TokenTrials: Equatable, Sendable {
    public var launches = 0
    /// Launches that would have got a match by the fingerprint.
    public var matches = 0
    /// The launches of ``matches`` that would have got the link of the token's click, or the campaign if only that is
    /// credited.
    public var right = 0
    public var calibration = Calibration()

    public init() {}

    public var precision: Double? { matches > 0 ? Double(right) / Double(matches) : nil }
    /// The share of the launches that would have got the right link by the fingerprint.
    public var found: Double? { launches > 0 ? Double(right) / Double(launches) : nil }
}

/// The click that a launch gets in a replay, by its number in the store.
struct ReplayMatch: Equatable, Sendable {
    let click: Int
    /// Whether the campaign is credited, and no link.
    let isCampaignOnly: Bool
}

extension ReplayScore {
    /// Counts a launch and its answer, before the click is consumed.
    mutating func judge(
        _ launch: RecordedLaunch,
        _ verdict: Verdict,
        _ match: ReplayMatch?,
        in store: ReplayStore
    ) -> Replay.Answer {
        launches += 1
        expected += verdict.expectedConversions
        variance += verdict.variance
        let answered = match.flatMap { store[$0.click]?.click }
        if let match {
            matches += 1
            expectedRight += verdict.probability
            if match.isCampaignOnly { campaignMatches += 1 }
        } else if case .noMatch(let reason) = verdict.outcome {
            reasons[reason, default: 0] += 1
        }
        if let truth = launch.truth {
            knownLaunches += 1
            let isCampaignOnly = match?.isCampaignOnly ?? false
            let isTrue = compare(answered, launch, with: truth, isCampaignOnly: isCampaignOnly, in: store)
            if answered != nil {
                knownMatches += 1
                if isTrue { rightLink += 1 }
                calibration.add(stated: verdict.confidence, isRight: isTrue)
                uncappedCalibration.add(stated: verdict.probability, isRight: isTrue)
            }
        }
        return Replay.Answer(answered, to: launch, probability: verdict.probability)
    }

    /// Counts an answer by the truth of its launch; returns whether it is a match with the right link or
    /// campaign.
    private mutating func compare(
        _ answered: RecordedClick?,
        _ launch: RecordedLaunch,
        with truth: RecordedLaunch.Truth,
        isCampaignOnly: Bool,
        in store: ReplayStore
    ) -> Bool {
        switch truth {
        case .click(let name):
            guard let stored = store.number(of: name).flatMap({ store[$0] }), stored.end >= launch.at else {
                return false
            }
            conversions += 1
            guard let answered else { return false }
            if let person = launch.person, answered.person == person { rightPerson += 1 }
            guard isCampaignOnly else { return answered.destination == stored.click.destination }
            return answered.destination.campaign == stored.click.destination.campaign
        case .organic:
            organic += 1
            if answered != nil { organicMatched += 1 }
        case .reinstall:
            reinstalls += 1
            if answered != nil { reinstallsMatched += 1 }
        case .retry: break
        }
        return false
    }

    /// Counts the answer that the fingerprint alone would give to a launch that gets this click by a token.
    mutating func judge(
        _ verdict: Verdict,
        _ match: ReplayMatch?,
        beside number: Int,
        in store: ReplayStore
    ) {
        guard let truth = store[number]?.click.destination else { return }
        besideTokens.launches += 1
        guard let match, let answered = store[match.click]?.click.destination else { return }
        let isRight = match.isCampaignOnly ? answered.campaign == truth.campaign : answered == truth
        besideTokens.matches += 1
        if isRight { besideTokens.right += 1 }
        besideTokens.calibration.add(stated: verdict.confidence, isRight: isRight)
    }

    /// Counts a launch with the click's token; its match is right whenever the truth is known.
    mutating func judgeToken(_ click: RecordedClick, of launch: RecordedLaunch) -> Replay.Answer {
        launches += 1
        matches += 1
        tokenMatches += 1
        if launch.truth != nil {
            knownLaunches += 1
            knownMatches += 1
            conversions += 1
            rightLink += 1
            rightPerson += 1
        }
        return Replay.Answer(click, to: launch, probability: 1)
    }
}

/// Compares stated probabilities with results: of matches stated at 80 %, four in five should be right.
public struct Calibration: Equatable, Sendable {
    /// The matches whose stated probability is in one tenth of the range.
    public struct Bin: Equatable, Sendable {
        public fileprivate(set) var count = 0
        fileprivate var statedSum = 0.0
        fileprivate var rightCount = 0

        /// The mean stated probability; 0 without a match.
        public var stated: Double { count > 0 ? statedSum / Double(count) : 0 }
        /// The share of the matches that was right; 0 without a match.
        public var right: Double { count > 0 ? Double(rightCount) / Double(count) : 0 }
    }

    /// Ten bins of equal width, from 0…0.1 to 0.9…1.
    public private(set) var bins = [Bin](repeating: Bin(), count: 10)

    public init() {}

    /// Counts a match; NaN counts as 0.
    public mutating func add(stated: Double, isRight: Bool) {
        let stated = stated.isNaN ? 0 : min(max(stated, 0), 1)
        let bin = min(Int(stated * 10), 9)
        bins[bin].count += 1
        bins[bin].statedSum += stated
        if isRight { bins[bin].rightCount += 1 }
    }

    /// The expected calibration error: the mean difference between stated and right, weighted by matches.
    ///
    /// Source: Naeini, Cooper, Hauskrecht: Obtaining well calibrated probabilities using Bayesian binning (2015).
    public var error: Double {
        let total = bins.reduce(0) { $0 + $1.count }
        guard total > 0 else { return 0 }
        let off = bins.reduce(0) { $0 + abs($1.statedSum - Double($1.rightCount)) }
        return off / Double(total)
    }
}

extension ReplayScore {
    /// Counts a recorded answer.
    mutating func count(_ answer: RecordedAnswer) {
        guard answer.outcome != .replay else {
            replays += 1
            return
        }
        launches += 1
        if !answer.isCertain, let organic = answer.organicShare {
            expected += 1 - organic
            variance += organic * (1 - organic)
        }
        guard answer.outcome == .match else {
            reasons[NoMatchReason.ofVerdicts.first { $0 == answer.reason }, default: 0] += 1
            return
        }
        matches += 1
        if answer.isCertain { tokenMatches += 1 }
        if answer.isCampaignOnly { campaignMatches += 1 }
        if !answer.isCertain { expectedRight += answer.probability ?? 0 }
    }
}
