import Attribution
import Foundation
import Support
import TestDatabases
import Testing

/// Random overlapping checks of one fingerprint, and the clicks that they may match.
struct ClaimInterleaving {
    /// The visit of each click, the oldest click first.
    private var visits: [UInt64] = []
    private var checks: [Check] = []
    /// The caller whose transactions fail.
    private var failing: UInt64?

    private static let now = TestStore.noon.advanced(byMilliseconds: 300_000)

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let visitCount = UInt64.random(in: 1...4, using: &random)
        visits = (0..<Int.random(in: 1...6, using: &random)).map { _ in
            .random(in: 1...visitCount, using: &random)
        }
        let count = UInt64.random(in: 2...8, using: &random)
        let installs = Bool.random(using: &random) ? 1...count : nil
        for number in 1...count {
            let install = installs.map { UInt64.random(in: $0, using: &random) }
            checks.append(.sample(at: Self.now, caller: number, install: install.map { 500 + $0 }))
        }
        if Bool.random(using: &random) { failing = .random(in: 1...count, using: &random) }
    }

    /// Matches the checks concurrently in two processes.
    ///
    /// - Returns: how the outcomes contradict the contract of claims; nil if they do not.
    func violation(on backend: any ClaimBackend) async throws -> String? {
        let backend = try await TwoProcesses(backend)
        var clicks: [Click] = []
        for (index, visit) in visits.enumerated() {
            // The posts are too far apart to be one click, but within the ten minutes in which a match
            // retires a visit's clicks.
            let time = TestStore.noon.advanced(byMilliseconds: Int64(index) * 15_000)
            clicks.append(
                try await backend.record(.sample(at: time, visit: visit, post: 100 + UInt64(index)))
            )
        }
        if let failing { try backend.backend.fail(caller: failing) }
        let outcomes = try await withThrowingTaskGroup(of: (Int, MatchOutcome?).self) { group in
            for index in checks.indices {
                group.addTask { (index, try await outcome(of: index, on: backend)) }
            }
            return try await group.reduce(into: [Int: MatchOutcome]()) { $0[$1.0] = $1.1 }
        }
        try await backend.restart()
        return contradiction(in: outcomes, clicks, live: try await backend.live(in: 0))
    }

    /// Returns a check's outcome, repeating the check after an error; nil after 50 errors, or after the first
    /// error of the failing caller.
    private func outcome(of index: Int, on backend: TwoProcesses) async throws -> MatchOutcome? {
        for _ in 0..<50 {
            do {
                return try await backend.match(checks[index], by: index % 2)
            } catch is StoreError {
                if isFailing(index) { return nil }
            }
        }
        return nil
    }

    private func isFailing(_ index: Int) -> Bool { failing == UInt64(index) + 1 }
    private func contradiction(in outcomes: [Int: MatchOutcome], _ clicks: [Click], live: [UInt64]) -> String?
    {
        var matched: [UInt64: Int] = [:]
        var claimOfInstall: [KeyedHash: Claim] = [:]
        for (index, outcome) in outcomes {
            guard case .match(let claim) = outcome else { continue }
            if let other = matched.updateValue(index, forKey: claim.click.id.high) {
                return "C1: checks \(other) and \(index) have one click"
            }
            if live.contains(claim.click.id.high) { return "C2: the click of check \(index) is live" }
            guard let install = checks[index].installs.first else { continue }
            if claimOfInstall.updateValue(claim, forKey: install) != nil {
                return "C4: an installation has two clicks"
            }
        }
        for index in checks.indices where !isFailing(index) {
            switch outcomes[index] {
            case nil: return "check \(index) gets only errors"
            case .match: continue
            case .noMatch:
                if !live.isEmpty { return "C3, C5: no match for check \(index), although a click is live" }
            case .replay(let claim):
                guard let install = checks[index].installs.first, claimOfInstall[install] == claim else {
                    return "C4: check \(index) has the answer of another launch"
                }
            }
        }
        let matchedVisits = clicks.indices.filter { matched[clicks[$0].id.high] != nil }.map { visits[$0] }
        // After a failed claim, a visit may have two matches, and a replay consumes no click. So count the matches
        // only if no caller fails and no check has an install id.
        let isPlain = failing == nil && checks.allSatisfy(\.installs.isEmpty)
        guard isPlain else { return nil }
        if Set(matchedVisits).count < matchedVisits.count { return "C6: a visit has two matches" }
        let expected = min(Set(visits).count, checks.count)
        return matchedVisits.count == expected ? nil : "\(matchedVisits.count) matches instead of \(expected)"
    }
}

@Suite("Overlapping checks")
struct ClaimInterleavingTests {
    /// The number of interleavings for each kind of database; each interleaving needs a new database.
    private static let count: UInt64 =
        isLong ? 100 : 8

    @Test(
        "overlapping checks keep the contract of claims with two processes on one database",
        arguments: 1...count,
        backends
    )
    func inProcesses(seed: UInt64, backend: Backend) async throws {
        #expect(try await ClaimInterleaving(seed: seed).violation(on: StoredClaims(backend)) == nil)
    }

    @Test(
        "overlapping checks keep the contract of claims on a database in memory",
        arguments: 1...100 as ClosedRange<UInt64>
    )
    func inMemory(seed: UInt64) async throws {
        #expect(try await ClaimInterleaving(seed: seed).violation(on: MemoryDatabase(nil)) == nil)
    }

    @Test(
        "some overlapping checks reveal the defect of a database",
        arguments: [
            .claimsTwice, .answersBeforeCommit, .losesToUncommitted, .forgetsInstallations, .keepsVisits,
        ] as [MemoryDatabase.Defect]
    )
    func findsDefect(_ defect: MemoryDatabase.Defect) async throws {
        for seed in 1...400 as ClosedRange<UInt64>
        where try await ClaimInterleaving(seed: seed).violation(on: MemoryDatabase(defect)) != nil { return }
        Issue.record("no interleaving reveals the defect")
    }
}
