public import Attribution
internal import SQLite

extension SQLiteSession: ClickStore {
    public func record(_ click: NewClick) async throws(StoreError) -> RecordOutcome {
        // A click that is recorded after its caller was sent away stays: the retry is a duplicate.
        try await write { context throws(SQLiteError) in try context.record(click) }
    }

    public func view(for check: Check) async throws(StoreError) -> CheckView {
        if shared.hasUnmarkedDeliveries { try await flushNotes() }
        guard let scope = try scope(of: check.app, isTest: check.isTest) else { return CheckView() }
        let ledger = shared.ledger
        return try read { connection throws(SQLiteError) in
            try CheckLook(connection: connection, scope: scope, check: check, ledger: ledger).view()
        }
    }

    public func claim(_ click: Click, by method: AttributionMethod, for check: Check) async throws(StoreError)
        -> ClaimOutcome
    {
        let written = try await write(
            { context throws(SQLiteError) in .success(try context.claim(click, by: method, for: check)) },
            compensation: { Self.makeUp(for: $0) }
        )
        return written.outcome
    }

    public func answering(_ claim: Claim) {
        shared.ledger.answering(claim.click.id)
    }

    public func deliveryFailed(of claim: Claim) {
        shared.noteDeliveryFailed()
        notes.update { $0.failedDeliveries.append(claim.click.id) }
        shared.queueNotes()
    }

    public func note(_ ending: CheckEnding, of check: Check) {
        guard let scope = knownScope(of: check.app, isTest: check.isTest) else { return }
        let hour = Granularity.hour.start(of: check.at)
        switch ending {
        case .noMatch(let reason):
            let noMatch = Notes.NoMatch(scope: scope, hour: hour, platform: check.platform, reason: reason)
            notes.update { $0.noMatches[noMatch, default: 0] += 1 }
        case .replay(let claim):
            let replay = Notes.Replay(
                scope: scope,
                hour: hour,
                platform: check.platform,
                traits: CountedTraits(claim.click.facts)
            )
            notes.update { $0.replays[replay, default: 0] += 1 }
        }
    }

    /// Waits until what was noted is on disk.
    func flushNotes() async throws(StoreError) {
        shared.queueNotes()
        // Writes are done in the order in which they were queued.
        try await write { _ throws(SQLiteError) in .success(()) }
    }

    /// A match that came to disk after its check had been told to try again goes to the next check.
    private static func makeUp(for write: ClaimWrite) -> (any QueuedWrite)? {
        let claim: Claim
        switch write.outcome {
        case .claimed(let claimed): claim = claimed
        case .replayed(let repeated): claim = repeated
        case .lost: return nil
        }
        guard write.mustBeDelivered else { return nil }
        return PendingWrite<Void>(
            deadline: .max,
            body: { context throws(SQLiteError) in
                try context.markUndelivered(claim.click.id)
                return .success(())
            },
            completion: { _ in }
        )
    }
}
