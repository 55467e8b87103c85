/// How likely a launch came for one campaign, whichever of its destinations.
public struct CampaignShare: Equatable, Sendable {
    /// See ``CreditedDestination/campaign``.
    public let campaign: UInt64
    public private(set) var probability: Double
    /// One of its clicks; nil when all of them were mere counts.
    public private(set) var click: ClickID?

    /// How many are told of a launch, the likeliest.
    public static let told = 16

    public init(campaign: UInt64, probability: Double, click: ClickID?) {
        self.campaign = campaign
        self.probability = probability
        self.click = click
    }

    /// The campaigns of destinations that are in the order of their probability.
    static func all(of destinations: [DestinationShare]) -> [CampaignShare] {
        var shares: [CampaignShare] = []
        for share in destinations where share.destination.campaign != 0 {
            if let index = shares.firstIndex(where: { $0.campaign == share.destination.campaign }) {
                shares[index].probability = min(shares[index].probability + share.probability, 1)
                shares[index].click = shares[index].click ?? share.click
            } else if shares.count < told {
                shares.append(
                    CampaignShare(
                        campaign: share.destination.campaign,
                        probability: share.probability,
                        click: share.click
                    )
                )
            }
        }
        return shares
    }
}
