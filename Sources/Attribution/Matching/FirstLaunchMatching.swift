/// The rule that credits a first launch to a click: by the surest way that leads to a live click of the app, else to the
/// likeliest one if that is likely enough, consumed exactly once.
public struct FirstLaunchMatching {
    private let store: any ClickStore

    /// A round is lost only when there is nothing left to claim, and the next look says so; more than a few
    /// need a crowd that keeps clicking.
    private static let roundLimit = 64

    public init(store: any ClickStore) {
        self.store = store
    }

    /// The check is not copied: what is asked of it several times is made up on the way.
    ///
    /// - Throws: ``StoreError`` when nothing was decided. The caller says "try again", never "no match".
    public func match(_ check: inout Check) async throws(StoreError) -> MatchOutcome {
        store.begin(&check)
        // Of these, clicks were counted that could not be found.
        var missing: Set<CreditedDestination> = []
        for round in 0..<Self.roundLimit {
            var view = try await store.view(for: check)
            view.leaveOut(missing)
            guard !view.isBare else {
                // What nearly every check ends with; nothing of the rest is handed about for it.
                let reason = MatchDecision.reason(view.reason, check)
                var report = CheckReport(.noMatch(reason), hasLostRace: round > 0)
                report.storedFingerprint = view.storedFingerprint
                store.note(report, of: check)
                return .noMatch(reason)
            }
            if let replay = view.replay {
                store.note(CheckReport(.replay(replay)), of: check)
                return .replay(replay)
            }
            if view.sure != nil || view.evidence != nil {
                // Asked for several times from here on.
                check.details.settle()
                check.caller.settle()
            }
            let decision = MatchDecision(view, check)
            guard let choice = decision.choice else {
                let ending = CheckEnding.noMatch(decision.reason)
                store.note(CheckReport(ending, view, decision, hasLostRace: round > 0), of: check)
                return .noMatch(decision.reason)
            }
            let (outcome, isAnother) = try await claim(choice, view, check)
            switch outcome {
            case .claimed(let claim) where isAnother:
                // The claimed click is not the one that was weighed, so the model must not learn from it.
                store.answering(claim.click.id)
                store.note(CheckReport(.match(claim), hasLostRace: true), of: check)
                return .match(claim)
            case .claimed(let claim):
                store.answering(claim.click.id)
                store.note(CheckReport(.match(claim), view, decision, hasLostRace: round > 0), of: check)
                return .match(claim)
            case .replayed(let claim):
                // Whoever was to have the answer first may never have been told.
                store.answering(claim.click.id)
                store.note(CheckReport(.replay(claim)), of: check)
                return .replay(claim)
            case .lost where !isAnother: missing.formUnion(choice.target.destinations)
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
    ///   - check: which claims.
    /// - Returns: what came of it, and whether it is of another click than the chosen one.
    /// - Throws: ``StoreError`` when nothing is known of it.
    private func claim(_ choice: ClickChoice, _ view: CheckView, _ check: Check) async throws(StoreError)
        -> (outcome: ClaimOutcome, isAnother: Bool)
    {
        var outcome = try await store.claim(choice, for: check)
        guard case .underWay(let click) = outcome else { return (outcome, false) }
        // A certain way leads to one click, and to no other.
        if view.sure == nil, var evidence = view.evidence {
            var (rest, target) = (view, choice.target)
            // Each time that it fails, another check has begun to claim what was chosen.
            for _ in 0..<Self.roundLimit {
                store.markClaimsUnderWay(in: &evidence, of: check)
                rest.evidence = evidence
                guard let next = MatchDecision(rest, check).choice, next.target != target else { break }
                outcome = try await store.claim(next, for: check)
                guard case .underWay = outcome else { return (outcome, true) }
                target = next.target
            }
        }
        try await store.waitForClaim(of: click, for: check)
        return (.underWay(click), true)
    }
}

extension CheckReport {
    fileprivate init(
        _ ending: CheckEnding,
        _ view: CheckView,
        _ decision: MatchDecision,
        hasLostRace: Bool
    ) {
        self.init(
            ending,
            verdict: decision.verdict,
            evidence: view.evidence,
            model: view.model,
            hasLostRace: hasLostRace
        )
        storedFingerprint = view.storedFingerprint
    }
}
