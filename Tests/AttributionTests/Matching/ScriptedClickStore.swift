import Attribution
import Synchronization

/// A store with scripted answers that records its calls.
final class ScriptedClickStore: ClickStore, Sendable {
    enum Call: Equatable {
        case view
        case claim(ClickChoice.Target)
        case wait(ClickID)
        case willRespond(ClickID)
        case record(MatchOutcome)
    }

    private struct State {
        var views: [Result<CheckView, StoreError>]
        var claims: [Result<ClaimOutcome, StoreError>]
        var underWay: Set<ClickID> = []
        var calls: [Call] = []
        var reports: [CheckReport] = []
    }

    private let state: Mutex<State>

    /// Creates a store with answers to `view` and `claim`, in order; the last one of each is repeated.
    init(views: [Result<CheckView, StoreError>], claims: [Result<ClaimOutcome, StoreError>] = []) {
        state = Mutex(State(views: views, claims: claims))
    }

    /// Creates a store whose answers never fail.
    convenience init(_ views: CheckView..., claims: [ClaimOutcome] = []) {
        self.init(views: views.map { .success($0) }, claims: claims.map { .success($0) })
    }

    var calls: [Call] { state.withLock { $0.calls } }
    var reports: [CheckReport] { state.withLock { $0.reports } }

    func view(for check: Check) async throws(StoreError) -> CheckView { try next(.view, \.views).get() }
    func claim(_ choice: ClickChoice, for check: Check, _ basis: CheckBasis) async throws(StoreError)
        -> ClaimOutcome
    {
        let outcome = try next(.claim(choice.target), \.claims).get()
        if case .underWay(let click) = outcome { state.withLock { _ = $0.underWay.insert(click) } }
        return outcome
    }

    /// Marks the clicks whose claims got the outcome `underWay` as claimed.
    func markClaimsUnderWay(in evidence: inout CandidateEvidence, of check: Check) {
        let underWay = state.withLock { $0.underWay }
        for index in evidence.candidates.indices where underWay.contains(evidence.candidates[index].click) {
            evidence.candidates[index].claimedAt = check.at
        }
    }

    func waitForClaim(of click: ClickID, for check: Check) async throws(StoreError) {
        state.withLock { $0.calls.append(.wait(click)) }
    }

    func receipt(for claim: Claim) -> any Receipt { ScriptedReceipt(claim, self) }

    /// Records when the response to a claim is announced.
    private struct ScriptedReceipt: Receipt {
        private let click: ClickID
        private let store: ScriptedClickStore

        init(_ claim: Claim, _ store: ScriptedClickStore) {
            click = claim.click.id
            self.store = store
        }

        func willRespond() { store.state.withLock { $0.calls.append(.willRespond(click)) } }
        func delivered() {}
        func failed() {}
    }

    func recordOutcome(_ report: CheckReport, of check: Check) {
        state.withLock {
            $0.calls.append(.record(report.ending))
            $0.reports.append(report)
        }
    }

    func record(_ click: NewClick) async throws(StoreError) -> RecordOutcome {
        throw StoreError(.defect, "a check records no click")
    }

    private func next<Answer>(
        _ call: Call,
        _ answers: any WritableKeyPath<State, [Result<Answer, StoreError>]> & Sendable
    ) -> Result<Answer, StoreError> {
        state.withLock { state in
            state.calls.append(call)
            let left = state[keyPath: answers]
            if left.count > 1 { state[keyPath: answers].removeFirst() }
            return left.first ?? .failure(StoreError(.defect, "the script ends here"))
        }
    }
}
