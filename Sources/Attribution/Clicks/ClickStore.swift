/// The outcome of recording a click.
public enum RecordOutcome: Equatable, Sendable {
    case recorded(Click)
    /// The post repeats an earlier one.
    ///
    /// The values are the click that was recorded first, and whether this post's fingerprint finds that click. A post
    /// with the same idempotency key may have another fingerprint.
    case duplicate(Click, sharesFingerprint: Bool)
    /// Nothing was recorded, because the click's link has ended.
    case linkEnded(Link.Ending)
}

/// The stored facts that decide one check, read from one snapshot of the database.
public struct CheckView: Sendable {
    /// The earlier answer of this caller, which it may get again.
    public var replay: Claim?
    /// The click of a certain match, or of an answer whose delivery failed.
    ///
    /// In the second case, the click was claimed before, and a claim returns that answer again, once.
    public var certainChoice: ClickChoice?
    /// The live clicks that have any of the check's fingerprints, and the evidence about these clicks.
    ///
    /// Nil if there are no such clicks, or if an earlier answer is returned.
    ///
    /// For a certain match, this evidence shows whether the fingerprint alone would have found the same click.
    public var evidence: CandidateEvidence?
    /// The model that weighs the clicks of ``evidence``; nil without ``evidence``.
    public var model: MatchingModel?
    /// The hash of the launch's first fingerprint under the first server key that has clicks with this fingerprint.
    ///
    /// Nil if that key is the current one, or if no key has such clicks.
    public var storedFingerprint: KeyedHash?
    /// The reason for "no match" if there is no ``replay``, ``certainChoice`` or ``evidence``: the state of
    /// the newest click with this fingerprint, or of the click that the launch named.
    public var reason: NoMatchReason

    public init(
        replay: Claim? = nil,
        certainChoice: ClickChoice? = nil,
        evidence: CandidateEvidence? = nil,
        model: MatchingModel? = nil,
        reason: NoMatchReason = .noClick
    ) {
        (self.replay, self.certainChoice, self.evidence) = (replay, certainChoice, evidence)
        (self.model, self.reason) = (model, reason)
    }

    /// Whether there is neither an answer to return, nor a click to claim or to weigh.
    var isEmpty: Bool { replay == nil && certainChoice == nil && evidence == nil }

    /// Removes the counts of clicks that are not candidates but lead to these destinations, because a claim found no
    /// such click.
    ///
    /// A count may be some seconds old, and its clicks may have been claimed, expired or deleted since.
    mutating func leaveOut(_ destinations: Set<CreditedDestination>) {
        guard !destinations.isEmpty else { return }
        evidence?.background.removeAll { count in count.destination.map(destinations.contains) ?? false }
    }
}

/// The outcome of a claim.
public enum ClaimOutcome: Equatable, Sendable {
    case claimed(Claim)
    /// The caller gets an earlier answer: its own answer again, or an answer to another caller that was not delivered.
    case replayed(Claim)
    /// Another check has consumed the click, or the click has expired or was deleted: this check must read again.
    case lost
    /// Another check of this process is claiming the click, so nothing was changed.
    ///
    /// The value is the chosen click, or the newest click of the chosen destination.
    case underWay(ClickID)
}

/// The store that records and consumes clicks.
///
/// With full durability, ``record(_:)`` and ``claim(_:for:_:)`` return only after their transaction is on disk.
public protocol ClickStore {
    /// Records a click, unless it repeats a recorded one or its link has ended.
    ///
    /// A click repeats an earlier click with the same idempotency key. It also repeats an earlier click of the last 10
    /// s with an equal ``NewClick/post``, unless a launch claimed that click before this post arrived. A person's click
    /// never repeats a robot's.
    func record(_ click: NewClick) async throws(StoreError) -> RecordOutcome

    /// Sets the deadline for all reads and claims of the check together; the store completes or withdraws them by then.
    func setDeadline(of check: inout Check)

    /// Reads the facts for a check: an earlier answer, the click of a certain match, candidates, or the
    /// reason why there is none of these.
    func view(for check: Check) async throws(StoreError) -> CheckView

    /// Consumes the chosen click for a check in one transaction.
    ///
    /// If the caller may get an earlier answer, the transaction returns that answer and consumes nothing.
    /// Otherwise it also closes the clicks of the same ``NewClick/visit`` from the ten minutes before the
    /// click, and stores the check's record.
    ///
    /// It does not claim a click that another check of this process is claiming; see ``ClaimOutcome/underWay(_:)``.
    ///
    /// - Parameters:
    ///   - choice: the click.
    ///   - check: the check that claims it.
    ///   - basis: the facts that the choice is based on, for the record.
    /// - Returns: the outcome of the claim.
    /// - Throws: ``StoreError``; nothing was consumed, except perhaps after `timedOut`.
    func claim(_ choice: ClickChoice, for check: Check, _ basis: CheckBasis) async throws(StoreError)
        -> ClaimOutcome

    /// Marks as claimed the candidates that other checks of this process are claiming.
    func markClaimsUnderWay(in evidence: inout CandidateEvidence, of check: Check)

    /// Waits until a claim that is under way in this process is committed or has failed.
    ///
    /// - Parameters:
    ///   - click: the click that another check is claiming.
    ///   - check: the check that waits, until its deadline at most.
    /// - Throws: if the deadline passes.
    func waitForClaim(of click: ClickID, for check: Check) async throws(StoreError)

    /// Returns the receipt that records whether the response with this claim was delivered.
    func receipt(for claim: Claim) -> any Receipt

    /// Counts a check that has ended, stores its record, and learns from it.
    ///
    /// Records are written in batches, so a crash may lose the records of the last second. For a match, the
    /// store only learns: the claim has already counted and recorded it.
    func recordOutcome(_ report: CheckReport, of check: Check)
}

extension ClickStore {
    /// Sets no deadline.
    public func setDeadline(of check: inout Check) {}

    /// Marks nothing, for stores that never return ``ClaimOutcome/underWay(_:)``.
    public func markClaimsUnderWay(in evidence: inout CandidateEvidence, of check: Check) {}

    /// Returns at once, for stores that never return ``ClaimOutcome/underWay(_:)``.
    public func waitForClaim(of click: ClickID, for check: Check) async throws(StoreError) {}
}
