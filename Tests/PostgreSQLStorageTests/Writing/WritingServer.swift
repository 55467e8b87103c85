#if PostgreSQL
import Attribution
import PostgreSQL
import Support
import Testing
import Threads

@testable import PostgreSQLStorage
@testable import Storage

/// A database that several servers of a test write to.
final class WrittenDatabase: Sendable {
    static let noon = Timestamp(milliseconds: 1_790_000_000_000)
    /// The time of claims, and of the servers' clock.
    static let minuteLater = noon.advanced(byMilliseconds: 60_000)
    static let app = AppID(high: 1, low: 1)

    /// A step of an erasure in the app, to which a test adds the rows to delete.
    static func erasure() -> ErasureSlice {
        let id = ErasureID(high: 1, low: 1)
        let actor = AuditActor.command(user: "test")
        let record = Erasure(id: id, at: minuteLater, app: app, kind: .click, actor: actor)
        let scope = Scope(app: 1, isTest: false)
        return ErasureSlice(record: record, scopes: [scope], windows: MethodWindows())
    }

    /// A link without settings of the app.
    static func link() -> Link {
        Link(
            id: LinkID(high: 3, low: 4),
            app: app,
            slug: LinkSlug(stored: "promo"),
            settings: Link.Settings(),
            createdAt: noon,
            updatedAt: noon
        )
    }

    let database: PostgreSQLTestDatabase
    private let configuration: PostgreSQLConfiguration
    private let form: DatabaseForm

    init(_ database: PostgreSQLTestDatabase) throws {
        self.database = database
        let clock = WallClock { Self.minuteLater }
        var configuration = try PostgreSQLConfiguration(
            url: database.socketURL,
            name: "the test's database",
            clock: clock
        )
        // A busy machine takes longer than a second for a thousand writes, whose answers would then be in doubt.
        configuration.store.timeLimitMilliseconds = 60_000
        self.configuration = configuration
        let opening = DatabaseOpening(configuration)
        form = try opening.form(try opening.open().connection)
        let server = try openServer()
        defer { server.stop() }
        var settings = App.Settings(name: "Sample")
        settings.openClicks = true
        let app = App(id: Self.app, settings: settings, createdAt: Self.noon)
        #expect(try server.write(.directory(.createApp(app, []))).isDone)
    }

    convenience init() throws { try self.init(try JobDatabase.make(at: Self.noon)) }

    /// Opens the connection of a server's writing thread, for the calling thread.
    func connect() throws -> WriterConnection {
        let row = try ServerRow.take(DatabaseOpening(configuration).connect(), holder: 9, version: "test")
        let connection = WriterConnection(configuration, row)
        _ = try connection.open()
        return connection
    }

    func openServer() throws -> WritingServer {
        let connection = try DatabaseOpening(configuration).connect()
        let partitions = Partitions(connection: connection)
        try partitions.make(Self.noon.milliseconds / 86_400_000)
        var slots: [Int64: Timestamp?] = [:]
        for slot in try partitions.slots() { slots.updateValue(slot.neededUntil, forKey: slot.number) }
        let holder = Int64.random(in: .min ... .max)
        let row = try ServerRow.take(connection, holder: holder, version: "test")
        let directory = try DirectoryCache(reading: PostgreSQLReader(connection: connection))
        return try WritingServer(configuration, form, row: row, directory: directory, slots: SlotTable(slots))
    }

    func number(_ sql: String) throws -> Int { try #require(Int(try database.execute(sql))) }

    /// Returns the sum of a count in all deltas.
    func counted(_ count: (CountPayload) -> Int64) throws -> Int64 {
        let payloads = try database.execute("SELECT encode(payload, 'hex') FROM count_deltas")
        return try payloads.split(separator: "\n").reduce(0) { sum, hex in
            let bytes = stride(from: 0, to: hex.utf8.count, by: 2).compactMap {
                UInt8(hex.dropFirst($0).prefix(2), radix: 16)
            }
            return sum + count(try #require(CountPayload(bytes)))
        }
    }

    func countedLiveClicks() throws -> Int64 { try counted { $0.counts.live.values.reduce(0, +) } }
}

/// A server with nothing but its writing thread.
final class WritingServer: Sendable {
    let state: StoreState
    let directory: DirectoryCache
    private let hasEnded = ConditionLock(false)

    init(
        _ configuration: PostgreSQLConfiguration,
        _ form: DatabaseForm,
        row: ServerRow,
        directory: DirectoryCache,
        slots: SlotTable
    ) throws {
        state = StoreState(configuration.store)
        self.directory = directory
        try SystemThread.start { [state, hasEnded] in
            let engine = PostgreSQLEngine(
                configuration,
                state,
                form: form,
                server: row,
                directory: directory,
                slots: slots
            )
            WriterThread(engine, state).run()
            hasEnded.withLock { $0 = true }
            hasEnded.broadcast()
        }
    }

    func stop() {
        state.beginStopping()
        _ = hasEnded.wait(until: nil) { $0 ? true : nil }
    }

    @discardableResult
    func write(_ write: Write) throws -> Written { try state.queue.perform(write) }

    /// Queues a write, and returns a function that waits for its outcome.
    func queue(_ write: Write) -> () -> Written? {
        let result = ConditionLock<Written?>(nil)
        let queued = QueuedWrite(write) { written in
            result.withLock { $0 = written }
            result.broadcast()
        }
        state.queue.append(queued, isInternal: true)
        return { result.wait(until: MonotonicTime.now().nanoseconds + 60_000_000_000) { $0 } }
    }

    /// Queues writes that share a transaction, and waits for their outcomes.
    func writeTogether(_ writes: [Write]) -> [Written?] {
        let (hasBegun, mayEnd) = (ConditionLock(false), ConditionLock(false))
        let hold = queue(
            .hold {
                hasBegun.withLock { $0 = true }
                hasBegun.broadcast()
                _ = mayEnd.wait(until: nil) { $0 ? true : nil }
            }
        )
        _ = hasBegun.wait(until: nil) { $0 ? true : nil }
        let waits = writes.map(queue)
        mayEnd.withLock { $0 = true }
        mayEnd.broadcast()
        _ = hold()
        return waits.map { $0() }
    }

    func record(_ click: NewClick) throws -> RecordOutcome? { try write(.click(click)).recorded }

    func claim(_ click: ClickID, install: UInt64? = nil, caller: UInt64 = 1) throws -> ClaimOutcome? {
        try write(.claim(.sample(of: click, install: install, caller: caller))).claimed
    }
}

/// A session of another client of the database, for transactions that a test keeps open.
final class OtherSession {
    private let connection: BlockingConnection

    init(_ database: PostgreSQLTestDatabase) throws {
        let clock = WallClock { WrittenDatabase.noon }
        let configuration = try PostgreSQLConfiguration(
            url: database.socketURL,
            name: "the test's",
            clock: clock
        )
        connection = try DatabaseOpening(configuration).connect()
    }

    func execute(_ sql: StaticString) throws { try connection.execute(PreparedStatement(stringLiteral: sql)) }
}

extension Written {
    var isDone: Bool { if case .done = self { true } else { false } }
    var recorded: RecordOutcome? { if case .click(let outcome) = self { outcome } else { nil } }
    var claimed: ClaimOutcome? { if case .claim(let claim) = self { claim.outcome } else { nil } }
    var refusal: StoreError? { if case .refused(let error) = self { error } else { nil } }
}

extension RecordOutcome {
    var isNew: Bool { if case .recorded = self { true } else { false } }
    /// The click that was recorded, by this post or by the post that it repeats.
    var click: Click? {
        switch self {
        case .recorded(let click), .duplicate(let click, _): click
        case .linkEnded: nil
        }
    }
}

extension ClaimOutcome {
    var isClaimed: Bool { if case .claimed = self { true } else { false } }
    var isLost: Bool { if case .lost = self { true } else { false } }
    /// The click whose answer is repeated.
    var replayed: ClickID? { if case .replayed(let claim) = self { claim.click.id } else { nil } }
}

extension NewClick {
    /// Returns a click with sample values; each number is another post.
    static func sample(
        _ number: UInt64,
        visit: UInt64? = nil,
        after milliseconds: Int64 = 0,
        idempotency: UInt64? = nil,
        set: (inout Click.Facts) -> Void = { _ in }
    ) throws -> NewClick {
        let time = WrittenDatabase.noon.advanced(byMilliseconds: milliseconds)
        var facts = Click.Facts(
            app: WrittenDatabase.app,
            destination: DeepLinkURL(stored: "myapp://promo/\(number)"),
            campaignKey: CampaignKey("SUMMER25"),
            journeyID: try #require(JourneyID("j_1")),
            clickedAt: time,
            recordedAt: time,
            window: .standard
        )
        facts.platform = .ios
        set(&facts)
        // The hash of a visit contains the fingerprint, so the clicks of a visit have the same fingerprints.
        let visit = visit ?? number
        let fingerprints = [visit, visit + 1_000_000].map { FingerprintEntry(form: nil, key: hash($0)) }
        var click = NewClick(facts: facts, fingerprints: fingerprints, visit: hash(visit), post: hash(number))
        click.idempotency = idempotency.map(hash)
        click.evidence.address = AddressHashes(exact: 5, near: 6)
        return click
    }
}

/// A launch of which only the caller is known.
private final class TestLaunch: LaunchSource {
    let caller: KeyedHash

    init(caller: KeyedHash) { self.caller = caller }

    var earlierCallers: [KeyedHash] { [] }
    var details: LaunchDetails { LaunchDetails() }
}

extension Check {
    /// A check a minute after noon.
    static func sample(install: UInt64? = nil, caller: UInt64, after milliseconds: Int64 = 0) -> Check {
        Check(
            app: WrittenDatabase.app,
            ladder: MatchingLadder(fingerprintUnderEachKey: [hash(1)]),
            source: TestLaunch(caller: hash(caller)),
            installs: install.map { [hash($0)] } ?? [],
            at: WrittenDatabase.minuteLater.advanced(byMilliseconds: milliseconds),
            firstByteAt: .max,
            replayGrace: 0,
            platform: .ios
        )
    }
}

extension ClaimRequest {
    static func sample(
        of click: ClickID,
        install: UInt64? = nil,
        caller: UInt64 = 1,
        after milliseconds: Int64 = 0
    ) -> ClaimRequest {
        let check = Check.sample(install: install, caller: caller, after: milliseconds)
        return ClaimRequest(click, ClickChoice(click, method: .fingerprint), for: check, CheckBasis())
    }
}

/// Changes by a command of a test.
extension Write {
    static func directory(_ change: DirectoryChange) -> Write {
        .directory(change, by: .command(user: "test"))
    }

    static func links(_ change: LinkChange) -> Write { .links(change, by: .command(user: "test")) }
}
#endif
