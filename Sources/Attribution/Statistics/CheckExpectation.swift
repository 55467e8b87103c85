/// What one check adds to the expected conversions.
public struct CheckExpectation: Equatable, Sendable {
    /// A campaign and what it gets of it.
    public enum Part: Equatable, Sendable {
        /// Of the click that a sure way led to.
        case named(CampaignKey, ExpectedConversions)
        /// Known by its hash; see ``CampaignShare``.
        case hashed(CampaignShare, ExpectedConversions)
    }

    public let total: ExpectedConversions
    public let parts: [Part]

    /// Nil for a repeated answer, and for a check that no click can have led to.
    public init?(_ report: CheckReport) {
        switch report.ending {
        case .replay: return nil
        case .match(let claim) where claim.method.confidence != nil || report.verdict == nil:
            total = ExpectedConversions(probability: claim.confidence ?? 1)
            let total = total
            parts = claim.click.facts.campaignKey.map { [.named($0, total)] } ?? []
        case .match, .noMatch:
            guard let verdict = report.verdict else { return nil }
            total = ExpectedConversions(probability: verdict.expectedConversions)
            parts = verdict.campaigns.map {
                .hashed($0, ExpectedConversions(probability: $0.probability))
            }
        }
    }
}
