import Attribution
import Dispatch
import SQLite
import SQLiteStorage
import Simulation
import Storage
import Support
import Synchronization
import TestDatabases
import Testing

/// The kinds of databases on which tests of the store run.
let backends = Backend.available

/// The part of a store that an event loop uses.
typealias TestSession = any LoopSession

/// A wall clock that changes only when a test moves it.
final class TestClock: Sendable {
    private let milliseconds: Atomic<Int64>

    init(_ start: Timestamp) { milliseconds = Atomic(start.milliseconds) }

    var now: Timestamp {
        get { Timestamp(milliseconds: milliseconds.load(ordering: .sequentiallyConsistent)) }
        set { milliseconds.store(newValue.milliseconds, ordering: .sequentiallyConsistent) }
    }

    func advance(seconds: Int64) {
        milliseconds.wrappingAdd(seconds * 1000, ordering: .sequentiallyConsistent)
    }
}

/// A monotonic clock, in nanoseconds, that changes only when a test moves it.
final class TestMonotonicClock: Sendable {
    private let nanoseconds = Atomic<UInt64>(1_000_000_000_000)

    var now: UInt64 { nanoseconds.load(ordering: .sequentiallyConsistent) }

    func advance(milliseconds: UInt64) {
        nanoseconds.wrappingAdd(milliseconds * 1_000_000, ordering: .sequentiallyConsistent)
    }
}

/// A test's own store, in a new database by default, with clocks that only the test moves.
final class TestStore: Sendable {
    /// The start of the wall clock: Tuesday, 2023-11-14T22:13:20Z.
    static let noon = Timestamp(milliseconds: 1_700_000_000_000)

    let place: any TestPlace
    let clock = TestClock(noon)
    let monotonic = TestMonotonicClock()
    let log = TestLog()
    let database: any TestDatabase
    let app = AppID(high: 1, low: 1)
    private let idleLoops = Mutex<[SessionLoop]>([])

    init(
        _ backend: Backend = .sqlite,
        in place: (any TestPlace)? = nil,
        set: (inout StoreConfiguration) -> Void = { _ in }
    ) async throws {
        if let place { self.place = place } else { self.place = try await backend.makePlace(at: Self.noon) }
        let (clock, log, monotonic) = (clock, log, monotonic)
        var configuration = StoreConfiguration(clock: WallClock { clock.now })
        configuration.log = StoreLog { log.append($1) }
        configuration.monotonicNow = { monotonic.now }
        configuration.hasBackgroundWork = false
        configuration.trustsClock = true
        // Tests of the time limit set a shorter one. All other tests must not fail on a busy machine.
        configuration.timeLimitMilliseconds = 600_000
        configuration.quietNanoseconds = 0
        configuration.foreignUpdateMilliseconds = 0
        set(&configuration)
        let isFreshCopy = self.place.isFreshCopy
        database = try self.place.open(configuration)
        if database.isNew || isFreshCopy {
            let app = App(id: app, settings: App.Settings(name: "Shop"), createdAt: Self.noon)
            try await run { try await $0.create(app) }
        }
    }

    deinit {
        // The last reference may be released on one of the loops, which cannot wait for itself.
        for loop in idleLoops.withLock({ $0 }) { loop.stop() }
        database.stop(within: 60_000)
    }

    /// Stops the store, which first writes everything to disk.
    func stop() {
        let loops = idleLoops.withLock { loops in
            defer { loops = [] }
            return loops
        }
        for loop in loops { loop.stop(waits: true) }
        database.stop(within: 60_000)
    }

    func count(_ what: TestCount) throws -> Int64 { try place.count(what) }
    func change(_ change: TestChange) throws { try place.change(change) }
    func verify() throws -> VerificationReport { try place.verify(at: clock.now) }

    /// Returns the history of the app's live traffic, as a backtest with this retention in seconds reads it.
    func history(retention: Int64 = 604_800) throws -> any TrafficHistory {
        var configuration = StoreConfiguration(clock: .fixed(clock.now))
        configuration.isReadOnly = true
        configuration.retentionSeconds = retention
        return try place.history(of: app, configuration, keys: [])
    }

    /// Runs `body` on an event loop with a session, which no other run uses meanwhile.
    ///
    /// The next run gets the same loop: a new session would open new connections to the database.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (TestSession) async throws -> Result
    ) async throws -> Result {
        let loop = idleLoops.withLock { $0.popLast() } ?? SessionLoop(database)
        defer { idleLoops.withLock { $0.append(loop) } }
        return try await loop.run(body)
    }
}

/// An event loop with a session of the store.
private final class SessionLoop: @unchecked Sendable {
    // Sendable: only code on the thread creates, uses and releases the session, and the other properties are constants.
    private let thread = LoopThread()
    private let database: any TestDatabase
    private var session: TestSession?

    init(_ database: any TestDatabase) { self.database = database }

    func run<Result: Sendable>(
        _ body: @escaping @Sendable (TestSession) async throws -> Result
    ) async throws -> Result {
        try await Task(executorPreference: thread) { [self] in
            let session = session ?? database.openSession(on: thread)
            self.session = session
            defer { session.endTurn() }
            return try await body(session)
        }.value
    }

    /// Closes the session and ends the thread; `waits` says whether the call blocks until the session is closed.
    func stop(waits: Bool = false) {
        let isClosed = DispatchSemaphore(value: 0)
        Task(executorPreference: thread) { [self] in
            session = nil
            isClosed.signal()
        }
        if waits { isClosed.wait() }
        thread.stop()
    }
}

/// The database file and its store, for tests of SQLite.
extension TestStore {
    var store: SQLiteStore {
        guard let store = database as? SQLiteStore else {
            preconditionFailure("a test of SQLite runs over another database")
        }
        return store
    }

    private var file: SQLitePlace {
        guard let file = place as? SQLitePlace else {
            preconditionFailure("a test of SQLite runs over another database")
        }
        return file
    }

    var folder: TemporaryFolder { file.folder }
    var path: String { file.path }

    func integer(_ sql: SQL) throws -> Int64 { try file.integer(sql) }
    func execute(_ script: String) throws { try file.execute(script) }
}

/// The lines that a store logged.
final class TestLog: Sendable {
    private let content = Mutex<[String]>([])

    var lines: [String] { content.withLock { $0 } }

    func append(_ line: String) { content.withLock { $0.append(line) } }
}

/// Returns a keyed hash that differs for each number.
func hash(_ number: UInt64) -> KeyedHash { KeyedHash(index: number &* 0x9e37_79b9_7f4a_7c15, rest: number) }

extension NewClick {
    /// Returns a click with sample values.
    ///
    /// Without `visit`, the click has a visit of its own. Without `post`, all clicks of a visit count as the same post.
    static func sample(
        fingerprint: UInt64 = 1,
        app: AppID = AppID(high: 1, low: 1),
        at moment: Timestamp = TestStore.noon,
        visit: UInt64? = nil,
        post: UInt64? = nil,
        idempotency: UInt64? = nil,
        set: (inout Click.Facts) -> Void = { _ in }
    ) throws -> NewClick {
        var facts = Click.Facts(
            app: app,
            destination: DeepLinkURL(stored: "myapp://promo/item"),
            campaignKey: CampaignKey("SUMMER25"),
            journeyID: try #require(JourneyID("j_1")),
            clickedAt: moment,
            recordedAt: moment,
            window: .standard
        )
        facts.source = .instagram
        facts.platform = .ios
        facts.osVersion = "17.2"
        facts.metadata = #"{"utm_source":"instagram"}"#
        set(&facts)
        let visit = visit ?? nextVisit.wrappingAdd(1, ordering: .relaxed).newValue
        var click = NewClick(
            facts: facts,
            fingerprints: [FingerprintEntry(form: nil, key: hash(fingerprint))],
            visit: hash(visit),
            post: hash(post ?? visit)
        )
        click.idempotency = idempotency.map(hash)
        return click
    }
}

private let nextVisit = Atomic<UInt64>(1_000_000)

extension Check {
    static func sample(
        fingerprint: UInt64 = 1,
        app: AppID = AppID(high: 1, low: 1),
        at moment: Timestamp = TestStore.noon,
        caller: UInt64 = 1,
        install: UInt64? = nil,
        grace: Int64 = 0,
        firstByteAt: UInt64 = .max,
        isTest: Bool = false
    ) -> Check {
        Check(
            app: app,
            isTest: isTest,
            ladder: MatchingLadder(fingerprint: hash(fingerprint)),
            source: LaunchValues(caller: hash(caller)),
            installs: install.map { [hash($0)] } ?? [],
            at: moment,
            firstByteAt: firstByteAt,
            replayGrace: grace,
            platform: .ios
        )
    }
}

extension Check {
    /// Replaces the caller of the launch, its details, or both.
    mutating func set(caller: KeyedHash? = nil, details: LaunchDetails? = nil) {
        source = LaunchValues(
            caller: caller ?? source.caller,
            earlierCallers: source.earlierCallers,
            details: details ?? source.details
        )
    }
}

extension CheckView {
    /// The first half of the identifier of each click that the check could match, newest first.
    var live: [UInt64] {
        let candidates = (evidence?.candidates ?? []).filter { $0.claimedAt == nil }
        return candidates.sorted { ($0.clickedAt, $0.click) > ($1.clickedAt, $1.click) }.map(\.click.high)
    }

    /// The reason for no match if the view contains nothing else; otherwise nil.
    var onlyReason: NoMatchReason? { replay == nil && certainChoice == nil && evidence == nil ? reason : nil }
}

extension MatchOutcome {
    var claim: Claim? {
        switch self {
        case .match(let claim), .replay(let claim): claim
        case .noMatch: nil
        }
    }

    /// Whether the outcome is a match of the click by its fingerprint at the given time.
    func isMatch(of click: Click, at moment: Timestamp) -> Bool {
        guard case .match(let claim) = self else { return false }
        return claim.click == click && claim.claimedAt == moment && claim.method == .fingerprint
    }

    /// Whether the outcome repeats a match of the click by its fingerprint at the given time.
    func isReplay(of click: Click, at moment: Timestamp) -> Bool {
        guard case .replay(let claim) = self else { return false }
        return claim.click == click && claim.claimedAt == moment && claim.method == .fingerprint
    }
}

extension RecordOutcome {
    /// The recorded click, or the earlier click that it repeats; stops the test if there is none.
    var click: Click {
        switch self {
        case .recorded(let click), .duplicate(let click, _): return click
        case .linkEnded(let ending): preconditionFailure("the click's link has ended: \(ending)")
        }
    }

    var isDuplicate: Bool { if case .duplicate = self { true } else { false } }
}

extension ClickStore {
    /// Matches a check on this store as the service does.
    func match(_ check: Check) async throws(StoreError) -> MatchOutcome {
        var check = check
        return try await FirstLaunchMatching(store: self).match(&check)
    }
}

extension TestStore {
    /// Runs `body` `count` times concurrently, on two event loops as in a server.
    func runConcurrently<Result: Sendable>(
        _ count: Int,
        _ body: @escaping @Sendable (TestSession, UInt64) async throws -> Result
    ) async throws -> [Result] {
        try await withThrowingTaskGroup(of: [Result].self) { group in
            for loop in 0..<2 {
                group.addTask { [self] in
                    try await runOnLoop(stride(from: loop, to: count, by: 2).map { UInt64($0) }, body)
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Runs `body` `count` times, at most 500 at a time.
    ///
    /// More writes might wait longer for a commit than their time limit.
    func runInBatches(
        _ count: Int,
        _ body: @escaping @Sendable (TestSession, UInt64) async throws -> Void
    ) async throws {
        for first in stride(from: 0, to: count, by: 500) {
            _ = try await runConcurrently(min(500, count - first)) { session, number in
                try await body(session, UInt64(first) + number)
            }
        }
    }

    private func runOnLoop<Result: Sendable>(
        _ numbers: [UInt64],
        _ body: @escaping @Sendable (TestSession, UInt64) async throws -> Result
    ) async throws -> [Result] {
        let loop = LoopThread()
        defer { loop.stop() }
        let task = Task(executorPreference: loop) { [database] in
            let session = Confined(database.openSession(on: loop))
            defer { session.value.endTurn() }
            return try await withThrowingTaskGroup(of: Result.self) { group in
                for number in numbers {
                    group.addTask(executorPreference: loop) { try await body(session.value, number) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        return try await task.value
    }
}

/// Carries a loop's session to the tasks of the same loop.
private final class Confined: @unchecked Sendable {
    // Sendable: only one loop's thread uses the session, which checks its thread itself.
    let value: any LoopSession

    init(_ value: any LoopSession) { self.value = value }
}

extension ClickStore {
    /// Claims this click, and no other click if another claim was faster.
    ///
    /// An earlier claim may still be under way although its caller has the answer; the method waits until it ends.
    func claim(_ click: Click, by method: AttributionMethod, for check: Check) async throws(StoreError)
        -> ClaimOutcome
    {
        while true {
            let outcome = try await claim(ClickChoice(click.id, method: method), for: check, CheckBasis())
            guard case .underWay = outcome else { return outcome }
            await Task.yield()
        }
    }
}
