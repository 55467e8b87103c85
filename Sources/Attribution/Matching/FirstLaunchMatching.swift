/// The rule that credits a first launch to a click: by the surest way that leads to a live click of the app, else to the
/// likeliest one if that is likely enough, consumed exactly once.
public struct FirstLaunchMatching {
    private let store: any ClickStore

    /// A round is lost only when there is nothing left to claim, and the next look says so; more than a few
    /// need a crowd that keeps clicking.
    private static let roundLimit = 64

    public init(store: any ClickStore) { self.store = store }

    /// Finds the click that led to a launch, and consumes it.
    ///
    /// - Parameter check: the check; its time limit is set.
    /// - Returns: the click's claim, an earlier answer, or why there is none.
    /// - Throws: ``StoreError`` when nothing was decided. The caller says "try again", never "no match".
    public func match(_ check: inout Check) async throws(StoreError) -> MatchOutcome {
        store.setDeadline(of: &check)
        // Of these, clicks were counted that could not be found.
        var missing: Set<CreditedDestination> = []
        for round in 0..<Self.roundLimit {
            var view = try await store.view(for: check)
            view.leaveOut(missing)
            guard !view.isEmpty else {
                // What nearly every check ends with; nothing of the rest is handed about for it.
                let reason = MatchDecision.reason(view.reason, check)
                let basis = CheckBasis(hasLostRace: round > 0, storedFingerprint: view.storedFingerprint)
                store.recordOutcome(CheckReport(.noMatch(reason), basis), of: check)
                return .noMatch(reason)
            }
            if let replay = view.replay {
                store.recordOutcome(CheckReport(.replay(replay)), of: check)
                return .replay(replay)
            }
            let decision = MatchDecision(view, check)
            let basis = CheckBasis(view, decision, hasLostRace: round > 0)
            guard let choice = decision.choice else {
                store.recordOutcome(CheckReport(.noMatch(decision.reason), basis), of: check)
                return .noMatch(decision.reason)
            }
            let (outcome, another) = try await claim(choice, view, basis, check)
            switch outcome {
            case .claimed(let claim):
                store.receipt(for: claim).willRespond()
                store.recordOutcome(CheckReport(.match(claim), another ?? basis), of: check)
                return .match(claim)
            case .replayed(let claim):
                // The caller that was to have the answer first may never have got it.
                store.receipt(for: claim).willRespond()
                store.recordOutcome(CheckReport(.replay(claim)), of: check)
                return .replay(claim)
            case .lost where another == nil: missing.formUnion(choice.target.destinations)
            case .lost, .underWay: break
            }
        }
        throw StoreError(.overloaded, "too many checks at once for one fingerprint")
    }

    /// Claims the chosen click, or the next best where other checks of this process are claiming it.
    ///
    /// Where nothing else is left, it waits until the one that is claiming the click has ended, so that the next in line
    /// gets it when that fails.
    ///
    /// - Parameters:
    ///   - choice: what was decided.
    ///   - view: what it was decided from.
    ///   - basis: the same, for the record.
    ///   - check: which claims.
    /// - Returns: what came of it; and, if another click than the chosen one was asked for, the basis of that.
    /// - Throws: ``StoreError`` when nothing is known of it.
    private func claim(_ choice: ClickChoice, _ view: CheckView, _ basis: CheckBasis, _ check: Check)
        async throws(StoreError) -> (outcome: ClaimOutcome, another: CheckBasis?)
    {
        var outcome = try await store.claim(choice, for: check, basis)
        guard case .underWay(let click) = outcome else { return (outcome, nil) }
        // The model must not learn from a click that is not the one that was weighed.
        let another = CheckBasis(hasLostRace: true)
        // A certain way leads to one click, and to no other.
        if view.certainChoice == nil, var evidence = view.evidence {
            var (rest, target) = (view, choice.target)
            // Each time that it fails, another check has begun to claim what was chosen.
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
        self.init(
            verdict: decision.verdict,
            evidence: view.evidence,
            model: view.model,
            hasLostRace: hasLostRace,
            storedFingerprint: view.storedFingerprint
        )
    }
}
