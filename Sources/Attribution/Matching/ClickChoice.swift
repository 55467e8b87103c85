/// The click that a check has chosen, and the properties of the answer.
public struct ClickChoice: Equatable, Sendable {
    public enum Target: Hashable, Sendable {
        case click(ClickID)
        /// The newest live click with one of the check's fingerprints and this destination.
        case newest(of: CreditedDestination)

        /// The destination of ``newest(of:)``; empty for ``click(_:)``.
        var destinations: Set<CreditedDestination> {
            switch self {
            case .click: []
            case .newest(let destination): [destination]
            }
        }
    }

    public var target: Target
    public var method: AttributionMethod
    /// The probability that the answer is right, 0…1; nil if it was not computed.
    public var confidence: Double?
    /// The number of other live clicks with the fingerprint; 0 for a certain match, nil if they were not counted.
    public var competingClicks: Int?
    public var isCampaignOnly: Bool
    /// Why Google Play's report casts doubt on a certain match; nil if it does not.
    public var finding: PlayFinding?

    public init(
        _ target: Target,
        method: AttributionMethod,
        confidence: Double? = nil,
        competingClicks: Int? = nil,
        isCampaignOnly: Bool = false
    ) {
        (self.target, self.method, self.confidence) = (target, method, confidence)
        (self.competingClicks, self.isCampaignOnly) = (competingClicks, isCampaignOnly)
    }

    /// Creates the choice of a certain match, with which no other click competes.
    ///
    /// A finding replaces the confidence of the method.
    public init(_ click: ClickID, method: AttributionMethod, finding: PlayFinding? = nil) {
        let confidence = finding == nil ? method.confidence : PlayFinding.confidence
        self.init(.click(click), method: method, confidence: confidence, competingClicks: 0)
        self.finding = finding
    }
}
