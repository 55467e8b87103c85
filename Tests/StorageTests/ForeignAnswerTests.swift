import Attribution
import Storage
import Testing

@Suite("Answers of another server")
struct ForeignAnswerTests {
    /// A retry of a launch at another server than the one that has answered the launch.
    struct Retry: Sendable {
        /// How much later the retry is, in milliseconds; negative if the other server's clock is behind.
        var age: Int64 = 0
        var limit: Int64 = 2000
        var caller: UInt64 = 1
        var namesClick = false
    }

    /// Returns the outcome of the retry.
    private func outcome(of retry: Retry) async throws -> (Click, MatchOutcome) {
        let database = MemoryDatabase(nil)
        let here = try MemoryStore(database)
        let there = try MemoryStore(database) { $0.foreignAnswerMilliseconds = retry.limit }
        defer {
            here.stop()
            there.stop()
        }
        let click = try await here.runClaims { session in
            let click = try await session.record(.sample()).click
            _ = try await session.match(.sample(grace: 60_000))
            return click
        }
        let outcome = try await there.runClaims { session in
            let time = TestStore.noon.advanced(byMilliseconds: retry.age)
            var check = Check.sample(at: time, caller: retry.caller, grace: 60_000)
            if retry.namesClick { check.ladder = MatchingLadder([.clickID(click.id)], fingerprints: []) }
            return try await session.match(check)
        }
        return (click, outcome)
    }

    @Test(
        "a retry gets a retryable error while the first answer may be under way",
        arguments: [Retry(), Retry(age: 1999), Retry(age: -1999)],
        [false, true]
    )
    func refuses(retry: Retry, namesClick: Bool) async throws {
        var retry = retry
        retry.namesClick = namesClick
        await #expect(throws: StoreError(.underWay, "another server may be answering the same launch")) {
            _ = try await outcome(of: retry)
        }
    }

    @Test(
        "a later retry gets the answer again, and so does every retry on a database without other servers",
        arguments: [Retry(age: 2000), Retry(age: -2000), Retry(limit: 0)],
        [false, true]
    )
    func repeats(retry: Retry, namesClick: Bool) async throws {
        var retry = retry
        retry.namesClick = namesClick
        let (click, outcome) = try await outcome(of: retry)
        #expect(outcome.isReplay(of: click, at: TestStore.noon))
    }

    @Test("another launch gets no answer, and does not wait for one")
    func refusesOthers() async throws {
        #expect(try await outcome(of: Retry(caller: 2)).1 == .noMatch(.alreadyClaimed))
    }
}
