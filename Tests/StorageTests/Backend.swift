import Attribution
import SQLite
import SQLiteStorage
import Simulation
import Storage
import Support
import Synchronization
import Testing

/// The databases that can be tested here: every test of the store runs over each.
let backends = Backend.allCases

/// A database that the storage tests run over.
enum Backend: String, CaseIterable, Sendable {
    case sqlite

    /// Opens a database of this kind.
    func open(_ configuration: SQLiteConfiguration) throws(StoreError) -> any TestDatabase {
        switch self {
        case .sqlite: try SQLiteStore.open(configuration)
        }
    }
}

/// A database of a test: what tests of every backend need besides sessions.
protocol TestDatabase: Sendable {
    /// Whether the database was made by this opening.
    var isNew: Bool { get }
    func openSession() -> any LoopSession
    func stop(within milliseconds: UInt64)
}

extension SQLiteStore: TestDatabase {
    func openSession() -> any LoopSession { makeSession() }
}

/// What a loop has of a store.
typealias TestSession = any ClickStore & AppStore & StatsStore & CheckStore & LinkStore

/// A clock that tests move.
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

/// Nanoseconds that tests move.
final class TestMonotonicClock: Sendable {
    private let nanoseconds = Atomic<UInt64>(1_000_000_000_000)

    var now: UInt64 { nanoseconds.load(ordering: .sequentiallyConsistent) }

    func advance(milliseconds: UInt64) {
        nanoseconds.wrappingAdd(milliseconds * 1_000_000, ordering: .sequentiallyConsistent)
    }
}

/// A store of a test's own, in a fresh folder, with a clock that stands still.
final class TestStore: Sendable {
    /// A Tuesday, 2023-11-14T22:13:20Z.
    static let noon = Timestamp(milliseconds: 1_700_000_000_000)

    let folder: TemporaryFolder
    let clock = TestClock(noon)
    let monotonic = TestMonotonicClock()
    let log = TestLog()
    let database: any TestDatabase
    let app = AppID(high: 1, low: 1)

    var path: String { folder.file("afterlink.db") }

    init(
        _ backend: Backend = .sqlite,
        in folder: TemporaryFolder? = nil,
        set: (inout SQLiteConfiguration) -> Void = { _ in }
    ) async throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        let (clock, log, monotonic) = (clock, log, monotonic)
        var configuration = SQLiteConfiguration(
            path: folder.file("afterlink.db"),
            clock: WallClock { clock.now }
        )
        configuration.log = StoreLog { log.append($1) }
        configuration.monotonicNow = { monotonic.now }
        configuration.hasBackgroundWork = false
        configuration.trustsClock = true
        // Tests that are about time set a limit of their own; all others must not fail on a busy machine.
        configuration.timeLimitMilliseconds = 600_000
        configuration.quietNanoseconds = 0
        set(&configuration)
        database = try backend.open(configuration)
        if database.isNew {
            let app = App(id: app, settings: App.Settings(name: "Shop"), createdAt: Self.noon)
            try await run { try await $0.create(app) }
        }
    }

    deinit { stop() }

    /// Stops the store, with everything on disk.
    func stop() { database.stop(within: 60_000) }

    /// The store of a test that is about SQLite, or about what it does in the background.
    var store: SQLiteStore {
        guard let store = database as? SQLiteStore else {
            preconditionFailure("a test of SQLite runs over another database")
        }
        return store
    }

    /// What a connection of another process would read.
    func integer(_ sql: SQL) throws -> Int64 {
        try SQLiteConnection(path: path, access: .readOnly, busyMilliseconds: 1000).integer(sql)
    }

    /// What a connection of another process does.
    func execute(_ script: String) throws {
        try SQLiteConnection(path: path, access: .readWrite, busyMilliseconds: 1000).execute(script)
    }

    /// Runs `body` on a loop of its own with a session of its own.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (TestSession) async throws -> Result
    ) async throws -> Result {
        try await onLoop { [database] in
            let session = database.openSession()
            defer { session.endTurn() }
            return try await body(session)
        }
    }
}

/// What a store said.
final class TestLog: Sendable {
    private let content = Mutex<[String]>([])

    var lines: [String] { content.withLock { $0 } }

    func append(_ line: String) { content.withLock { $0.append(line) } }
}

/// A keyed hash for each number.
func hash(_ number: UInt64) -> KeyedHash { KeyedHash(index: number &* 0x9e37_79b9_7f4a_7c15, rest: number) }

extension NewClick {
    /// A click of a fingerprint, whose visit is its own unless given, and whose post is its visit's only one unless given.
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
    /// Gives the launch another caller, or what else it tells.
    mutating func set(caller: KeyedHash? = nil, details: LaunchDetails? = nil) {
        source = LaunchValues(
            caller: caller ?? source.caller,
            earlierCallers: source.earlierCallers,
            details: details ?? source.details
        )
    }
}

extension CheckView {
    /// The clicks that could be matched, newest first, by the first half of their identifiers.
    var live: [UInt64] {
        let candidates = (evidence?.candidates ?? []).filter { $0.claimedAt == nil }
        return candidates.sorted { ($0.clickedAt, $0.click) > ($1.clickedAt, $1.click) }.map(\.click.high)
    }

    /// The reason, where there is nothing else.
    var onlyReason: NoMatchReason? { replay == nil && certainChoice == nil && evidence == nil ? reason : nil }
}

extension MatchOutcome {
    var claim: Claim? {
        switch self {
        case .match(let claim), .replay(let claim): claim
        case .noMatch: nil
        }
    }

    /// Whether the click was consumed at that moment because of its fingerprint.
    func isMatch(of click: Click, at moment: Timestamp) -> Bool {
        guard case .match(let claim) = self else { return false }
        return claim.click == click && claim.claimedAt == moment && claim.method == .fingerprint
    }

    /// Whether a match of the click at that moment was answered again.
    func isReplay(of click: Click, at moment: Timestamp) -> Bool {
        guard case .replay(let claim) = self else { return false }
        return claim.click == click && claim.claimedAt == moment && claim.method == .fingerprint
    }
}

extension RecordOutcome {
    /// The click that stands; stops the test where there is none.
    var click: Click {
        switch self {
        case .recorded(let click), .duplicate(let click, _): return click
        case .linkEnded(let ending): preconditionFailure("the click's link has ended: \(ending)")
        }
    }

    var isDuplicate: Bool { if case .duplicate = self { true } else { false } }
}

extension ClickStore {
    /// The rule of the domain, on this store.
    func match(_ check: Check) async throws(StoreError) -> MatchOutcome {
        var check = check
        return try await FirstLaunchMatching(store: self).match(&check)
    }
}

extension TestStore {
    /// Runs `body` many times at once, spread over two loops as a server would.
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

    private func runOnLoop<Result: Sendable>(
        _ numbers: [UInt64],
        _ body: @escaping @Sendable (TestSession, UInt64) async throws -> Result
    ) async throws -> [Result] {
        let loop = LoopThread()
        defer { loop.stop() }
        let task = Task(executorPreference: loop) { [database] in
            let session = Confined(database.openSession())
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
    // Sendable: used on one loop's thread alone, which the session itself checks.
    let value: any LoopSession

    init(_ value: any LoopSession) { self.value = value }
}

extension ClickStore {
    /// Claims this click or none.
    func claim(_ click: Click, by method: AttributionMethod, for check: Check) async throws(StoreError)
        -> ClaimOutcome
    { try await claim(ClickChoice(click.id, method: method), for: check, CheckBasis()) }
}
