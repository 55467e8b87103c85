public import Attribution
internal import SQLite
internal import Storage
internal import Threads

extension SQLiteSession: ClickStore {
    public func record(_ click: NewClick) async throws(StoreError) -> RecordOutcome {
        // A click that is recorded after its caller was sent away stays: the retry is a duplicate.
        guard case .click(let outcome) = try await write(.click(click)) else { throw .mismatch }
        if case .recorded = outcome { learn(from: click) }
        return outcome
    }

    /// The click stands on disk: where nothing can be learnt from it, nothing is.
    private func learn(from click: NewClick) {
        guard let scope = try? scope(of: click.facts.app, isTest: click.facts.isTest) else { return }
        lessons.learn(from: click, scope)
    }

    public func setDeadline(of check: inout Check) {
        check.deadline = shared.deadline()
    }

    public func view(for check: Check) async throws(StoreError) -> CheckView {
        // A claim that its caller does not know of may be on disk, or may come there: nobody is told "no match"
        // because of it before it can be found again.
        if shared.updates.hasUnmarkedDeliveries || shared.queue.isInDoubt {
            try await flushUpdates(until: check.deadline)
        }
        guard let scope = try scope(of: check.app, isTest: check.isTest) else { return CheckView() }
        guard try !isDefinitelyAbsent(check) else { return CheckView(reason: .noClick) }
        if shared.learnt.isAtOnce { try await learnAtOnce(scope, at: check.at) }
        let shared = shared
        return try read { reader throws(SQLiteError) in
            let snapshot = SnapshotReader(
                reader: reader,
                scope: scope,
                now: check.at,
                ledger: shared.ledger,
                learnt: shared.learnt,
                requestSummary: { shared.requestSummary(of: $0, at: check.at) }
            )
            var reader = CheckReader(snapshot, check, scope)
            return try reader.view()
        }
    }

    /// Stores what was learnt, and makes the model anew, when the checks' time has moved on.
    private func learnAtOnce(_ scope: Scope, at moment: Timestamp) async throws(StoreError) {
        let learnt = shared.learnt
        if let model = learnt.model(of: scope) {
            let age = moment.milliseconds(since: model.at)
            guard age >= LearningState.refreshMilliseconds || age < -LearningState.refreshMilliseconds else {
                return
            }
        }
        let slices = learnt.takeSlices()
        if !slices.isEmpty { try await write(.learning(.add(slices))) }
        _ = try read { reader throws(SQLiteError) in
            try learnt.reload(scope, at: moment, reader)
        }
    }

    public func claim(_ choice: ClickChoice, for check: Check, _ basis: CheckBasis) async throws(StoreError)
        -> ClaimOutcome
    {
        guard MonotonicTime.now().nanoseconds < check.deadline else { throw .late }
        guard let click = try click(of: choice.target, for: check) else { return .lost }
        let request = ClaimRequest(click, choice, for: check, basis)
        return try await shared.claims.claim(request, until: min(shared.deadline(), check.deadline))
    }

    /// The click to be claimed; nil where a destination has none any more.
    private func click(of target: ClickChoice.Target, for check: Check) throws(StoreError) -> ClickID? {
        switch target {
        case .click(let id): return id
        case .newest(let destination):
            guard let scope = try scope(of: check.app, isTest: check.isTest) else { return nil }
            guard let first = try newest(1, of: destination, scope, check).first else { return nil }
            guard shared.claims.contains(first) else { return first }
            return try newest(Self.maximumOfDestination, of: destination, scope, check)
                .first { !shared.claims.contains($0) } ?? first
        }
    }

    /// Clicks of a destination that are read to find one that no other check is claiming.
    private static let maximumOfDestination = 4096

    /// The newest live clicks with one of the check's fingerprints and this destination, by the first half of their
    /// identifiers.
    private func newest(_ count: Int, of destination: CreditedDestination, _ scope: Scope, _ check: Check)
        throws(StoreError) -> [ClickID]
    {
        try read { reader throws(SQLiteError) in
            for key in check.ladder.fingerprints {
                let found = try reader.connection.statement(ClaimSQL.newestOfDestination).all(
                    scope.number,
                    key.index,
                    key.rest,
                    destination.url,
                    check.at.milliseconds,
                    count
                ) { ClickID(high: UInt64(bitPattern: $0.integer(0)), low: 0) }
                if !found.isEmpty { return found }
            }
            return []
        }
    }

    public func markClaimsUnderWay(in evidence: inout CandidateEvidence, of check: Check) {
        shared.claims.mark(&evidence, at: check.at)
    }

    public func waitForClaim(of click: ClickID, for check: Check) async throws(StoreError) {
        try await shared.claims.waitForEnd(of: click, until: check.deadline)
    }

    public func receipt(for claim: Claim) -> any Receipt { shared.ledger.receipt(for: claim.click.id) }

    /// Waits until all pending updates are on disk.
    func flushUpdates(until deadline: UInt64 = .max) async throws(StoreError) {
        // Read-only sessions have no pending updates.
        guard !shared.configuration.isReadOnly else { return }
        shared.queue.requestUpdates()
        try await write(.barrier, until: deadline)
    }
}
