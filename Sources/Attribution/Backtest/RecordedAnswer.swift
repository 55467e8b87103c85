/// What a launch was really answered, as it was recorded.
public struct RecordedAnswer: Equatable, Sendable {
    public var outcome: CheckOutcome
    /// The name of the click that it was given.
    public var click: UInt64?
    public var method: AttributionMethod?
    public var isCampaignOnly: Bool
    /// Why it was given none.
    public var reason: NoMatchReason?
    /// How likely the answer was right without ``Verdict/highestConfidence``, as far as that was recorded.
    public var probability: Double?
    /// The probability that no click led to the launch; nil where nothing was weighed.
    public var organicShare: Double?

    public init(
        _ outcome: CheckOutcome,
        click: UInt64? = nil,
        method: AttributionMethod? = nil,
        isCampaignOnly: Bool = false,
        reason: NoMatchReason? = nil,
        probability: Double? = nil,
        organicShare: Double? = nil
    ) {
        self.outcome = outcome
        self.click = click
        self.method = method
        self.isCampaignOnly = isCampaignOnly
        self.reason = reason
        self.probability = probability
        self.organicShare = organicShare
    }

    /// Whether a surer way than the fingerprint decided.
    public var isSure: Bool { method?.confidence != nil }
}

extension ReplayScore {
    /// Counts what a launch was really answered.
    mutating func count(_ answer: RecordedAnswer) {
        guard answer.outcome != .replay else {
            replays += 1
            return
        }
        launches += 1
        if !answer.isSure, let organic = answer.organicShare {
            expected += 1 - organic
            variance += organic * (1 - organic)
        }
        guard answer.outcome == .match else {
            reasons[answer.reason?.verdictReason ?? .noCandidate, default: 0] += 1
            return
        }
        matches += 1
        if answer.isSure { tokenMatches += 1 }
        if answer.isCampaignOnly { campaignMatches += 1 }
        if !answer.isSure { expectedRight += answer.probability ?? 0 }
    }
}

extension NoMatchReason {
    /// What a verdict says of such a launch: most have no candidate.
    fileprivate var verdictReason: Verdict.Reason {
        switch self {
        case .belowThreshold: .belowThreshold
        case .ambiguous: .ambiguous
        case .fingerprintDisabled: .fingerprintDisabled
        case .noClick, .expired, .alreadyClaimed, .robotClick, .otherApp, .tokenInvalid, .tokenUsed:
            .noCandidate
        }
    }
}
