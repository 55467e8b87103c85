/// The rule that credits a first launch to a click and consumes the click exactly once.
///
/// The strongest certain way (a token, a click id or an advertising id) that finds a live click of the app
/// decides. Without such a click, the most likely one matches if it is likely enough.
public struct FirstLaunchMatching {
    private let store: any ClickStore

    /// The largest number of rounds; each reads the clicks and tries to claim one.
    ///
    /// A check needs another round only if its click is gone or another check is claiming it. It needs more than a few
    /// rounds only under heavy traffic on one fingerprint.
    private static let roundLimit = 64

    public init(store: any ClickStore) { self.store = store }

    /// Finds the click that led to a launch, and consumes it.
    ///
    /// - Parameter check: the check, whose deadline this function sets.
    /// - Returns: the click's claim, an earlier answer, or why there is none.
    /// - Throws: ``StoreError`` if nothing was decided, or the outcome of a claim is unknown; the response
    ///   must then be a retryable error, never "no match".
    public func match(_ check: inout Check) async throws(StoreError) -> MatchOutcome {
        store.setDeadline(of: &check)
        // Destinations of background counts (clicks that are counted but not listed) for which no click could be found.
        var missing: Set<CreditedDestination> = []
        for round in 0..<Self.roundLimit {
            var view = try await store.view(for: check)
            view.leaveOut(missing)
            guard !view.isEmpty else {
                // Nearly every check ends here, so this path computes nothing else.
                let reason = MatchDecision.reason(view.reason, check)
                var basis = CheckBasis()
                basis.hasLostRace = round > 0
                basis.storedFingerprint = view.storedFingerprint
                return end(check, .noMatch(reason), basis)
            }
            if let replay = view.replay { return end(check, .replay(replay)) }
            let decision = MatchDecision(view, check)
            let basis = CheckBasis(view, decision, hasLostRace: round > 0)
            guard let choice = decision.choice else { return end(check, .noMatch(decision.reason), basis) }
            let (outcome, another) = try await claim(choice, view, basis, check)
            switch outcome {
            case .claimed(let claim):
                store.receipt(for: claim).willRespond()
                return end(check, .match(claim), another ?? basis)
            case .replayed(let claim):
                // Allow this caller to request the answer again, because this delivery may fail, too.
                store.receipt(for: claim).willRespond()
                return end(check, .replay(claim))
            case .lost where another == nil: missing.formUnion(choice.target.destinations)
            case .lost, .underWay: break
            }
        }
        throw StoreError(.overloaded, "too many checks at once for one fingerprint")
    }

    /// Records the outcome of a check, and returns the outcome.
    private func end(_ check: Check, _ outcome: MatchOutcome, _ basis: CheckBasis = CheckBasis())
        -> MatchOutcome
    {
        store.recordOutcome(CheckReport(outcome, basis), of: check)
        return outcome
    }

    /// Claims the chosen click, or the next best one if other checks of this process are claiming it.
    ///
    /// If there is no next best click, this function waits until the other claim has ended, so that a failed
    /// claim leaves its click to the next check in line.
    ///
    /// - Parameters:
    ///   - choice: the chosen click.
    ///   - view: the facts that the choice is based on.
    ///   - basis: the same facts, for the record.
    ///   - check: the check that claims.
    /// - Returns: the outcome; and the basis for the record, if another click than the chosen one was tried.
    /// - Throws: ``StoreError``; nothing was consumed, except perhaps after `timedOut`.
    private func claim(_ choice: ClickChoice, _ view: CheckView, _ basis: CheckBasis, _ check: Check)
        async throws(StoreError) -> (outcome: ClaimOutcome, another: CheckBasis?)
    {
        var outcome = try await store.claim(choice, for: check, basis)
        guard case .underWay(let click) = outcome else { return (outcome, nil) }
        // The model must not learn from a check that got another click than the chosen one.
        var another = CheckBasis()
        another.hasLostRace = true
        // A certain match has no next best click.
        if view.certainChoice == nil, var evidence = view.evidence {
            var (rest, target) = (view, choice.target)
            // Each failure means that another check has started to claim the chosen click.
            for _ in 0..<Self.roundLimit {
                store.markClaimsUnderWay(in: &evidence, of: check)
                rest.evidence = evidence
                guard let next = MatchDecision(rest, check).choice, next.target != target else { break }
                outcome = try await store.claim(next, for: check, another)
                guard case .underWay = outcome else { return (outcome, another) }
                target = next.target
            }
        }
        try await store.waitForClaim(of: click, for: check)
        return (.underWay(click), another)
    }
}

extension CheckBasis {
    fileprivate init(_ view: CheckView, _ decision: MatchDecision, hasLostRace: Bool) {
        verdict = decision.verdict
        evidence = view.evidence
        model = view.model
        self.hasLostRace = hasLostRace
        storedFingerprint = view.storedFingerprint
    }
}
