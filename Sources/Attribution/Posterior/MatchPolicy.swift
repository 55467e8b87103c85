/// What an app wants done with a posterior.
public struct MatchPolicy: Equatable, Sendable {
    public enum Rule: String, CaseIterable, Sendable {
        /// A match needs its probability.
        case probability
        /// The newest click with the fingerprint matches whatever its probability, which is still stated: for moving
        /// from services that do so.
        case newest
    }

    /// What is answered when a click led to the launch but none is likely enough to be it.
    public enum Ambiguity: String, CaseIterable, Sendable {
        case noMatch
        case newest
        /// The campaign is credited and the personal link left out, where the campaign is likely enough.
        case campaignOnly
    }

    public var rule: Rule
    /// The probability that a match needs, 0…1.
    public var minimumConfidence: Double
    public var onAmbiguity: Ambiguity
    /// Whether fingerprints may recognise anybody; switched off, only tokens and ids do.
    public var usesFingerprints: Bool

    public static let standardMinimum = 0.70

    /// The minimum is held within 0…1; what is not a number is the standard.
    public init(
        rule: Rule = .probability,
        minimumConfidence: Double = MatchPolicy.standardMinimum,
        onAmbiguity: Ambiguity = .noMatch,
        usesFingerprints: Bool = true
    ) {
        self.rule = rule
        self.minimumConfidence =
            minimumConfidence.isNaN ? Self.standardMinimum : min(max(minimumConfidence, 0), 1)
        self.onAmbiguity = onAmbiguity
        self.usesFingerprints = usesFingerprints
    }
}
