/// The consumption of a click by a first launch, and what was answered: all of it is stored, so that a repeated answer is
/// the same.
///
/// A class: hardly any check ends with one, and each hands on a place for it several times.
public final class Claim: Equatable, Sendable {
    public let click: Click
    public let claimedAt: Timestamp
    public let method: AttributionMethod
    /// How likely the match is right, 0…1; nil for a claim from before that was worked out.
    public let confidence: Double?
    /// Other live clicks that the launch might have come from, his own earlier ones among them; nil as above.
    public let competingClicks: Int?
    /// Whether the campaign alone was credited, and the app's default link answered instead of the click's own.
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
