/// What is answered to a launch that only a fingerprint can recognise, and what its record says.
public struct Verdict: Equatable, Sendable {
    public enum Outcome: Equatable, Sendable {
        /// The click, or the destination's newest where it was a mere count.
        case match(ClickID?, CreditedDestination)
        /// The campaign without the personal link, for this click.
        case campaignOnly(ClickID?, CreditedDestination)
        case noMatch(Reason)
    }

    public enum Reason: String, CaseIterable, Sendable {
        /// There is no live click with the fingerprint; the store knows what became of the last one.
        case noCandidate = "no_candidate"
        /// Most likely it came from no click.
        case belowThreshold = "below_threshold"
        /// A click led to it, but several destinations compete.
        case ambiguous
        case fingerprintDisabled = "fingerprint_disabled"
    }

    public var outcome: Outcome
    public var evidence: MatchEvidence
    /// The probability of the answer, at most ``highestConfidence``; of the likeliest destination when there is no
    /// match.
    public var confidence: Double
    /// The same without that limit.
    public var probability: Double
    /// Other live clicks with the fingerprint, his own earlier ones among them.
    public var competingClicks: Int
    /// The probability that no click led to the launch.
    public var organicShare: Double
    /// What the launch adds to the expected conversions, and to the square of their spread.
    public var expectedConversions: Double
    public var variance: Double
    /// The likeliest destinations, at most ``toldShares``.
    public var shares: [DestinationShare]
    /// What each campaign adds to its own expected conversions, at most ``CampaignShare/told``.
    public var campaigns: [CampaignShare]

    public static let toldShares = 8

    /// The largest confidence that is stated of a fingerprint: as much as of a signed token, and never certainty.
    ///
    /// Matches at the limit are right in 99 of 100 cases in the simulated worlds. A lower limit understates most matches:
    /// 0.95 alone made the calibration error 0.04.
    public static let highestConfidence = 0.99

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
        shares = Array(posterior.destinations.prefix(Self.toldShares))
        campaigns = CampaignShare.all(of: posterior.destinations)
        self.evidence = .fingerprint
        confidence = 0
        probability = 0
        outcome = .noMatch(.noCandidate)
        guard policy.usesFingerprints else {
            outcome = .noMatch(.fingerprintDisabled)
            return
        }
        guard let likeliest = posterior.destinations.first else { return }
        decide(
            posterior,
            likeliest,
            newest: Self.newest(evidence, launch.signals),
            isFresh: model.isFresh,
            policy
        )
    }

    private mutating func decide(
        _ posterior: Posterior,
        _ likeliest: DestinationShare,
        newest: Candidate?,
        isFresh: Bool,
        _ policy: MatchPolicy
    ) {
        credit(likeliest.evidence, likeliest.probability)
        let isPlain = policy.rule == .newest || isFresh
        if isPlain, let newest {
            match(newest, posterior)
        } else if likeliest.probability >= policy.minimumConfidence {
            outcome = .match(likeliest.click, likeliest.destination)
        } else if posterior.conversion < policy.minimumConfidence {
            outcome = .noMatch(.belowThreshold)
        } else {
            settle(posterior, newest: newest, policy)
        }
    }

    /// A click led to the launch, and it is not clear which.
    private mutating func settle(_ posterior: Posterior, newest: Candidate?, _ policy: MatchPolicy) {
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

    private mutating func credit(_ evidence: MatchEvidence, _ probability: Double) {
        self.evidence = evidence
        self.probability = min(max(probability, 0), 1)
        confidence = min(self.probability, Self.highestConfidence)
    }

    /// The newest click; for a launch that tells more than its fingerprint, of those that do not tell otherwise, if any.
    private static func newest(_ evidence: CandidateEvidence, _ signals: SignalHashes) -> Candidate? {
        let live = evidence.candidates.filter { $0.claimedAt == nil }
        let newest = live.min(by: Visitor.isNewer)
        guard !signals.isEmpty else { return newest }
        return live.filter { $0.signals.agrees(with: signals) != false }.min(by: Visitor.isNewer) ?? newest
    }
}
