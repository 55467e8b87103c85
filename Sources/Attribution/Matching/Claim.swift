/// The consumption of a click by a first launch, and the answer, which is stored so that a repetition is the
/// same.
///
/// A class: each check passes a reference to a claim several times, although few checks end with a claim.
public final class Claim: Equatable, Sendable {
    public let click: Click
    public let claimedAt: Timestamp
    public let method: AttributionMethod
    /// The probability that the match is right, 0…1; nil for a claim stored before it was computed.
    public let confidence: Double?
    /// The number of other live clicks that the launch might have come from, including the visitor's earlier
    /// ones; nil for a claim from before it was counted.
    public let competingClicks: Int?
    /// Whether only the campaign was credited, so that the answer was the app's default link instead of the
    /// click's own.
    public let isCampaignOnly: Bool

    public init(
        click: Click,
        claimedAt: Timestamp,
        method: AttributionMethod,
        confidence: Double? = nil,
        competingClicks: Int? = nil,
        isCampaignOnly: Bool = false
    ) {
        self.click = click
        self.claimedAt = claimedAt
        self.method = method
        self.confidence = confidence
        self.competingClicks = competingClicks
        self.isCampaignOnly = isCampaignOnly
    }

    public static func == (left: Claim, right: Claim) -> Bool {
        left.click == right.click && left.claimedAt == right.claimedAt && left.method == right.method
            && left.confidence == right.confidence && left.competingClicks == right.competingClicks
            && left.isCampaignOnly == right.isCampaignOnly
    }
}

/// Records the delivery of a match's response, which decides whether another check may get the click.
public protocol Receipt: Sendable {
    /// Records that the response to a claim is about to be written: a check whose first byte is read from now on may ask
    /// for it again.
    func willRespond()

    /// Records that the response was delivered: the click belongs to that client.
    func delivered()

    /// Records that the delivery failed: the next check with the fingerprint gets the response, once.
    ///
    /// It has no effect if the response was delivered before: only that caller can request it again.
    func failed()
}
