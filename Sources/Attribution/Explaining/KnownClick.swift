/// The parts of a click that an explanation needs.
public struct KnownClick: Equatable, Sendable {
    public let id: ClickID
    public var clickedAt: Timestamp
    public var expiresAt: Timestamp
    public var campaign: CampaignKey?
    public var platform: Platform
    public var isRobot: Bool
    /// When a launch consumed the click, and how it was recognised.
    public var claimedAt: Timestamp?
    public var claimedBy: AttributionMethod?
    /// Whether it was removed from the index together with another click of the same visitor.
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

    /// Why the click contains little about its visitor; nil for a complete click.
    public var basis: ClickBasis? { canonicalText.flatMap { ClickBasis(markedIn: $0) } }

    /// The relation of the click to a check.
    public enum State: String, CaseIterable, Sendable {
        /// The check got it.
        case answered
        /// The check could have got it.
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

    /// Returns the relation of the click to a check at a time.
    public func state(at time: Timestamp, isAnswer: Bool) -> State {
        if isAnswer { return .answered }
        if isRobot { return .robot }
        if clickedAt > time { return .later }
        if let claimedAt, claimedAt <= time { return .claimed }
        if expiresAt < time { return .expired }
        return isRetired ? .retired : .open
    }
}

/// What a store knows about a check, for its explanation.
public struct ExplanationInput: Sendable {
    public var record: RecordedCheck
    /// Clicks with the check's fingerprint, live or not, newest first.
    public var sameFingerprint: [KnownClick]
    /// Clicks with another fingerprint that the check got or weighed.
    public var named: [KnownClick]
    /// The app's clicks before the check that have signals, newest first.
    public var recent: [KnownClick]

    /// The largest number of clicks of each kind.
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
