/// The probabilities that a launch came for each destination, and that it came from no click.
///
/// Let h be the launch's fingerprint, and c a live click with it. The click leads to such launches at the
/// rate n(c) = k · s · w · f(age) · LR(address) · LR(system) · LR(signals). Here k is the number of
/// conversions (launches) per click, and s is the share of them through fingerprints of h's form. Further, w
/// is the weight of the click's fingerprint, f the density of delays, and LR a likelihood ratio. People who
/// never clicked cause such launches at the rate L(h), and reinstallations at the rate R. The probability
/// that c led to the launch is therefore P(c) = n(c) / (Σ n + L(h) + R).
public struct Posterior: Sendable {
    /// Every destination of a listed or counted click, the most likely first.
    public let destinations: [DestinationShare]
    /// The probability that no click led to the launch.
    public let organic: Double

    public init(_ evidence: CandidateEvidence, launch: LaunchTraits, model: MatchingModel) {
        let rates = LaunchRates(evidence, launch: launch, model: model)
        let withoutClick = rates.reinstalls + rates.intensity.stated
        let total = rates.clicks + withoutClick
        guard total > 0, total.isFinite else {
            destinations = []
            organic = 1
            return
        }
        organic = withoutClick / total
        destinations = Self.summed(rates).map { destination, entry in
            DestinationShare(
                destination: destination,
                probability: entry.rate / total,
                click: entry.best?.last.click,
                clickedAt: entry.best?.last.clickedAt,
                evidence: entry.best?.evidence ?? .fingerprint
            )
        }.sorted(by: DestinationShare.isLikelier)
    }

    /// The probability p that a click led to the launch: the launch adds p to the expected conversions.
    ///
    /// The standard deviation of the expected conversions is the square root of the sum of p · (1 − p).
    public var conversion: Double { max(0, 1 - organic) }

    private struct Entry {
        var rate = 0.0
        var best: LaunchRates.VisitorRate?
    }

    private static func summed(_ rates: LaunchRates) -> [CreditedDestination: Entry] {
        var sums: [CreditedDestination: Entry] = [:]
        for visitor in rates.visitors where visitor.rate > 0 {
            var entry = sums[visitor.last.destination] ?? Entry()
            entry.rate += visitor.rate
            if visitor.rate > entry.best?.rate ?? -1 { entry.best = visitor }
            sums[visitor.last.destination] = entry
        }
        for count in rates.background {
            guard let destination = count.destination else { continue }
            sums[destination, default: Entry()].rate += count.rate
        }
        return sums
    }
}

/// The probability that a launch came for one destination.
public struct DestinationShare: Equatable, Sendable {
    public let destination: CreditedDestination
    public let probability: Double
    /// The last click of the destination's most likely visitor.
    ///
    /// Nil if none of the destination's clicks is listed as a candidate; a match then takes the destination's
    /// newest click.
    public let click: ClickID?
    public let clickedAt: Timestamp?
    /// ``AttributionMethod/probabilistic`` if the click's address agrees or its signals were compared, else
    /// ``AttributionMethod/fingerprint``.
    public let evidence: AttributionMethod

    /// Orders by probability; among equals by the time of the click and then by its id, the larger first.
    static func isLikelier(_ left: DestinationShare, _ right: DestinationShare) -> Bool {
        if left.probability != right.probability { return left.probability > right.probability }
        if left.clickedAt != right.clickedAt {
            return (left.clickedAt?.milliseconds ?? .min) > (right.clickedAt?.milliseconds ?? .min)
        }
        if let click = left.click, let other = right.click, click != other { return click > other }
        return (left.destination.url, left.destination.campaign)
            > (right.destination.url, right.destination.campaign)
    }
}

/// The probability that a launch came for any destination of one campaign.
public struct CampaignShare: Equatable, Sendable {
    /// The first word of a hash of the campaign, as in ``CreditedDestination/campaign``.
    public let campaign: UInt64
    public private(set) var probability: Double
    /// One of the campaign's clicks; nil if none is listed as a candidate.
    public private(set) var click: ClickID?

    /// The largest number of campaigns for one launch; campaigns with the least likely destinations are omitted.
    public static let maximumCount = 16

    /// Returns the campaigns of destinations that are ordered by their probability.
    static func all(of destinations: [DestinationShare]) -> [CampaignShare] {
        var shares: [CampaignShare] = []
        for share in destinations where share.destination.campaign != 0 {
            if let index = shares.firstIndex(where: { $0.campaign == share.destination.campaign }) {
                shares[index].probability = min(shares[index].probability + share.probability, 1)
                shares[index].click = shares[index].click ?? share.click
            } else if shares.count < maximumCount {
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
