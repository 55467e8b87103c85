/// The outcome of a check.
public enum MatchOutcome: Equatable, Sendable {
    /// A claim consumed a click for this check, and was counted in the same transaction.
    case match(Claim)
    /// The caller got an earlier answer: either its own, because the first response may not have arrived, or another
    /// caller's, because its delivery failed.
    case replay(Claim)
    case noMatch(NoMatchReason)
}

/// The outcome of a check and the facts that decided it: the input of counting, recording and learning.
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
    /// The probabilities of the weighed clicks.
    ///
    /// Nil if no live click has one of the launch's fingerprints, if the answer is an earlier one, or if the
    /// check got another click than the one that it chose first.
    public var verdict: Verdict?
    /// The input of the verdict; nil without a verdict.
    public var evidence: CandidateEvidence?
    public var model: MatchingModel?
    /// Whether the check lost the click that it first chose, in most cases to another check: the model learns
    /// nothing from such a check.
    public var hasLostRace = false
    /// The hash of the launch's first fingerprint under the first server key that has clicks with this fingerprint.
    ///
    /// Nil if that key is the current one, or if no key has such clicks.
    public var storedFingerprint: KeyedHash?

    public init() {}
}
