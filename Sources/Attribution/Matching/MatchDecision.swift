/// The answer to a check, computed from the stored facts about it.
public struct MatchDecision: Sendable {
    /// Nil for no match.
    public let choice: ClickChoice?
    /// The verdict on the weighed clicks, even if a certain match decided; nil if none was weighed.
    public let verdict: Verdict?
    /// The reason if there is no choice.
    public let reason: NoMatchReason

    public init(_ view: CheckView, _ check: Check) {
        if let certain = view.certainChoice {
            choice = certain
            verdict = Self.verdict(view, check)
            reason = view.reason
            return
        }
        let verdict = Self.verdict(view, check)
        self.verdict = verdict
        choice = verdict.flatMap { ClickChoice($0) }
        reason = Self.reason(verdict?.noMatchReason ?? view.reason, check)
    }

    private static func verdict(_ view: CheckView, _ check: Check) -> Verdict? {
        guard let evidence = view.evidence, let model = view.model else { return nil }
        return Verdict(evidence, launch: check.traits, model: model, policy: check.policy)
    }

    /// Returns the reason to report: the reason of a rejected token, else `reason`.
    ///
    /// If Google Play states an organic installation, ``NoMatchReason/noClick`` becomes ``NoMatchReason/organic``.
    /// Otherwise, if the app uses no fingerprints, it becomes ``NoMatchReason/fingerprintDisabled``.
    static func reason(_ reason: NoMatchReason, _ check: Check) -> NoMatchReason {
        if let refusal = check.ladder.refusal { return NoMatchReason(refusal) }
        if reason == .noClick, check.ladder.isOrganic { return .organic }
        if reason == .noClick, check.ladder.fingerprints.isEmpty, !check.policy.usesFingerprints {
            return .fingerprintDisabled
        }
        return reason
    }
}

extension ClickChoice {
    /// Nil for a verdict of no match.
    public init?(_ verdict: Verdict) {
        let (click, destination, isCampaignOnly): (ClickID?, CreditedDestination, Bool)
        switch verdict.outcome {
        case .match(let found, let place): (click, destination, isCampaignOnly) = (found, place, false)
        case .campaignOnly(let found, let place): (click, destination, isCampaignOnly) = (found, place, true)
        case .noMatch: return nil
        }
        self.init(
            click.map { .click($0) } ?? .newest(of: destination),
            method: verdict.evidence,
            confidence: verdict.confidence,
            competingClicks: verdict.competingClicks,
            isCampaignOnly: isCampaignOnly
        )
    }
}

extension Verdict {
    /// Nil for a match, for a campaign-only answer, and without a live click with the fingerprint.
    public var noMatchReason: NoMatchReason? {
        guard case .noMatch(let reason) = outcome else { return nil }
        return reason
    }
}
