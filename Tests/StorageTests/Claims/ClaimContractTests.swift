import Attribution
import Support
import TestDatabases
import Testing

/// The contract of claims: six rules that every database keeps when clicks are claimed.
enum ClaimContract: CaseIterable, Sendable {
    /// C1: a click is claimed at most once, ever.
    case claimedOnce
    /// C2: a caller gets a claim or a replay only after the commit of the claim.
    case answeredAfterCommit
    /// C3: an attempt to claim a click is lost only to a committed claim.
    case lostToCommitted
    /// C4: the second claim of an installation is a replay of its first claim.
    case oneForAnInstallation
    /// C5: a claim that is committed too late for its caller goes to the next check, once.
    case lateGoesToNext
    /// C6: a claim also retires the earlier clicks of the click's visit.
    case visitGoesWithIt

    /// The defect with which the database in memory breaks this rule.
    var defect: MemoryDatabase.Defect {
        switch self {
        case .claimedOnce: .claimsTwice
        case .answeredAfterCommit: .answersBeforeCommit
        case .lostToCommitted: .losesToUncommitted
        case .oneForAnInstallation: .forgetsInstallations
        case .lateGoesToNext: .dropsLateAnswers
        case .visitGoesWithIt: .keepsVisits
        }
    }

    /// Tests a database, and returns how it breaks this rule; nil if it keeps the rule.
    func violation(of backend: any ClaimBackend) async throws -> String? {
        let backend = try await TwoProcesses(backend)
        return switch self {
        case .claimedOnce: try await violationOfClaimedOnce(backend)
        case .answeredAfterCommit: try await violationOfAnsweredAfterCommit(backend)
        case .lostToCommitted: try await violationOfLostToCommitted(backend)
        case .oneForAnInstallation: try await violationOfOneForAnInstallation(backend)
        case .lateGoesToNext: try await violationOfLateGoesToNext(backend)
        case .visitGoesWithIt: try await violationOfVisitGoesWithIt(backend)
        }
    }

    private func violationOfClaimedOnce(_ backend: TwoProcesses) async throws -> String? {
        let click = try await backend.record(.sample())
        let claimed = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 1...40 as ClosedRange<UInt64> {
                group.addTask {
                    let process = Int(number % 2)
                    let outcome = try await backend.claim(click, for: .sample(caller: number), by: process)
                    if case .claimed = outcome { return true }
                    return false
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        guard claimed == 1 else { return "\(claimed) of 40 claims at once" }
        try await backend.restart()
        let later = try await backend.claim(click, for: .sample(caller: 50), by: 0)
        return later == .lost ? nil : "after a restart: \(later)"
    }

    private func violationOfAnsweredAfterCommit(_ backend: TwoProcesses) async throws -> String? {
        let click = try await backend.record(.sample())
        guard case .claimed = try await backend.claim(click, for: .sample(install: 7), by: 0) else {
            return "the first claim is lost"
        }
        guard try await backend.live(in: 1).isEmpty else { return "another process sees the click as live" }
        let other = try await backend.claim(click, for: .sample(caller: 2, install: 7), by: 1)
        guard case .replayed = other else { return "another process does not know of the claim: \(other)" }
        return nil
    }

    private func violationOfLostToCommitted(_ backend: TwoProcesses) async throws -> String? {
        let click = try await backend.record(.sample())
        try backend.backend.fail(caller: 1)
        let failed = await code { _ = try await backend.claim(click, for: .sample(caller: 1), by: 0) }
        guard failed != nil else { return "a caller got an answer from a transaction that failed" }
        let next = try await backend.claim(click, for: .sample(caller: 2), by: 1)
        guard case .claimed = next else { return "lost to a claim that was undone" }
        return nil
    }

    private func violationOfOneForAnInstallation(_ backend: TwoProcesses) async throws -> String? {
        let clicks = [try await backend.record(.sample()), try await backend.record(.sample())]
        guard case .claimed(let first) = try await backend.claim(clicks[0], for: .sample(install: 7), by: 0)
        else { return "the first claim is lost" }
        let second = try await backend.claim(clicks[1], for: .sample(caller: 2, install: 7), by: 1)
        guard second == .replayed(first) else { return "the second claim: \(second)" }
        return try await backend.live(in: 0) == [clicks[1].id.high] ? nil : "the second click is consumed"
    }

    private func violationOfLateGoesToNext(_ backend: TwoProcesses) async throws -> String? {
        let click = try await backend.record(.sample())
        guard try await backend.claimLate(click, for: .sample()) == .timedOut else {
            return "a caller got an answer after its time limit"
        }
        // A process that stops writes its pending updates, so the late claim is marked as undelivered.
        try await backend.restart()
        let second = try await backend.claim(click, for: .sample(caller: 2), by: 1)
        guard case .replayed = second else { return "the next check: \(second)" }
        let third = try await backend.claim(click, for: .sample(caller: 3), by: 0)
        return third == .lost ? nil : "the check after the next one: \(third)"
    }

    private func violationOfVisitGoesWithIt(_ backend: TwoProcesses) async throws -> String? {
        let earlier = TestStore.noon.advanced(byMilliseconds: -60_000)
        let first = try await backend.record(.sample(at: earlier, visit: 9))
        let click = try await backend.record(.sample(visit: 9))
        let stranger = try await backend.record(.sample(at: earlier))
        guard case .claimed = try await backend.claim(click, for: .sample(), by: 0) else {
            return "the first claim is lost"
        }
        guard try await backend.live(in: 1) == [stranger.id.high] else {
            return "not exactly the stranger's click is live"
        }
        let again = try await backend.claim(first, for: .sample(caller: 2), by: 1)
        return again == .lost ? nil : "an earlier click of the visit: \(again)"
    }
}

@Suite("The contract of claims")
struct ClaimContractTests {
    @Test(
        "the contract of claims holds with two processes on one database",
        arguments: ClaimContract.allCases,
        backends
    )
    func holdsForProcesses(_ point: ClaimContract, backend: Backend) async throws {
        #expect(try await point.violation(of: StoredClaims(backend)) == nil)
    }

    @Test("the contract of claims holds on a database in memory", arguments: ClaimContract.allCases)
    func holdsInMemory(_ point: ClaimContract) async throws {
        #expect(try await point.violation(of: MemoryDatabase(nil)) == nil)
    }

    @Test(
        "the test of each rule fails on a database with a defect that breaks the rule",
        arguments: ClaimContract.allCases
    )
    func findsDefect(_ point: ClaimContract) async throws {
        #expect(try await point.violation(of: MemoryDatabase(point.defect)) != nil)
    }
}
