/// An app's policy: how likely a click must be to match, and the answer if no click is likely enough.
public struct MatchPolicy: Equatable, Sendable {
    public enum Rule: String, CaseIterable, Sendable {
        /// A match needs a probability of at least ``MatchPolicy/minimumConfidence``. While
        /// ``MatchingModel/isFresh``, ``newest`` applies instead.
        case probability
        /// The newest click with the fingerprint matches. If its signals contradict the launch's, the newest
        /// click without a contradiction matches instead, if there is one. The probability is only reported.
        /// This rule is for apps that come from another service with the same rule.
        case newest
    }

    /// The answer if some click probably led to the launch, but no single destination is likely enough.
    public enum Ambiguity: String, CaseIterable, Sendable {
        case noMatch
        case newest
        /// Credit the campaign without the personal link, if the campaign is likely enough.
        case campaignOnly
    }

    public var rule: Rule
    /// The probability that a match needs, 0…1.
    public var minimumConfidence: Double
    public var onAmbiguity: Ambiguity
    /// Whether fingerprints may recognise a launch; if not, only tokens and ids do.
    public var usesFingerprints: Bool
    /// The longest time between click and launch for each way to recognise a launch.
    public var windows = MethodWindows()

    public static let standardMinimum = ModelConstants.minimumConfidence

    /// Creates a policy; clamps the minimum to 0…1, and replaces NaN by the standard minimum.
    public init(
        rule: Rule = .probability,
        minimumConfidence: Double = MatchPolicy.standardMinimum,
        onAmbiguity: Ambiguity = .noMatch,
        usesFingerprints: Bool = true
    ) {
        self.rule = rule
        self.minimumConfidence =
            minimumConfidence.isNaN ? Self.standardMinimum : min(max(minimumConfidence, 0), 1)
        self.onAmbiguity = onAmbiguity
        self.usesFingerprints = usesFingerprints
    }
}

/// The answer to a launch that only a fingerprint can recognise, and the figures for its record.
public struct Verdict: Equatable, Sendable {
    public enum Outcome: Equatable, Sendable {
        /// The credited click, or nil if the destination has no listed candidate: then the destination's
        /// newest click is credited.
        case match(ClickID?, CreditedDestination)
        /// The campaign without the personal link: the click (nil as in ``match``) is consumed for it.
        case campaignOnly(ClickID?, CreditedDestination)
        /// The reason is one of ``NoMatchReason/ofVerdicts``. It is nil without a live click with the
        /// fingerprint: then the reason comes from the state of the fingerprint's last click.
        case noMatch(NoMatchReason?)
    }

    public var outcome: Outcome
    /// ``AttributionMethod/probabilistic`` or ``AttributionMethod/fingerprint``.
    public var evidence: AttributionMethod
    /// The probability of the answer, or of the most likely destination if there is no match; at most
    /// ``highestConfidence``, and 0 if no click can have led to the launch or the app uses no fingerprints.
    public var confidence: Double
    /// The ``confidence`` without its limit.
    public var probability: Double
    /// The number of other live clicks with the fingerprint, including the visitor's earlier ones.
    public var competingClicks: Int
    /// The probability that no click led to the launch.
    public var organicShare: Double
    /// The amount that the launch adds to the expected conversions.
    public var expectedConversions: Double
    /// The amount that the launch adds to the variance of the expected conversions.
    public var variance: Double
    /// The most likely destinations, at most ``maximumShares``, the most likely first.
    public var shares: [DestinationShare]
    /// The amounts that the launch adds to expected conversions of at most ``CampaignShare/maximumCount`` campaigns.
    public var campaigns: [CampaignShare]

    public static let maximumShares = 8
    /// The largest confidence that is reported for a fingerprint.
    public static let highestConfidence = ModelConstants.highestConfidence

    public init(
        _ evidence: CandidateEvidence,
        launch: LaunchTraits,
        model: MatchingModel,
        policy: MatchPolicy
    ) {
        let posterior = Posterior(evidence, launch: launch, model: model)
        let live = evidence.candidates.count { $0.claimedAt == nil }
        let counted = evidence.background.reduce(0) { $0 + $1.weight }
        competingClicks = max(0, live + Int(min(max(counted, 0), 1e9)) - 1)
        organicShare = posterior.organic
        expectedConversions = posterior.conversion
        variance = posterior.conversion * (1 - posterior.conversion)
        shares = Array(posterior.destinations.prefix(Self.maximumShares))
        campaigns = CampaignShare.all(of: posterior.destinations)
        self.evidence = .fingerprint
        confidence = 0
        probability = 0
        outcome = .noMatch(nil)
        guard policy.usesFingerprints else {
            outcome = .noMatch(.fingerprintDisabled)
            return
        }
        guard let likeliest = posterior.destinations.first else { return }
        credit(likeliest.evidence, likeliest.probability)
        let newest = Self.newest(evidence, launch.signals)
        if policy.rule == .newest || model.isFresh, let newest {
            match(newest, posterior)
        } else if likeliest.probability >= policy.minimumConfidence {
            outcome = .match(likeliest.click, likeliest.destination)
        } else if posterior.conversion < policy.minimumConfidence {
            outcome = .noMatch(.belowThreshold)
        } else {
            resolveAmbiguity(posterior, newest: newest, policy)
        }
    }

    /// Applies the policy if some click probably led to the launch, but no single destination is likely enough.
    private mutating func resolveAmbiguity(_ posterior: Posterior, newest: Candidate?, _ policy: MatchPolicy)
    {
        outcome = .noMatch(.ambiguous)
        switch policy.onAmbiguity {
        case .noMatch: break
        case .newest:
            if let newest { match(newest, posterior) }
        case .campaignOnly:
            var campaigns: [UInt64: Double] = [:]
            for share in posterior.destinations where share.destination.campaign != 0 {
                campaigns[share.destination.campaign, default: 0] += share.probability
            }
            guard
                let best = posterior.destinations.max(by: {
                    campaigns[$0.destination.campaign] ?? 0 < campaigns[$1.destination.campaign] ?? 0
                }), let sum = campaigns[best.destination.campaign],
                sum >= policy.minimumConfidence
            else { return }
            credit(best.evidence, sum)
            outcome = .campaignOnly(best.click, best.destination)
        }
    }

    private mutating func match(_ newest: Candidate, _ posterior: Posterior) {
        outcome = .match(newest.click, newest.destination)
        if let share = posterior.destinations.first(where: { $0.destination == newest.destination }) {
            credit(share.evidence, share.probability)
        }
    }

    private mutating func credit(_ evidence: AttributionMethod, _ probability: Double) {
        self.evidence = evidence
        self.probability = min(max(probability, 0), 1)
        confidence = min(self.probability, Self.highestConfidence)
    }

    /// Returns the newest live click whose signals do not contradict the launch's; if all contradict them,
    /// the newest one; nil without a live click.
    private static func newest(_ evidence: CandidateEvidence, _ signals: SignalHashes) -> Candidate? {
        let live = evidence.candidates.filter { $0.claimedAt == nil }
        let newest = live.min(by: Visitor.isNewer)
        guard !signals.isEmpty else { return newest }
        return live.filter { $0.signals.agrees(with: signals) != false }.min(by: Visitor.isNewer) ?? newest
    }
}
