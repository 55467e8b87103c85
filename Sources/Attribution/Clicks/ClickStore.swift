/// What became of a click that was handed to a store.
public enum RecordOutcome: Equatable, Sendable {
    case recorded(Click)
    /// A repeated post: the click that was recorded first, and whether it is found by the fingerprint of this post
    /// too, which one with the same idempotency key need not be.
    case duplicate(Click, sharesFingerprint: Bool)
    /// Nothing was recorded: the click's link leads nowhere any more.
    case linkEnded(Link.Ending)
}

/// What a store knows about one check, read in one consistent look.
public struct CheckView: Sendable {
    /// The answer that this caller was given before and may be given again.
    public var replay: Claim?
    /// A live click that a certain way leads to.
    ///
    /// Or one whose answer was seen to fail on its way: claiming it gives that answer out again, once.
    public var certainChoice: ClickChoice?
    /// Live clicks with one of the check's fingerprints, and what they are weighed by; nil when there is none, or a
    /// certain way.
    public var evidence: CandidateEvidence?
    /// What they are weighed with; there with ``evidence``.
    public var model: MatchingModel?
    /// The launch's fingerprint as clicks from before a rotation of the server key have it, where only those do.
    public var storedFingerprint: KeyedHash?
    /// When there is none of these: what the newest click with this fingerprint, or the one that was named, has become.
    public var reason: NoMatchReason

    public init(
        replay: Claim? = nil,
        certainChoice: ClickChoice? = nil,
        evidence: CandidateEvidence? = nil,
        model: MatchingModel? = nil,
        reason: NoMatchReason = .noClick
    ) {
        self.replay = replay
        self.certainChoice = certainChoice
        self.evidence = evidence
        self.model = model
        self.reason = reason
    }

    /// Whether there is no click at all, to be answered again, claimed or weighed.
    var isEmpty: Bool { replay == nil && certainChoice == nil && evidence == nil }

    /// Leaves out the clicks of destinations that are counted: counts may be some time old, and none of them be left.
    mutating func leaveOut(_ destinations: Set<CreditedDestination>) {
        guard !destinations.isEmpty else { return }
        evidence?.background.removeAll { count in
            count.destination.map(destinations.contains) ?? false
        }
    }
}

/// What became of an attempt to consume a click.
public enum ClaimOutcome: Equatable, Sendable {
    case claimed(Claim)
    /// This caller was given an answer before: the same one again.
    case replayed(Claim)
    /// Another check has consumed the click, and that is committed; or it expired, or is gone: read again.
    case lost
    /// Another check of this process is claiming the click: nothing was done.
    ///
    /// It is the chosen click, or the newest of the chosen destination.
    case underWay(ClickID)
}

/// Where clicks live and are consumed.
///
/// ``record(_:)`` and ``claim(_:for:_:)`` return only after their transaction is on disk.
public protocol ClickStore {
    /// Records a click, or finds the one that it repeats: same idempotency key, or same post
    /// within 10 s that has not led to a match yet.
    func record(_ click: NewClick) async throws(StoreError) -> RecordOutcome

    /// Sets the time by which everything that the check asks of the store is answered or withdrawn: one limit for all its
    /// reads and claims together.
    func setDeadline(of check: inout Check)

    /// Reads what there is for a check: an earlier answer, candidates, or the reason why there is none.
    func view(for check: Check) async throws(StoreError) -> CheckView

    /// Consumes the chosen click for `check`, atomically with the query whether the caller has had its answer already;
    /// retires the same visitor's older duplicates, those of the ten minutes before the click, and stores the check's
    /// record with it.
    ///
    /// A click that another check of this process is claiming is left alone; see ``ClaimOutcome/underWay(_:)``.
    ///
    /// - Parameters:
    ///   - choice: the click.
    ///   - check: the check that claims it.
    ///   - basis: what the choice was decided from, for the record.
    /// - Returns: what became of it.
    /// - Throws: if nothing is known of it.
    func claim(_ choice: ClickChoice, for check: Check, _ basis: CheckBasis) async throws(StoreError)
        -> ClaimOutcome

    /// Marks candidates as claimed that other checks of this process are claiming.
    func markClaimsUnderWay(in evidence: inout CandidateEvidence, of check: Check)

    /// Waits until the claim of a click that is under way in this process has truly ended: it is committed, or it will
    /// never be.
    ///
    /// - Parameters:
    ///   - click: which another check is claiming.
    ///   - check: which waits; not for longer than its time limit.
    /// - Throws: when that is up.
    func waitForClaim(of click: ClickID, for check: Check) async throws(StoreError)

    /// Returns the receipt of the response that has this claim.
    func receipt(for claim: Claim) -> any Receipt

    /// Records how a check ended and what it was decided from: counts it, stores its record, and learns from it.
    ///
    /// Batched: the last second may be lost with the process. A match was counted and recorded with its claim.
    func recordOutcome(_ report: CheckReport, of check: Check)
}

extension ClickStore {
    /// Without a limit.
    public func setDeadline(of check: inout Check) {}

    /// Nothing: for stores that never answer ``ClaimOutcome/underWay(_:)``.
    public func markClaimsUnderWay(in evidence: inout CandidateEvidence, of check: Check) {}

    /// Returns at once, as above.
    public func waitForClaim(of click: ClickID, for check: Check) async throws(StoreError) {}
}
