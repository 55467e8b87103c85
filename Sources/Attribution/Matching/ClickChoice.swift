/// The click that a check is to be answered with, and what the answer says of it.
public struct ClickChoice: Equatable, Sendable {
    public enum Target: Hashable, Sendable {
        case click(ClickID)
        /// The newest live click with one of the check's fingerprints and this destination.
        case newest(of: CreditedDestination)

        /// Where it is to be found by its destination.
        var destinations: Set<CreditedDestination> {
            switch self {
            case .click: []
            case .newest(let destination): [destination]
            }
        }
    }

    public var target: Target
    public var method: AttributionMethod
    /// 0…1; nil where it was not worked out.
    public var confidence: Double?
    /// Nil as above.
    public var competingClicks: Int?
    public var isCampaignOnly: Bool

    public init(
        _ target: Target,
        method: AttributionMethod,
        confidence: Double? = nil,
        competingClicks: Int? = nil,
        isCampaignOnly: Bool = false
    ) {
        self.target = target
        self.method = method
        self.confidence = confidence
        self.competingClicks = competingClicks
        self.isCampaignOnly = isCampaignOnly
    }

    /// By a sure way: nobody competes with it.
    public init(_ click: ClickID, method: AttributionMethod) {
        self.init(.click(click), method: method, confidence: method.confidence, competingClicks: 0)
    }
}
