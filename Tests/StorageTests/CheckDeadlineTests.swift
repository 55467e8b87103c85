import Attribution
import SQLiteStorage
import Synchronization
import Testing

/// A store that sets a check's deadline, and records the deadline with each later call.
private final class LimitingStore: ClickStore, Sendable {
    let click: Click
    let deadlines = Mutex<[UInt64]>([])

    init(_ click: Click) { self.click = click }
    func setDeadline(of check: inout Check) { check.deadline = 42 }

    func view(for check: Check) async throws(StoreError) -> CheckView {
        deadlines.withLock { $0.append(check.deadline) }
        return CheckView(certainChoice: ClickChoice(click.id, method: .clickID))
    }

    func claim(_ choice: ClickChoice, for check: Check, _ basis: CheckBasis) async throws(StoreError)
        -> ClaimOutcome
    {
        let count = deadlines.withLock { deadlines in
            deadlines.append(check.deadline)
            return deadlines.count
        }
        return count < 6 ? .lost : .claimed(Claim(click: click, claimedAt: check.at, method: choice.method))
    }

    func record(_ click: NewClick) async throws(StoreError) -> RecordOutcome { .recorded(self.click) }
    func receipt(for claim: Claim) -> any Receipt { UnwatchedReceipt() }
    func recordOutcome(_ report: CheckReport, of check: Check) {}

    private struct UnwatchedReceipt: Receipt {
        func willRespond() {}
        func delivered() {}
        func failed() {}
    }
}

@Suite("The time limit of a check")
struct CheckDeadlineTests {
    @Test("a check's deadline is the same for all reads and claims of the check")
    func isShared() async throws {
        let test = try await TestStore()
        let click = try await test.run { try await $0.record(.sample()).click }
        let store = LimitingStore(click)
        var check = Check.sample()
        _ = try await FirstLaunchMatching(store: store).match(&check)
        #expect(store.deadlines.withLock { $0 } == [42, 42, 42, 42, 42, 42])
    }

    @Test("a claim after the deadline is withdrawn, and the click goes to the next check")
    func withdrawsLateClaim() async throws {
        let test = try await TestStore()
        let click = try await test.run { try await $0.record(.sample()).click }
        let code = await code {
            try await test.run { session in
                var check = Check.sample()
                session.setDeadline(of: &check)
                #expect(check.deadline < .max)
                check.deadline = 1
                _ = try await session.claim(click, by: .fingerprint, for: check)
            }
        }
        #expect(code == .timedOut)
        let match = try await test.run { try await $0.match(.sample(caller: 2)) }
        #expect(match.isMatch(of: click, at: TestStore.noon))
    }

    @Test("a check waits only until its deadline for the record of a failed delivery")
    func endsWait() async throws {
        let test = try await TestStore()
        let claim = try await test.run { session in
            _ = try await session.record(.sample())
            guard case .match(let claim) = try await session.match(.sample()) else {
                throw StoreError(.defect, "the first check does not match")
            }
            return claim
        }
        let gate = await test.holdWriter()
        let code = await code {
            try await test.run { session in
                session.receipt(for: claim).failed()
                var check = Check.sample(caller: 2)
                check.deadline = 1
                _ = try await session.view(for: check)
            }
        }
        #expect(code == .timedOut)
        gate.open()
    }
}
