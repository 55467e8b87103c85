/// The consumption of a click by a first launch, and the answer.
///
/// The answer is stored, so that a repeated check gets the same one.
///
/// It is a class, because every check passes an optional claim several times: a reference is cheap to pass, and few
/// checks have a claim.
public final class Claim: Equatable, Sendable {
    public let click: Click
    public let claimedAt: Timestamp
    public let method: AttributionMethod
    /// The probability that the match is right, 0…1; nil for an old claim that was stored without it.
    public let confidence: Double?
    /// The number of other live clicks with the fingerprint, including the visitor's earlier ones; 0 for a
    /// certain match, and nil for an old claim that was stored without the number.
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
        (self.click, self.claimedAt, self.method) = (click, claimedAt, method)
        (self.confidence, self.competingClicks) = (confidence, competingClicks)
        self.isCampaignOnly = isCampaignOnly
    }

    /// Whether a ``PlayFinding`` has lowered the confidence of the method, so that nothing is learnt from the match.
    public var hasFinding: Bool { (confidence ?? 1) < (method.confidence ?? 0) }

    /// Whether the launch can only come from the visitor who clicked.
    public var isGuaranteed: Bool { method.isGuaranteed && !hasFinding }

    public static func == (left: Claim, right: Claim) -> Bool {
        left.click == right.click && left.claimedAt == right.claimedAt && left.method == right.method
            && left.confidence == right.confidence && left.competingClicks == right.competingClicks
            && left.isCampaignOnly == right.isCampaignOnly
    }
}

/// Records the delivery of a match's response, which decides whether another check may get that response.
public protocol Receipt: Sendable {
    /// Records that the response to a claim is about to be written: a check whose first byte is read from now
    /// on may get the response again.
    func willRespond()

    /// Records that the response was delivered: the click belongs to that client.
    func delivered()

    /// Records that the delivery failed: the next check with the same fingerprint, token or id gets the answer, once.
    ///
    /// This has no effect if the response was delivered before: then only the caller of that response can get
    /// the answer again.
    func failed()
}
