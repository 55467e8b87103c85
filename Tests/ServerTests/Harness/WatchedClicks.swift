import Attribution
import Storage
import Synchronization

/// Records the values that endpoints pass to the store, and can change the claims that the store returns.
final class ClickWatch: Sendable {
    private struct State {
        var click: NewClick?
        var check: Check?
        var claimedClick: Click?
        var claim: @Sendable (Claim) -> Claim = { $0 }
    }

    private let state = Mutex(State())

    /// The last click that an endpoint passed to the store.
    var click: NewClick? {
        get { state.withLock { $0.click } }
        set { state.withLock { $0.click = newValue } }
    }

    /// The last check that an endpoint passed to the store.
    var check: Check? {
        get { state.withLock { $0.check } }
        set { state.withLock { $0.check = newValue } }
    }

    /// The click of the last claim, as the store returned it.
    var claimedClick: Click? { state.withLock { $0.claimedClick } }

    /// Records a claim, and returns the claim that the endpoint gets, which a test may have changed.
    func claimed(_ claim: Claim) -> Claim {
        state.withLock { $0.claimedClick = claim.click }
        return self.claim(claim)
    }

    /// Changes each claim before the endpoint gets the claim.
    var claim: @Sendable (Claim) -> Claim {
        get { state.withLock { $0.claim } }
        set { state.withLock { $0.claim = newValue } }
    }
}

/// The real store, whose calls a ``ClickWatch`` records.
final class WatchedClicks: ClickStore {
    private let session: any LoopSession
    private let watch: ClickWatch

    init(_ session: any LoopSession, _ watch: ClickWatch) { (self.session, self.watch) = (session, watch) }

    func record(_ click: NewClick) async throws(StoreError) -> RecordOutcome {
        watch.click = click
        return try await session.record(click)
    }

    func setDeadline(of check: inout Check) { session.setDeadline(of: &check) }

    func view(for check: Check) async throws(StoreError) -> CheckView {
        watch.check = check
        return try await session.view(for: check)
    }

    func claim(_ choice: ClickChoice, for check: Check, _ basis: CheckBasis) async throws(StoreError)
        -> ClaimOutcome
    {
        switch try await session.claim(choice, for: check, basis) {
        case .claimed(let claim): .claimed(watch.claimed(claim))
        case .replayed(let claim): .replayed(watch.claimed(claim))
        case .lost: .lost
        case .underWay(let click): .underWay(click)
        }
    }

    func markClaimsUnderWay(in evidence: inout CandidateEvidence, of check: Check) {
        session.markClaimsUnderWay(in: &evidence, of: check)
    }

    func waitForClaim(of click: ClickID, for check: Check) async throws(StoreError) {
        try await session.waitForClaim(of: click, for: check)
    }

    func receipt(for claim: Claim) -> any Receipt { session.receipt(for: claim) }
    func recordOutcome(_ report: CheckReport, of check: Check) { session.recordOutcome(report, of: check) }
}
