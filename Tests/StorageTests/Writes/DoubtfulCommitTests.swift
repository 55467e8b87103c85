import Attribution
import Storage
import Support
import Synchronization
import Testing

/// How the commits of claims fail in a ``FlakyEngine``, and how many claims the engine was asked to read
/// ahead.
private final class FlakyCourse: Sendable {
    enum Failure {
        /// The connection is lost after the commit, before its result arrives.
        case lostAnswer
        /// The connection is lost before the commit, so the process cannot know whether the commit was done.
        case lostRequest
        /// Like `lostRequest`, but the batch may be done again.
        case lostRepeatable
        /// Like `lostAnswer`, but readers may not see the changes yet.
        case unseen
        /// Another server has changed the same rows.
        case conflict
    }

    private struct State {
        var failures: [Failure]
        var prepared: [Int] = []
    }

    private let state: Mutex<State>
    /// Called before another connection is opened.
    let reopening: @Sendable () -> Void

    init(_ failures: [Failure], reopening: @escaping @Sendable () -> Void = {}) {
        state = Mutex(State(failures: failures))
        self.reopening = reopening
    }

    /// The number of claims in each preparation that has any.
    var prepared: [Int] { state.withLock(\.prepared) }

    func prepare(_ count: Int) { state.withLock { $0.prepared.append(count) } }
    func nextFailure() -> Failure? {
        state.withLock { $0.failures.isEmpty ? nil : $0.failures.removeFirst() }
    }
}

/// The engine of a database in memory, some of whose commits fail.
private final class FlakyEngine: BlockingEngine {
    typealias Rules = ServerRules

    private let engine: MemoryEngine
    private let course: FlakyCourse
    private var hasClaim = false
    private var fate = TransactionFate.rolledBack

    init(_ engine: MemoryEngine, _ course: FlakyCourse) { (self.engine, self.course) = (engine, course) }

    func begin() throws(EngineFailure) {
        hasClaim = false
        try engine.begin()
    }

    func prepare(_ writes: some Collection<Write>) {
        let claims = writes.count { if case .claim = $0 { true } else { false } }
        if claims > 0 { course.prepare(claims) }
    }

    func perform(_ write: Write) throws(EngineFailure) -> Written {
        if case .claim = write { hasClaim = true }
        return try engine.perform(write)
    }

    func commit() throws(EngineFailure) {
        let failure = hasClaim ? course.nextFailure() : nil
        switch failure {
        case nil: return try engine.commit()
        case .lostAnswer, .unseen:
            try engine.commit()
            fate = failure == .unseen ? .unseen : .committed
        case .lostRequest, .lostRepeatable:
            engine.rollback()
            fate = .rolledBack
        case .conflict:
            let error = StoreError(.conflict, "two servers inserted one row")
            throw EngineFailure(error, endsBatch: true, endsConnection: false, mayRepeat: true)
        }
        let error = StoreError(.inputOutput, "the connection was cut")
        throw EngineFailure(
            error,
            endsBatch: true,
            endsConnection: true,
            mayRepeat: failure == .lostRepeatable,
            isInDoubt: true
        )
    }

    func reopen() -> TransactionFate {
        course.reopening()
        return fate
    }

    var changeCount: Int64 { engine.changeCount }
    func savepoint() { engine.savepoint() }
    func release() { engine.release() }
    func undo() { engine.undo() }
    func rollback() { engine.rollback() }
    func tidy() { engine.tidy() }
    func close() { engine.close() }
}

/// A process with a ``FlakyEngine``.
private final class FlakyStore: Sendable {
    let state: StoreState
    let log = TestLog()
    private let threads: StoreThreads<MemoryBackend>
    private let directory: DirectoryCache

    init(
        _ course: FlakyCourse,
        _ database: MemoryDatabase = MemoryDatabase(nil),
        foreignAnswerMilliseconds: Int64 = 0
    ) throws {
        var configuration = StoreConfiguration(clock: WallClock { TestStore.noon })
        configuration.hasBackgroundWork = false
        configuration.trustsClock = true
        configuration.timeLimitMilliseconds = 600_000
        configuration.quietNanoseconds = 0
        configuration.foreignAnswerMilliseconds = foreignAnswerMilliseconds
        configuration.log = StoreLog { [log] in log.append($1) }
        let state = StoreState(configuration)
        self.state = state
        threads = StoreThreads(state, MemoryBackend(database: database))
        directory = try DirectoryCache(reading: MemoryReader(database))
        try threads.startWriter { FlakyEngine(MemoryEngine(database, state), course) }
    }

    deinit { threads.stop(within: 60_000) }

    func run<Result: Sendable>(
        _ body: @escaping @Sendable (any ClickStore) async throws -> Result
    ) async throws -> Result {
        try await onLoop { [threads, directory] in
            let session = MemorySession(LoopState(threads, directory))
            defer { session.endTurn() }
            return try await body(session)
        }
    }

    func record() async throws -> Click { try await run { try await $0.record(.sample()).click } }

    func match(caller: UInt64) async throws -> MatchOutcome {
        try await run { try await $0.match(.sample(caller: caller)) }
    }

    /// Returns the code of the error of a match; nil if it has none.
    func matchCode(_ check: Check) async -> StoreError.Code? {
        await failure { _ = try await $0.match(check) }
    }

    /// Returns the code of the store's error; nil if there is none.
    func failure(_ body: @escaping @Sendable (any ClickStore) async throws -> Void) async -> StoreError.Code?
    {
        do {
            try await run(body)
            return nil
        } catch {
            return (error as? StoreError)?.code ?? .defect
        }
    }
}

@Suite("Commits in doubt")
struct DoubtfulCommitTests {
    @Test("a commit whose result was lost is answered once another connection finds it")
    func findsCommit() async throws {
        let store = try FlakyStore(FlakyCourse([.lostAnswer]))
        let click = try await store.record()
        #expect(try await store.match(caller: 1).isMatch(of: click, at: TestStore.noon))
        #expect(try await store.match(caller: 2) == .noMatch(.alreadyClaimed))
        #expect(store.log.lines.contains { $0.contains("the connection was cut") })
        #expect(store.state.healthSnapshot.lastFailure == nil)
    }

    @Test("a commit that was not done consumes nothing")
    func findsNoCommit() async throws {
        let store = try FlakyStore(FlakyCourse([.lostRequest]))
        let click = try await store.record()
        #expect(await store.matchCode(.sample(caller: 1)) == .inputOutput)
        #expect(try await store.match(caller: 2).isMatch(of: click, at: TestStore.noon))
    }

    @Test("a claim that was not stored does not block its click, which another server may claim")
    func forgetsUndone() async throws {
        let database = MemoryDatabase(nil)
        let store = try FlakyStore(FlakyCourse([.lostRequest]), database, foreignAnswerMilliseconds: 2000)
        let other = try MemoryStore(database)
        defer { other.stop() }
        let click = try await store.record()
        #expect(await store.matchCode(.sample(caller: 1, grace: 60_000)) == .inputOutput)
        let claim = try await other.runClaims { try await $0.match(.sample(caller: 1, grace: 60_000)) }
        #expect(claim.isMatch(of: click, at: TestStore.noon))
        let later = TestStore.noon.advanced(byMilliseconds: 2000)
        let retry = try await store.run { session in
            try await session.match(.sample(at: later, caller: 1, grace: 60_000))
        }
        #expect(retry.isReplay(of: click, at: TestStore.noon))
    }

    @Test("a claim that readers may not see yet gets an error, and gets its match when it is repeated later")
    func refusesUnseen() async throws {
        let store = try FlakyStore(FlakyCourse([.unseen]), foreignAnswerMilliseconds: 2000)
        let click = try await store.record()
        #expect(await store.matchCode(.sample(caller: 1, grace: 60_000)) == .inputOutput)
        let later = TestStore.noon.advanced(byMilliseconds: 2000)
        let retry = try await store.run { session in
            try await session.match(.sample(at: later, caller: 1, grace: 60_000))
        }
        #expect(retry.isReplay(of: click, at: TestStore.noon))
    }

    @Test("while a commit is in doubt, checks get a retryable error; afterwards, one check gets the answer")
    func waits() async throws {
        let gate = Gate()
        let store = try FlakyStore(FlakyCourse([.lostAnswer]) { gate.pass() })
        let click = try await store.record()
        async let late = store.matchCode(.sample(caller: 1))
        await gate.wait()
        store.state.expireWaiting()
        #expect(await late == .timedOut)
        let early = await store.failure { session in
            var check = Check.sample(caller: 2)
            check.deadline = 1
            _ = try await session.view(for: check)
        }
        #expect(early == .timedOut, "it is not yet known whether the claim is stored")
        gate.open()
        let outcomes = [try await store.match(caller: 3), try await store.match(caller: 4)]
        #expect(outcomes[0].isReplay(of: click, at: TestStore.noon))
        #expect(outcomes[1] == .noMatch(.alreadyClaimed))
    }

    @Test("a repeated batch leaves out the writes whose callers got an error meanwhile")
    func leavesOut() async throws {
        let gate = Gate()
        let store = try FlakyStore(FlakyCourse([.lostRepeatable]) { gate.pass() })
        let click = try await store.record()
        async let late = store.matchCode(.sample(caller: 1))
        await gate.wait()
        store.state.expireWaiting()
        #expect(await late == .timedOut)
        gate.open()
        // The first claim consumed nothing, so this is a match and not a repeated answer.
        #expect(try await store.match(caller: 2).isMatch(of: click, at: TestStore.noon))
    }

    @Test(
        "a batch that conflicts with other servers' commits is prepared again, and done one by one in the end"
    )
    func repeats() async throws {
        let course = FlakyCourse([.conflict, .conflict, .conflict])
        let store = try FlakyStore(course)
        let click = try await store.record()
        #expect(try await store.match(caller: 1).isMatch(of: click, at: TestStore.noon))
        #expect(course.prepared == [1, 1, 1, 1], "once, repeated twice, and once alone")
    }
}
