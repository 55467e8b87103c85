/// Whether anything beside the fingerprint spoke for a click.
public enum MatchEvidence: Equatable, Sendable {
    /// The address or signals.
    case probabilistic
    case fingerprint
}

/// How likely a launch came for one destination.
public struct DestinationShare: Equatable, Sendable {
    public let destination: CreditedDestination
    public let probability: Double
    /// The likeliest of the clicks that were told one by one, as its visitor's last.
    ///
    /// Nil when all of them were mere counts: then the newest click of the destination is meant.
    public let click: ClickID?
    public let clickedAt: Timestamp?
    public let evidence: MatchEvidence

    public init(
        destination: CreditedDestination,
        probability: Double,
        click: ClickID?,
        clickedAt: Timestamp?,
        evidence: MatchEvidence
    ) {
        self.destination = destination
        self.probability = probability
        self.click = click
        self.clickedAt = clickedAt
        self.evidence = evidence
    }

    /// By probability; the newer and then the later click among equals.
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
