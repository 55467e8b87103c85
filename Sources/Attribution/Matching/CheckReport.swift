/// The outcome of a check.
public enum MatchOutcome: Equatable, Sendable {
    /// A claim consumed a click for this check, and was counted in the same transaction.
    case match(Claim)
    /// The caller got its earlier answer again, because the first response may not have arrived.
    case replay(Claim)
    case noMatch(NoMatchReason)
}

/// The outcome of a check and its basis: the input of counting, recording and learning.
public struct CheckReport: Sendable {
    public var ending: MatchOutcome
    public var basis: CheckBasis

    public init(_ ending: MatchOutcome, _ basis: CheckBasis = CheckBasis()) {
        self.ending = ending
        self.basis = basis
    }
}

/// The facts that decided a check: the input of its record and of learning.
public struct CheckBasis: Sendable {
    /// Nil if no live click has one of the launch's fingerprints, the answer is a repetition, or the check
    /// got another click than the one it chose first.
    public var verdict: Verdict?
    /// The input of the verdict; nil without one.
    public var evidence: CandidateEvidence?
    public var model: MatchingModel?
    /// Whether another check took a click that this one chose: the model learns nothing from such a check.
    public var hasLostRace = false
    /// The launch's fingerprint under a former server key, if only older clicks have it.
    public var storedFingerprint: KeyedHash?

    public init() {}
}
