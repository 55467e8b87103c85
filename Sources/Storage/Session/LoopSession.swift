public import Attribution
internal import Threads

/// A store as one event loop sees it; used only on that loop's thread.
public protocol LoopSession: LoopStore {
    /// The number of reads that the filter of stored fingerprints has made unnecessary.
    var skippedReadCount: Int { get }
}

/// A session of one kind of database, whose extensions implement the stores with the backend's reads and writes.
///
/// It is a protocol and not a generic class, so that the compiler specialises these functions for each database.
public protocol DatabaseSession: AnyObject, SendableMetatype, ClickStore, AppStore, LearningStore {
    associatedtype Backend: StorageBackend

    var loop: LoopState<Backend> { get }
}

extension DatabaseSession {
    public func beginTurn(with connectionCount: Int) { loop.beginTurn(with: connectionCount) }
    public func endTurn() { loop.endTurn() }

    public var skippedReadCount: Int { loop.skippedReadCount }
}

/// Clicks and their claims.
extension DatabaseSession {
    public func record(_ click: NewClick) async throws(StoreError) -> RecordOutcome {
        // A click may be recorded after its caller got an error. It stays: the retry is then a duplicate.
        guard case .click(let outcome) = try await loop.write(.click(click)) else { throw .mismatch }
        // The click is on disk. If its scope cannot be read, the model does not learn from it.
        if case .recorded = outcome,
            let scope = try? loop.scope(of: click.facts.app, isTest: click.facts.isTest)
        {
            loop.lessons.learn(from: click, scope)
            if loop.state.learnt.isAtOnce { try? await storeForOtherServers() }
        }
        return outcome
    }

    public func setDeadline(of check: inout Check) { check.deadline = loop.state.deadline() }

    public func view(for check: Check) async throws(StoreError) -> CheckView {
        let (loop, state) = (loop, loop.state)
        // A claim may be on disk although its caller got an error. Checks wait until reads show that claim, so that the
        // caller's retry does not get "no match".
        if state.updates.hasUnmarkedDeliveries || state.queue.isInDoubt {
            try await loop.flushUpdates(until: check.deadline)
        }
        guard let scope = try loop.scope(of: check.app, isTest: check.isTest) else { return CheckView() }
        guard try !loop.isDefinitelyAbsent(check) else { return CheckView(reason: .noClick) }
        if state.learnt.isAtOnce { try await learnAtOnce(scope, at: check.at) }
        let view = try await loop.readRows(until: check.deadline) {
            rows throws(Backend.Loop.Rows.Failure) -> CheckView? in
            let snapshot = CheckSnapshot(
                rows: rows,
                scope: scope,
                now: check.at,
                state: state,
                fingerprintWindow: check.policy.windows.fingerprint
            )
            var reader = CheckReader(snapshot, check)
            let view = try reader.view()
            return reader.isUnderWayElsewhere ? nil : view
        }
        guard let view else { throw .underWay }
        return view
    }

    /// Stores the pending increments and computes the model of a scope, if its model is missing or too old at `now`.
    private func learnAtOnce(_ scope: Scope, at now: Timestamp) async throws(StoreError) {
        let learnt = loop.state.learnt
        guard learnt.needsModel(of: scope, at: now) else { return try await storeForOtherServers() }
        try await storeLearnt()
        _ = try await loop.readRows { rows throws(Backend.Loop.Rows.Failure) in
            try learnt.reload(scope, at: now, rows)
        }
    }

    /// Stores the pending increments at once if there are other servers, which need them.
    ///
    /// The learning job would store them only seconds later, and a simulation plays hours in that time.
    private func storeForOtherServers() async throws(StoreError) {
        if loop.state.learnt.hasOtherServers { try await storeLearnt() }
    }

    private func storeLearnt() async throws(StoreError) {
        let slices = loop.state.learnt.takeSlices()
        if !slices.isEmpty { try await loop.write(.learning(.add(slices))) }
    }

    public func claim(_ choice: ClickChoice, for check: Check, _ basis: CheckBasis) async throws(StoreError)
        -> ClaimOutcome
    {
        guard MonotonicTime.now().nanoseconds < check.deadline else { throw .late }
        let click: ClickID
        switch choice.target {
        case .click(let id): click = id
        case .newest(let destination):
            guard let newest = try await newestClick(of: destination, for: check) else { return .lost }
            click = newest
        }
        let request = ClaimRequest(click, choice, for: check, basis)
        return try await loop.state.claims.claim(request, until: min(loop.state.deadline(), check.deadline))
    }

    /// Returns the click to claim; nil if the destination has no live click left.
    private func newestClick(of destination: CreditedDestination, for check: Check) async throws(StoreError)
        -> ClickID?
    {
        guard let first = try await newest(1, of: destination, check).first else { return nil }
        let claims = loop.state.claims
        guard claims.contains(first) else { return first }
        let others = try await newest(NewestClicks.maximumRead, of: destination, check)
        return others.first { !claims.contains($0) } ?? first
    }

    /// Returns a destination's newest live clicks under the first of the check's fingerprints that has any.
    private func newest(_ count: Int, of destination: CreditedDestination, _ check: Check)
        async throws(StoreError) -> [ClickID]
    {
        guard let scope = try loop.scope(of: check.app, isTest: check.isTest) else { return [] }
        return try await loop.readRows(until: check.deadline) { rows throws(Backend.Loop.Rows.Failure) in
            for key in check.ladder.fingerprints {
                let query = NewestClicks(scope: scope, key: key, destination: destination, at: check.at)
                let found = try rows.newestClicks(query, atMost: count)
                if !found.isEmpty { return found }
            }
            return []
        }
    }

    public func markClaimsUnderWay(in evidence: inout CandidateEvidence, of check: Check) {
        loop.state.claims.mark(&evidence, at: check.at)
    }

    public func waitForClaim(of click: ClickID, for check: Check) async throws(StoreError) {
        try await loop.state.claims.waitForEnd(of: click, until: check.deadline)
    }

    public func receipt(for claim: Claim) -> any Receipt { loop.state.ledger.receipt(for: claim.click.id) }

    public func recordOutcome(_ report: CheckReport, of check: Check) {
        let loop = loop
        guard let scope = loop.knownScope(of: check.app, isTest: check.isTest) else { return }
        let now = loop.turnTime
        // The record of a match is stored with its claim. Other checks leave a record if the budget allows it.
        var facts: CheckFacts?
        var isLeftOut = false
        if CheckOutcome(report.ending) != .match {
            let weight = loop.records.take(from: loop.state.records, at: now)
            isLeftOut = weight == 0
            if !isLeftOut {
                facts = CheckFacts(report, of: check)
                facts?.weight = weight
            }
        }
        // The number of launches that this launch represents in the model.
        let launches = loop.lessons.learn(from: report, of: check, scope, at: now)
        let expectation = launches > 0 ? CheckExpectation(report) : nil
        let sample = CalibrationSample(report)
        let recordsAtOnce = loop.state.configuration.recordsAtOnce
        let hasManyRecords = loop.updates.withContent { [facts, isLeftOut] content in
            content.count(report.ending, of: check, scope)
            if let facts { content.checks.add(facts, scope) }
            if isLeftOut { content.checks.leaveOut() }
            if let expectation { content.checks.add(expectation, times: launches, of: check, scope) }
            if let sample { content.checks.add(sample, at: check.at, scope) }
            return content.checks.records.count >= recordsAtOnce
        }
        if hasManyRecords { loop.state.queue.requestUpdates() }
    }
}

/// Apps and keys, and what is learnt of apps.
extension DatabaseSession {
    public func directory() throws(StoreError) -> Directory { try loop.directory() }

    public func create(_ app: App, with keys: [APIKey], by actor: AuditActor) async throws(StoreError) {
        try await loop.write(.directory(.createApp(app, keys), by: actor))
    }

    public func update(
        _ app: AppID,
        from former: App.Settings?,
        to settings: App.Settings,
        by actor: AuditActor
    ) async throws(StoreError) {
        try await loop.write(.directory(.updateApp(app, from: former, to: settings), by: actor))
    }

    public func create(_ key: APIKey, by actor: AuditActor) async throws(StoreError) {
        try await loop.write(.directory(.createKey(key), by: actor))
    }

    public func revoke(_ key: KeyID, at now: Timestamp, by actor: AuditActor) async throws(StoreError) {
        try await loop.write(.directory(.revokeKey(key, at: now), by: actor))
    }

    public func noteUse(of key: KeyID, at now: Timestamp) {
        // Most requests have the key of the request before, and the stored time is exact only to the minute.
        if let last = loop.lastKeyUse, last.key == key, (0..<1000).contains(now.milliseconds(since: last.at))
        {
            return
        }
        loop.lastKeyUse = (key, now)
        loop.updates.update { $0.noteUse(of: key, at: now) }
    }

    public func matchingModel(of app: AppID, isTest: Bool, at now: Timestamp) async throws(StoreError)
        -> MatchingModel
    {
        guard let scope = try loop.scope(of: app, isTest: isTest) else { return .fresh(at: now) }
        return try await loop.readRows { rows throws(Backend.Loop.Rows.Failure) in
            try rows.model(of: scope, at: now)
        }
    }

    public func resetLearning(of app: AppID, isTest: Bool, by actor: AuditActor) async throws(StoreError) {
        guard let scope = try loop.scope(of: app, isTest: isTest) else { return }
        loop.state.learnt.forget(scope)
        // The counters are deleted in slices, so that no other write waits for long.
        var change = LearningChange.reset(scope, app, limit: 1000, by: actor)
        while case .flag(true) = try await loop.write(.learning(change)) {
            change = .forget(scope, limit: 1000)
        }
        loop.state.learnt.forget(scope)
    }
}

/// Changes of links.
extension DatabaseSession {
    public func create(_ links: [NewLink], by actor: AuditActor) async throws(LinkStoreError) {
        try await change(.create(links), by: actor)
    }

    public func update(_ link: Link, ifUpdatedAt earlier: Timestamp?, by actor: AuditActor)
        async throws(LinkStoreError)
    { try await change(.update(link, ifUpdatedAt: earlier), by: actor) }

    public func delete(_ link: LinkID, by actor: AuditActor) async throws(LinkStoreError) {
        try await change(.delete(link), by: actor)
    }

    private func change(_ change: LinkChange, by actor: AuditActor) async throws(LinkStoreError) {
        let written: Written
        do throws(StoreError) {
            written = try await loop.write(.links(change, by: actor))
        } catch {
            throw .store(error)
        }
        if case .linkRefused(let error) = written { throw error }
    }
}
