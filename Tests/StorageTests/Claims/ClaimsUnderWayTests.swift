import Attribution
import SQLiteStorage
import Storage
import Testing

@Suite("Claims under way")
struct ClaimsUnderWayTests {
    /// Matches two overlapping checks, which both choose a click before the writer continues.
    private func overlapping(_ first: Check, _ second: Check, in test: TestStore) async throws
        -> (first: Result<MatchOutcome, any Error>, second: Result<MatchOutcome, any Error>)
    {
        let gate = await test.holdWriter()
        async let one = outcome(of: first, in: test)
        while test.store.health.queueLength < 2 { await Task.yield() }
        async let other = outcome(of: second, in: test)
        // The second check queues a claim of another click, or waits for the first claim outside the queue.
        for _ in 0..<2000 where test.store.health.queueLength < 3 { await Task.yield() }
        gate.open()
        return (await one, await other)
    }

    private func outcome(of check: Check, in test: TestStore) async -> Result<MatchOutcome, any Error> {
        do {
            return .success(try await test.run { try await $0.match(check) })
        } catch {
            return .failure(error)
        }
    }

    @Test("two checks at once match two strangers' clicks, the first check the more likely click")
    func spreads() async throws {
        let test = try await TestStore()
        let clicks = try await test.run { session in
            [
                try await session.record(.sample()).click,
                try await session.record(.sample(at: TestStore.noon.advanced(byMilliseconds: 1))).click,
            ]
        }
        let now = TestStore.noon.advanced(byMilliseconds: 1000)
        let outcomes = try await overlapping(
            .sample(at: now, caller: 1),
            .sample(at: now, caller: 2),
            in: test
        )
        #expect(try outcomes.first.get().isMatch(of: clicks[1], at: now))
        #expect(try outcomes.second.get().isMatch(of: clicks[0], at: now))
    }

    @Test("two checks at once match only one of two clicks of one visit")
    func leavesVisit() async throws {
        let test = try await TestStore()
        let click = try await test.run { session in
            _ = try await session.record(
                .sample(at: TestStore.noon.advanced(byMilliseconds: -60_000), visit: 9)
            )
            return try await session.record(.sample(visit: 9)).click
        }
        let outcomes = try await overlapping(.sample(caller: 1), .sample(caller: 2), in: test)
        #expect(try outcomes.first.get().isMatch(of: click, at: TestStore.noon))
        #expect(try outcomes.second.get() == .noMatch(.alreadyClaimed))
    }

    @Test("a check that waits for another claim gets the click when that claim fails")
    func nextInLine() async throws {
        let test = try await TestStore()
        let click = try await test.run { try await $0.record(.sample()).click }
        try test.execute(
            """
            CREATE TRIGGER defect BEFORE INSERT ON claims WHEN NEW.caller = \(Int64(bitPattern: hash(1).index))
            BEGIN SELECT RAISE(ABORT, 'defect'); END
            """
        )
        let outcomes = try await overlapping(.sample(caller: 1), .sample(caller: 2), in: test)
        #expect(throws: StoreError.self) { try outcomes.first.get() }
        #expect(try outcomes.second.get().isMatch(of: click, at: TestStore.noon))
    }

    @Test("a check that waits for another claim gets no match if that claim is committed")
    func waitsForCommit() async throws {
        let test = try await TestStore()
        let click = try await test.run { try await $0.record(.sample()).click }
        let outcomes = try await overlapping(.sample(caller: 1), .sample(caller: 2), in: test)
        #expect(try outcomes.first.get().isMatch(of: click, at: TestStore.noon))
        #expect(try outcomes.second.get() == .noMatch(.alreadyClaimed))
    }

    @Test("a check waits for a claim only until its time limit; a late claim goes to the next check, once")
    func limitsWaiting() async throws {
        let test = try await TestStore()
        let click = try await test.run { try await $0.record(.sample()).click }
        let (before, within) = (await test.holdWriter(), Gate())
        async let first = outcome(of: .sample(caller: 1), in: test)
        while test.store.health.queueLength < 2 { await Task.yield() }
        // This work, which is queued behind the claim, keeps the claim's transaction open.
        test.store.queueWork { within.pass() }
        var late = Check.sample(caller: 2)
        late.deadline = 1
        let waiting = late
        before.open()
        await within.wait()
        let code = await code { try await test.run { try await $0.waitForClaim(of: click.id, for: waiting) } }
        #expect(code == .timedOut)
        test.store.expireWaiting()
        let refused = await first
        #expect(throws: StoreError.self) { try refused.get() }
        within.open()
        let next = try await test.run { try await $0.match(.sample(caller: 3)) }
        #expect(next.isReplay(of: click, at: TestStore.noon))
        let last = try await test.run { try await $0.match(.sample(caller: 4)) }
        #expect(last == .noMatch(.alreadyClaimed))
    }
}
