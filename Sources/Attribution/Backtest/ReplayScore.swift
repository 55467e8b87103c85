/// How a replay went: what was answered and, where the truth is known, how much of it was right.
///
/// Launches of the warm-up are left out; repeated answers, and launches that the truth calls retries, count as no launches.
public struct ReplayScore: Equatable, Sendable {
    public var launches = 0
    public var matches = 0
    /// Of the matches, those by a click's own token.
    public var tokenMatches = 0
    /// Of the matches, those that credit a campaign and leave the link out.
    public var campaignMatches = 0
    /// Launches that were given the answer of an earlier one.
    public var replays = 0
    /// Launches without a match by what the verdict says.
    public var reasons: [Verdict.Reason: Int] = [:]
    /// The sum of the probabilities that a click led to the launch, of launches that only a fingerprint could recognise.
    public var expected = 0.0
    /// The square of its spread.
    public var variance = 0.0

    /// Of the matches by a fingerprint, so many are expected to be right: the sum of what is stated of them, unlimited.
    public var expectedRight = 0.0
    /// What the fingerprint alone says of launches that a token recognised.
    public var besideTokens = TokenTrials()

    /// Launches whose truth is known, and the matches among them.
    public var knownLaunches = 0
    public var knownMatches = 0
    /// Launches that a click led to whose window had not ended.
    public var conversions = 0
    /// Launches that a click led to whose window had ended.
    public var lateConversions = 0
    /// Launches whose truth names a click that was never recorded.
    public var unknownClicks = 0
    /// Matches with the link and campaign of the click that led to the launch.
    public var rightLink = 0
    /// Matches with a click of the very person.
    public var rightPerson = 0
    public var organic = 0
    public var organicMatched = 0
    public var reinstalls = 0
    public var reinstallsMatched = 0
    /// Clicks that were given to two launches: there must be none.
    public var clicksUsedTwice = 0
    /// Of the confidence as it is stated, which never exceeds ``Verdict/highestConfidence``.
    public var calibration = Calibration()
    /// Of the same without that limit.
    public var uncappedCalibration = Calibration()

    public init() {}

    /// How many launches clicks led to, as the probabilities say: those by token are certain.
    public var expectedConversions: Double { expected + Double(tokenMatches) }
    /// The spread of the expected conversions: one standard deviation.
    public var spread: Double { variance.squareRoot() }

    public var matchRate: Double? { Self.ratio(matches, launches) }
    /// The share of matches that are right, by link and campaign; nil where the truth of none is known.
    public var precision: Double? { Self.ratio(rightLink, knownMatches) }
    public var personPrecision: Double? { Self.ratio(rightPerson, knownMatches) }
    /// The share of conversions that were given their link.
    public var found: Double? { Self.ratio(rightLink, conversions) }
    /// The share of launches from no click that were given one.
    public var falseAttribution: Double? { Self.ratio(organicMatched, organic) }
    /// The share of reinstalls that were given a click.
    public var rematched: Double? { Self.ratio(reinstallsMatched, reinstalls) }

    private static func ratio(_ part: Int, _ whole: Int) -> Double? {
        whole > 0 ? Double(part) / Double(whole) : nil
    }
}

/// What fingerprints alone say of launches that tokens recognised: there the truth is known without anybody's word.
public struct TokenTrials: Equatable, Sendable {
    public var launches = 0
    /// Those that the fingerprint would have given a match.
    public var matches = 0
    /// Of these, those with the link, or else the campaign, of the token's click.
    public var right = 0
    public var calibration = Calibration()

    public init() {}

    public var precision: Double? { matches > 0 ? Double(right) / Double(matches) : nil }
    /// The share that the fingerprint would have given the right link.
    public var found: Double? { launches > 0 ? Double(right) / Double(launches) : nil }
}
