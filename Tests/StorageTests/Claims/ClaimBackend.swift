import Attribution
import SQLite
import SQLiteStorage
import Storage
import Support
import Synchronization

/// A database as the contract of claims sees it: two processes that record and claim.
protocol ClaimBackend: Sendable {
    func record(_ click: NewClick) async throws -> Click
    /// Claims a click through one of two processes, 0 and 1.
    func claim(_ click: Click, for check: Check, by process: Int) async throws -> ClaimOutcome
    /// Answers a check through one of the processes: reads, decides and claims, as often as it takes.
    func match(_ check: Check, by process: Int) async throws -> MatchOutcome
    /// The live clicks of fingerprint 1 that a process sees, newest first, by the first half of their identifiers.
    func live(in process: Int) async throws -> [UInt64]
    /// Makes the transaction fail in which this caller claims, from now on.
    func fail(caller: UInt64) async throws
    /// Claims a click, and returns what the caller gets whose time is up before the commit, which succeeds.
    func claimLate(_ click: Click, for check: Check) async throws -> StoreError.Code?
    /// Ends both processes and starts them again.
    func restart() async throws
}

/// The contract on SQLite: two stores on one file.
final class SQLiteClaims: ClaimBackend {
    private let folder: TemporaryFolder
    private let processes: Mutex<[TestStore]>

    init() async throws {
        folder = try TemporaryFolder()
        processes = Mutex([try await TestStore(in: folder), try await TestStore(in: folder)])
    }

    private func process(_ number: Int) -> TestStore { processes.withLock { $0[number] } }

    func record(_ click: NewClick) async throws -> Click {
        try await process(0).run { try await $0.record(click).click }
    }

    func claim(_ click: Click, for check: Check, by process: Int) async throws -> ClaimOutcome {
        try await self.process(process).run { try await $0.claim(click, by: .fingerprint, for: check) }
    }

    func match(_ check: Check, by process: Int) async throws -> MatchOutcome {
        try await self.process(process).run { try await $0.match(check) }
    }

    func live(in process: Int) async throws -> [UInt64] {
        try await self.process(process).run { try await $0.view(for: .sample(caller: 99)).live }
    }

    func fail(caller: UInt64) async throws {
        try process(0).execute(
            """
            CREATE TRIGGER defect BEFORE INSERT ON claims WHEN NEW.caller = \(Int64(bitPattern: hash(caller).index))
            BEGIN SELECT RAISE(ROLLBACK, 'defect'); END
            """
        )
    }

    func claimLate(_ click: Click, for check: Check) async throws -> StoreError.Code? {
        let test = process(0)
        let (before, within) = (Gate(), Gate())
        test.store.queueWork { before.pass() }
        await before.wait()
        async let late = claimCode(click, for: check)
        while test.store.health.queueLength < 2 { await Task.yield() }
        // Queued behind the claim, it holds the transaction that the claim is in.
        test.store.queueWork { within.pass() }
        before.open()
        await within.wait()
        test.store.expireWaiting()
        let result = await late
        within.open()
        return result
    }

    private func claimCode(_ click: Click, for check: Check) async -> StoreError.Code? {
        await code { () async throws(StoreError) in
            try await flattened { _ = try await claim(click, for: check, by: 0) }
        }
    }

    /// Matches whose record is on disk.
    func recordedMatches() throws -> Int64 {
        try process(0).integer("SELECT count(*) FROM checks WHERE outcome = 'match'")
    }

    func restart() async throws {
        for process in processes.withLock({ $0 }) { process.stop() }
        let again = [try await TestStore(in: folder), try await TestStore(in: folder)]
        processes.withLock { $0 = again }
    }
}

/// The contract in memory, in plain Swift: it shares nothing with SQLite's, and can be broken in each of its points.
final class ClaimsInMemory: ClaimBackend {
    /// A point of the contract that does not hold.
    enum Defect: CaseIterable, Sendable {
        /// C1: a click that is consumed can be consumed again by another process.
        case claimsTwice
        /// C2: the answer comes before the commit.
        case answersBeforeCommit
        /// C3: a claim is lost to one that has not committed.
        case losesToUncommitted
        /// C4: an installation gets a second click.
        case forgetsInstallations
        /// C5: an answer that came too late is lost with its click.
        case dropsLateAnswers
        /// C6: earlier clicks of the visit stay live.
        case keepsVisits
    }

    private struct Row: Sendable {
        let click: Click
        let visit: KeyedHash
        var claim: Claim?
        var install: KeyedHash?
        var isRetired = false
        var isUndelivered = false
    }
    private struct State: Sendable {
        var committed: [Row] = []
        /// Answered, and not committed yet: by a defect alone.
        var answered: [Row]?
        var failing: Set<KeyedHash> = []
        var count: UInt64 = 0
    }

    private let state = Mutex(State())
    private let defect: Defect?

    init(_ defect: Defect? = nil) { self.defect = defect }

    func record(_ click: NewClick) async throws -> Click {
        state.withLock { state in
            state.count += 1
            let id = ClickID(high: UInt64(click.facts.recordedAt.milliseconds) << 16 + state.count, low: 0)
            let recorded = Click(id: id, facts: click.facts)
            state.committed.append(Row(click: recorded, visit: click.visit))
            return recorded
        }
    }

    func claim(_ click: Click, for check: Check, by process: Int) async throws -> ClaimOutcome {
        try claim(click.id, check, isLate: false).get()
    }

    func match(_ check: Check, by process: Int) async throws -> MatchOutcome {
        var check = check
        return try await FirstLaunchMatching(store: Session(database: self)).match(&check)
    }

    /// Reads and claims in turns of their own, so that other checks come between them.
    private struct Session: ClickStore {
        let database: ClaimsInMemory

        func record(_ click: NewClick) async throws(StoreError) -> RecordOutcome {
            throw StoreError(.defect, "a check records no click")
        }

        func view(for check: Check) async throws(StoreError) -> CheckView {
            await Task.yield()
            return database.view(for: check)
        }

        func claim(_ choice: ClickChoice, for check: Check, _ basis: CheckBasis) async throws(StoreError)
            -> ClaimOutcome
        {
            await Task.yield()
            guard case .click(let id) = choice.target else { return .lost }
            return try database.claim(id, check, isLate: false).get()
        }

        func receipt(for claim: Claim) -> any Receipt { NoReceipt() }
        func recordOutcome(_ report: CheckReport, of check: Check) {}
    }
    private struct NoReceipt: Receipt {
        func willRespond() {}
        func delivered() {}
        func failed() {}
    }

    private func view(for check: Check) -> CheckView {
        state.withLock { state in
            let earlier = state.committed.first { $0.install != nil && $0.install == check.installs.first }
            if defect != .forgetsInstallations, let claim = earlier?.claim { return CheckView(replay: claim) }
            let candidates = state.committed.filter { $0.claim == nil && !$0.isRetired }.map { row in
                Candidate(
                    click: row.click.id,
                    clickedAt: row.click.facts.clickedAt,
                    destination: CreditedDestination(row.click.facts),
                    platform: row.click.facts.platform,
                    form: nil,
                    visitor: row.visit.index
                )
            }
            guard !candidates.isEmpty else { return CheckView(reason: .alreadyClaimed) }
            let evidence = CandidateEvidence(candidates: candidates)
            return CheckView(evidence: evidence, model: .fresh(at: check.at), reason: .alreadyClaimed)
        }
    }

    func claimLate(_ click: Click, for check: Check) async throws -> StoreError.Code? {
        _ = claim(click.id, check, isLate: true)
        return .timedOut
    }

    /// One transaction, with the lock held as a database holds its own.
    private func claim(_ click: ClickID, _ check: Check, isLate: Bool) -> Result<ClaimOutcome, StoreError> {
        state.withLock { state in
            var rows = state.committed
            if defect != .forgetsInstallations, let install = check.installs.first,
                let earlier = rows.first(where: { $0.install == install })?.claim
            {
                return .success(.replayed(earlier))
            }
            guard let index = rows.firstIndex(where: { $0.click.id == click }) else { return .success(.lost) }
            let row = rows[index]
            if defect == .losesToUncommitted, !state.failing.isEmpty, row.claim == nil,
                !state.failing.contains(check.caller)
            {
                return .success(.lost)
            }
            let isOpen = (row.claim == nil || defect == .claimsTwice) && !row.isRetired
            guard isOpen, row.click.facts.expiresAt >= check.at else {
                guard row.isUndelivered, let claim = row.claim else { return .success(.lost) }
                rows[index].isUndelivered = false
                state.committed = rows
                return .success(.replayed(claim))
            }
            let claim = Claim(click: row.click, claimedAt: check.at, method: .fingerprint)
            rows[index].claim = claim
            rows[index].install = check.installs.first
            rows[index].isUndelivered = isLate && defect != .dropsLateAnswers
            if defect != .keepsVisits { Self.retire(&rows, with: row) }
            if state.failing.contains(check.caller) {
                return .failure(StoreError(.defect, "the transaction failed"))
            }
            if defect == .answersBeforeCommit { state.answered = rows } else { state.committed = rows }
            return .success(.claimed(claim))
        }
    }

    private static func retire(_ rows: inout [Row], with claimed: Row) {
        for index in rows.indices where rows[index].visit == claimed.visit && rows[index].claim == nil {
            let age = claimed.click.facts.clickedAt.milliseconds(since: rows[index].click.facts.clickedAt)
            if (0...AddressKeys.visitMilliseconds).contains(age) { rows[index].isRetired = true }
        }
    }

    func live(in process: Int) async throws -> [UInt64] {
        state.withLock { state in
            state.committed.filter { $0.claim == nil && !$0.isRetired }.sorted {
                ($0.click.facts.clickedAt, $0.click.id.high) > ($1.click.facts.clickedAt, $1.click.id.high)
            }.map(\.click.id.high)
        }
    }

    func fail(caller: UInt64) async throws { state.withLock { _ = $0.failing.insert(hash(caller)) } }

    func restart() async throws {
        // What was not committed is gone.
        state.withLock { $0.answered = nil }
    }
}
