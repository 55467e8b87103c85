import Attribution
import Foundation
import SQLite
import SQLiteStorage
import Storage
import Support
import Synchronization
import TestDatabases
import Testing

/// A gate that blocks a thread until it is opened.
final class Gate: Sendable {
    private let isOpen = DispatchSemaphore(value: 0)
    private let isReached = DispatchSemaphore(value: 0)

    /// Blocks the thread until the gate is opened.
    ///
    /// The gate stays open, because a transaction that is repeated passes it again.
    func pass() {
        isReached.signal()
        isOpen.wait()
        isOpen.signal()
    }

    /// Suspends until a thread is blocked at the gate.
    func wait() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [isReached] in
                isReached.wait()
                continuation.resume()
            }
        }
    }

    func open() { isOpen.signal() }
}

extension TestStore {
    /// Blocks the writing thread until the returned gate is opened.
    func holdWriter() async -> Gate {
        let gate = Gate()
        database.queueWork { gate.pass() }
        await gate.wait()
        return gate
    }
}

@Suite("The writer")
struct WriterTests {
    @Test("requests that wait together share a commit")
    func sharesCommits() async throws {
        let test = try await TestStore()
        let commits = test.store.health.batchSizes.count
        let gate = await test.holdWriter()
        async let clicks = test.runConcurrently(200) { session, number in
            try await session.record(.sample(fingerprint: number))
        }
        // All requests are queued before the writer continues.
        while test.store.health.queueLength < 201 { await Task.yield() }
        gate.open()
        #expect(try await clicks.count == 200)
        let health = test.store.health
        #expect(health.batchSizes.count - commits <= 2)
        #expect(health.lastFailure == nil)
        #expect(health.queueLength == 0)
    }

    @Test("a request that fails leaves the other requests of its transaction intact")
    func isolatesFailures() async throws {
        let test = try await TestStore()
        // A trigger simulates a defect that affects only some clicks.
        try test.execute(
            """
            CREATE TRIGGER defect BEFORE INSERT ON click_index WHEN NEW.since % 3 = 0
            BEGIN SELECT RAISE(ABORT, 'defect'); END
            """
        )
        let gate = await test.holdWriter()
        async let codes = test.runConcurrently(30) { session, number in
            let moment = Timestamp(milliseconds: 3_000_000_000 + Int64(number))
            return await code { _ = try await session.record(.sample(fingerprint: number, at: moment)) }
        }
        while test.store.health.queueLength < 31 { await Task.yield() }
        gate.open()
        #expect(try await codes.filter { $0 == .defect }.count == 10)
        #expect(try await codes.filter { $0 == nil }.count == 20)
        #expect(try test.integer("SELECT count(*) FROM clicks") == 20)
        let report = try await test.run { try await $0.statistics(StatisticsQuery(), at: TestStore.noon) }
        #expect(report.totals == [.clicks: 20], "undone clicks are not counted")
        #expect(report.liveClicks == 0)
    }

    @Test("after an undone transaction, a repeated post is recognised, even if the clock was set back")
    func keepsVisitsOfEarlierTransactions() async throws {
        let test = try await TestStore()
        // A trigger simulates a failure that undoes a whole transaction.
        try test.execute(
            """
            CREATE TRIGGER defect BEFORE INSERT ON click_index WHEN NEW.since = 1
            BEGIN SELECT RAISE(ROLLBACK, 'defect'); END
            """
        )
        let first = try await test.run { try await $0.record(.sample(visit: 7)).click }
        let gate = await test.holdWriter()
        // This post is too late to repeat the first post, so it is another click.
        let later = TestStore.noon.advanced(byMilliseconds: 20_000)
        async let second = recordingCode(.sample(at: later, visit: 7), in: test)
        while test.store.health.queueLength < 2 { await Task.yield() }
        async let third = recordingCode(.sample(at: Timestamp(milliseconds: 1)), in: test)
        while test.store.health.queueLength < 3 { await Task.yield() }
        gate.open()
        #expect(await [second, third].allSatisfy { $0 != nil }, "both clicks were undone")

        let back = TestStore.noon.advanced(byMilliseconds: 5000)
        let again = try await test.run { try await $0.record(.sample(at: back, visit: 7)) }
        #expect(again.isDuplicate)
        #expect(again.click.id == first.id)
    }

    private func recordingCode(
        _ click: @autoclosure @escaping @Sendable () throws -> NewClick,
        in test: TestStore
    )
        async -> StoreError.Code?
    {
        await code { try await test.run { _ = try await $0.record(click()) } }
    }

    @Test("the watchdog fails a late request in time, although the writer is blocked")
    func answersInTime() async throws {
        let test = try await TestStore { $0.timeLimitMilliseconds = 150 }
        let gate = await test.holdWriter()
        let late = await code {
            try await test.run { try await $0.revoke(KeyID(high: 1, low: 1), at: TestStore.noon) }
        }
        #expect(late == .timedOut)
        gate.open()
    }

    @Test("while another process locks the database, no click is claimed; afterwards, checks match again")
    func survivesLock() async throws {
        let test = try await TestStore { $0.timeLimitMilliseconds = 4000 }
        let click = try await test.run { try await $0.record(.sample()).click }
        let other = try SQLiteConnection(path: test.path, access: .readWrite, busyMilliseconds: 1000)
        try other.begin(.immediate)
        // The test may continue on another thread.
        other.releaseFromThread()
        let refused = await code { try await test.run { _ = try await $0.match(.sample()) } }
        #expect(refused == .locked)
        #expect(test.store.health.lastFailure?.code == .locked)
        let unmatched = try await test.run { try await $0.view(for: .sample()) }
        #expect(unmatched.live == [click.id.high], "reads still work")
        other.releaseFromThread()
        try other.rollback()
        let match = try await test.run { try await $0.match(.sample()) }
        #expect(match.isMatch(of: click, at: TestStore.noon))
        #expect(test.store.health.lastFailure == nil)
        #expect(test.log.lines.count == 2, "one line for the failure, one for its end: \(test.log.lines)")
    }

    @Test("a claim that was committed too late for its caller causes no \"no match\"")
    func doubtsLateClaim() async throws {
        let (gate, lines) = (Gate(), TestLog())
        let test = try await TestStore {
            $0.timeLimitMilliseconds = 4000
            // The second line says that the lock ended. The store logs that line before any answer, so
            // the gate delays all answers.
            $0.log = StoreLog { _, line in
                lines.append(line)
                if lines.lines.count == 2 { gate.pass() }
            }
        }
        let click = try await test.run { try await $0.record(.sample()).click }
        let other = try SQLiteConnection(path: test.path, access: .readWrite, busyMilliseconds: 1000)
        try other.begin(.immediate)
        // The test may continue on another thread.
        other.releaseFromThread()
        @Sendable func matching() async -> StoreError.Code? {
            await code { try await test.run { _ = try await $0.match(.sample()) } }
        }
        #expect(await matching() == .locked)
        // The claim waits before the lock ends: otherwise the writer might log the end for a transaction
        // without the claim.
        async let late = matching()
        while test.store.health.queueLength < 1 { await Task.yield() }
        other.releaseFromThread()
        try other.rollback()

        #expect(await late == .timedOut)
        await gate.wait()
        #expect(try test.integer("SELECT count(*) FROM claims") == 1, "the claim is on disk")
        let early = await code {
            try await test.run { session in
                var check = Check.sample(caller: 2)
                check.deadline = 1
                _ = try await session.view(for: check)
            }
        }
        #expect(early == .timedOut, "it is not yet known whether the claim's caller got the answer")
        gate.open()
        let match = try await test.run { try await $0.match(.sample(caller: 3)) }
        #expect(match.isReplay(of: click, at: TestStore.noon))
    }

    @Test("a full database refuses clicks, and serves again once there is room")
    func survivesFull() async throws {
        let test = try await TestStore(in: SQLitePlace(pageLimit: 120))
        let first = try await test.run { try await $0.record(.sample()).click }
        var refused: StoreError.Code?
        for number in 2..<4000 as Range<UInt64> where refused == nil {
            let click = try NewClick.sample(fingerprint: number) {
                $0.metadata = String(repeating: "x", count: 4000)
            }
            refused = await code { try await test.run { _ = try await $0.record(click) } }
        }
        #expect(refused == .full)
        let view = try await test.run { try await $0.view(for: .sample()) }
        #expect(view.live == [first.id.high], "the click is still live, so a check does not get no_match")

        // Retention makes room by deleting expired clicks; its own writes fit into the full database.
        test.clock.advance(seconds: 30 * 86_400)
        try test.store.runRetention()
        let later = test.clock.now
        let click = try await test.run { try await $0.record(.sample(at: later)).click }
        let match = try await test.run { try await $0.match(.sample(at: later)) }
        #expect(match.isMatch(of: click, at: later))
    }

    @Test("a stop leaves all writes in the database file, and later writes are refused")
    func stopsInOrder() async throws {
        let test = try await TestStore()
        async let clicks = test.runConcurrently(100) { session, number in
            try await session.record(.sample(fingerprint: number))
        }
        _ = try await clicks
        test.stop()
        let refused = await code { try await test.run { _ = try await $0.record(.sample()) } }
        #expect(refused == .stopping)
        #expect(!FileManager.default.fileExists(atPath: test.path + "-wal"), "no log is left")
        let again = try await TestStore(in: test.place)
        let report = try await again.run { try await $0.statistics(StatisticsQuery(), at: TestStore.noon) }
        #expect(report.totals == [.clicks: 100])
    }
}
