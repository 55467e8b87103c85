/// A first launch asking whether a click led to it.
public struct Check: Equatable, Sendable {
    public var app: AppID
    public var isTest: Bool
    /// The fingerprint that the client sent, keyed.
    public var fingerprint: KeyedHash
    /// Who may ask for a lost answer again.
    public var caller: Caller
    /// From the install id, where the client sent one.
    ///
    /// With it, the grace is never used.
    public var install: KeyedHash?
    /// When the check happened; expiry is judged by it.
    public var at: Timestamp
    /// When its first byte was read, in nanoseconds of the process's monotonic clock.
    public var firstByteAt: UInt64
    /// How long after an answer the same caller may have it again, in milliseconds; 0 switches it off.
    public var replayGrace: Int64
    public var platform: Platform
    /// When its answer must be decided, in the store's own time; see ``ClickStore/begin(_:)``.
    public var deadline: UInt64 = .max

    public init(
        app: AppID,
        isTest: Bool = false,
        fingerprint: KeyedHash,
        caller: Caller,
        install: KeyedHash? = nil,
        at: Timestamp,
        firstByteAt: UInt64,
        replayGrace: Int64,
        platform: Platform = .unknown
    ) {
        self.app = app
        self.isTest = isTest
        self.fingerprint = fingerprint
        self.caller = caller
        self.install = install
        self.at = at
        self.firstByteAt = firstByteAt
        self.replayGrace = replayGrace
        self.platform = platform
    }
}

/// The consumption of a click by a first launch, and what was answered.
public struct Claim: Equatable, Sendable {
    public let click: Click
    public let claimedAt: Timestamp
    public let method: AttributionMethod
    /// How likely the match is right, where that has been worked out.
    public let confidence: Double?

    public init(click: Click, claimedAt: Timestamp, method: AttributionMethod, confidence: Double? = nil) {
        self.click = click
        self.claimedAt = claimedAt
        self.method = method
        self.confidence = confidence
    }
}

/// How a launch was recognised, in the order in which the methods are tried.
///
/// The raw value is the word on the wire and in the database.
public enum AttributionMethod: String, CaseIterable, Sendable {
    /// It brought a click's own token.
    case signedToken = "signed_token"
    /// It brought a click's identifier.
    case clickID = "click_id"
    /// It has the IDFA that an ad network put on the click.
    case idfa
    /// As ``idfa``, with Google's advertising id.
    case gaid
    /// Fingerprint, and address or signals, make a click likely.
    case probabilistic
    /// The fingerprint alone makes a click likely.
    case fingerprint

    /// How likely a match by a method is right that does not depend on the traffic; nil where each match has a
    /// probability of its own.
    public var confidence: Double? {
        switch self {
        case .signedToken: 0.99
        case .clickID, .idfa, .gaid: 0.95
        case .probabilistic, .fingerprint: nil
        }
    }

    /// Whether nobody else than whom the click sent can have been recognised so.
    public var isGuaranteed: Bool { self == .signedToken }
}

/// Why a check found nothing.
///
/// The raw value is the word in statistics and in answers to test keys.
public enum NoMatchReason: String, CaseIterable, Sendable {
    case noClick = "no_click"
    case expired
    case alreadyClaimed = "already_claimed"
    case robotClick = "robot_click"
}

/// How a check ended that consumed nothing.
public enum CheckEnding: Equatable, Sendable {
    case noMatch(NoMatchReason)
    case replay(Claim)
}

public enum MatchOutcome: Equatable, Sendable {
    /// The click was consumed for this check.
    case match(Claim)
    /// The same answer as before, for a caller who may have lost it.
    case replay(Claim)
    case noMatch(NoMatchReason)
}
