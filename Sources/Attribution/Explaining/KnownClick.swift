/// A click as far as an explanation speaks of it.
public struct KnownClick: Equatable, Sendable {
    public let id: ClickID
    public var clickedAt: Timestamp
    public var expiresAt: Timestamp
    public var campaign: CampaignKey?
    public var platform: Platform
    public var isRobot: Bool
    /// When a launch consumed it, and how that was recognised.
    public var claimedAt: Timestamp?
    public var claimedBy: AttributionMethod?
    /// Taken out of what checks look into with another click of the same visitor.
    public var isRetired: Bool
    /// How its address compares with the launch's.
    public var agreement: AddressAgreement
    /// ``ClickEvidence/canonicalText``.
    public var canonicalText: String?

    public init(
        id: ClickID,
        clickedAt: Timestamp,
        expiresAt: Timestamp,
        campaign: CampaignKey? = nil,
        platform: Platform = .unknown,
        isRobot: Bool = false,
        claimedAt: Timestamp? = nil,
        claimedBy: AttributionMethod? = nil,
        isRetired: Bool = false,
        agreement: AddressAgreement = .missing,
        canonicalText: String? = nil
    ) {
        self.id = id
        self.clickedAt = clickedAt
        self.expiresAt = expiresAt
        self.campaign = campaign
        self.platform = platform
        self.isRobot = isRobot
        self.claimedAt = claimedAt
        self.claimedBy = claimedBy
        self.isRetired = isRetired
        self.agreement = agreement
        self.canonicalText = canonicalText
    }

    /// Nil where a page's script, or somebody's server, told all that it knew.
    public var basis: ClickBasis? { canonicalText.flatMap { ClickBasis(markedIn: $0) } }

    /// What the click was to a check.
    public enum State: String, CaseIterable, Sendable {
        /// The check was answered with it.
        case answered
        /// It could have been.
        case open
        /// Another launch had consumed it.
        case claimed
        /// Its visitor clicked again, and a launch consumed that click.
        case retired
        case expired
        case robot
        /// It came after the check.
        case later
    }

    /// What the click was to a check at a moment.
    public func state(at moment: Timestamp, isAnswer: Bool) -> State {
        if isAnswer { return .answered }
        if isRobot { return .robot }
        if clickedAt > moment { return .later }
        if let claimedAt, claimedAt <= moment { return .claimed }
        if expiresAt < moment { return .expired }
        return isRetired ? .retired : .open
    }
}

/// What a store has for an explanation.
public struct ExplanationInput: Sendable {
    public var record: RecordedCheck
    /// Clicks with the check's fingerprint, live ones and others, the newest first.
    public var sameFingerprint: [KnownClick]
    /// Clicks that the check was answered with or weighed, where they have another fingerprint.
    public var named: [KnownClick]
    /// The app's clicks before the check that brought signals, the newest first.
    public var recent: [KnownClick]

    /// How many clicks are told of each kind.
    public static let sameFingerprintLimit = 20
    public static let recentLimit = 2000

    public init(
        record: RecordedCheck,
        sameFingerprint: [KnownClick] = [],
        named: [KnownClick] = [],
        recent: [KnownClick] = []
    ) {
        self.record = record
        self.sameFingerprint = sameFingerprint
        self.named = named
        self.recent = recent
    }
}
