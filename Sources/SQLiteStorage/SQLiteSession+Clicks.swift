public import Attribution
internal import SQLite
internal import Storage

extension SQLiteSession: ClickStore {
    public func record(_ click: NewClick) async throws(StoreError) -> RecordOutcome {
        // A click that is recorded after its caller was sent away stays: the retry is a duplicate.
        let outcome = try await write { context throws(SQLiteError) in try context.record(click) }
        if case .recorded = outcome { learn(from: click) }
        return outcome
    }

    /// The click stands on disk: where nothing can be learnt from it, nothing is.
    private func learn(from click: NewClick) {
        guard let scope = try? scope(of: click.facts.app, isTest: click.facts.isTest) else { return }
        lessons.learn(from: click, scope)
    }

    public func begin(_ check: inout Check) {
        check.deadline = shared.deadline()
    }

    public func view(for check: Check) async throws(StoreError) -> CheckView {
        // A claim that its caller does not know of may be on disk, or may come there: nobody is told "no match"
        // because of it before it can be found again.
        if shared.hasUnmarkedDeliveries || shared.queue.isInDoubt {
            try await flushNotes(until: check.deadline)
        }
        guard let scope = try scope(of: check.app, isTest: check.isTest) else { return CheckView() }
        guard try !isSurelyUnknown(check) else { return CheckView(reason: .noClick) }
        if shared.learnt.isAtOnce { try await learnAtOnce(scope, at: check.at) }
        let shared = shared
        return try read { connection throws(SQLiteError) in
            let snapshot = SnapshotReader(
                connection: connection,
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
        let slices = shared.makeLearningWrites()
        if !slices.isEmpty {
            try await write { context throws(SQLiteError) in
                for slice in slices { try context.learn(slice) }
                return .success(())
            }
        }
        _ = try read { connection throws(SQLiteError) in
            try learnt.reload(scope, at: moment, on: connection)
        }
    }

    public func claim(
        _ choice: ClickChoice,
        for check: Check,
        orElse choose: @escaping @Sendable (CheckView) -> ClickChoice?
    ) async throws(StoreError) -> ClaimOutcome {
        let (shared, notes) = (shared, notes)
        var check = check
        // Here, on the loop's time, and not on the writer's.
        check.caller.settle()
        check.details.settle()
        let settled = check
        let written = try await write(
            { context throws(SQLiteError) in
                .success(try context.claim(choice, for: settled, orElse: choose))
            },
            until: check.deadline,
            whenLate: { late in
                // Its check has been told to try again: the answer goes to the next one.
                if late.mustBeDelivered, let claim = late.outcome.claim {
                    notes.noteFailedDelivery(of: claim.click.id, shared)
                }
            }
        )
        return written.outcome
    }

    public func answering(_ click: ClickID) {
        shared.ledger.answering(click)
    }

    public func delivered(_ click: ClickID) {
        shared.ledger.delivered(click)
    }

    public func deliveryFailed(of click: ClickID) {
        guard shared.ledger.isUndelivered(click) else { return }
        notes.noteFailedDelivery(of: click, shared)
    }

    public func note(_ report: CheckReport, of check: Check) {
        guard let scope = knownScope(of: check.app, isTest: check.isTest) else { return }
        let now = turnMoment
        let weight = recordWeight(report, at: now)
        guard weight > 0 else { return note(report, of: check, weight: 0, scope, at: now) }
        var settled = check
        // Learning asks for them too.
        settled.details.settle()
        if settled.install == nil { settled.caller.settle() }
        note(report, of: settled, weight: weight, scope, at: now)
    }

    /// Waits until what was noted is on disk.
    func flushNotes(until deadline: UInt64 = .max) async throws(StoreError) {
        // Who only reads has noted nothing.
        guard !shared.configuration.isReadOnly else { return }
        shared.queueNotes()
        // Writes are done in the order in which they were queued.
        try await write({ _ throws(SQLiteError) in .success(()) }, until: deadline)
    }
}

extension PendingUpdates {
    /// From now until the answer is marked on disk, every look waits for that.
    fileprivate func noteFailedDelivery(of click: ClickID, _ shared: SharedState) {
        shared.noteDeliveryFailed()
        update { $0.failedDeliveries.append(click) }
        shared.queueNotes()
    }
}

extension ClaimOutcome {
    fileprivate var claim: Claim? {
        switch self {
        case .claimed(let claim), .replayed(let claim): claim
        case .lost: nil
        }
    }
}
