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
            let asked = check
            let known = missing
            let outcome = try await store.claim(choice, for: asked) { other in
                var other = other
                other.leaveOut(known.union(choice.target.destinations))
                return MatchDecision(other, asked).choice
            }
            switch outcome {
            case .claimed(let claim) where !choice.target.holds(claim.click):
                // What was weighed is not what it was found by.
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
            case .lost:
                missing.formUnion(choice.target.destinations)
            }
        }
        throw StoreError(.overloaded, "too many checks at once for one fingerprint")
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
