import Attribution
import Storage
import Synchronization
import Threads

/// A database in memory that can break each rule of the contract of claims.
///
/// It is written in plain Swift, and shares no code with the SQLite database.
final class MemoryDatabase: Sendable {
    /// A way to break one rule of the contract.
    enum Defect: CaseIterable, Sendable {
        /// C1: a click that is consumed can be consumed again by another process.
        case claimsTwice
        /// C2: a caller gets the answer before the commit.
        case answersBeforeCommit
        /// C3: a claim is lost to a claim that is not committed.
        case losesToUncommitted
        /// C4: an installation gets a second click.
        case forgetsInstallations
        /// C5: a claim that was too late for its caller is lost, together with its click.
        case dropsLateAnswers
        /// C6: earlier clicks of the visit stay live.
        case keepsVisits
    }

    /// The rows of the database, which all belong to one app.
    struct Rows: Sendable {
        var clicks: [Int64: ClickRecord] = [:]
        var open: [Int64: IndexEntry] = [:]
        /// The time at which each closed click was closed, by the click's number.
        var closed: [Int64: Timestamp] = [:]
        var claims: [Int64: ClaimRecord] = [:]
        var values: [StoredValue: Int64] = [:]
    }

    let defect: Defect?
    let committed = Mutex(Rows())
    /// Callers whose transactions fail.
    let failing = Mutex<Set<UInt64>>([])
    /// Whether a process has a transaction open.
    private let isWriting = ConditionLock(false)

    init(_ defect: Defect?) { self.defect = defect }

    func lock() {
        _ = isWriting.wait(until: nil) { isWriting -> Bool? in
            if isWriting { return nil }
            isWriting = true
            return true
        }
    }

    func unlock() {
        isWriting.withLock { $0 = false }
        isWriting.broadcast()
    }
}

/// A connection with its open snapshot or transaction.
final class MemoryReader: LoopReader, LoopRows, WriterReader {
    typealias Failure = StoreError

    let database: MemoryDatabase
    var rows = MemoryDatabase.Rows()

    init(_ database: MemoryDatabase) { self.database = database }

    static func translated(_ failure: StoreError) -> EngineFailure {
        EngineFailure(failure, endsBatch: true, endsConnection: false)
    }

    func beginSnapshot() { rows = database.committed.withLock { $0 } }
    func endSnapshot() {}

    // Clicks and claims

    func number(of app: AppID) -> Int64? { 1 }
    func newestClick() -> Int64 { rows.clicks.keys.max() ?? 0 }
    func click(numbered number: Int64) -> ClickRecord? { rows.clicks[number] }
    func click(_ id: ClickID) -> ClickRecord? { rows.clicks.values.first { $0.id == id } }
    func claim(ofClick number: Int64) -> ClaimRecord? { rows.claims[number] }
    func claimTime(ofClick number: Int64) -> Timestamp? { rows.claims[number]?.claimedAt }

    func claim(ofInstall hash: KeyedHash, in scope: Scope, at now: Timestamp) -> ClaimRecord? {
        database.defect == .forgetsInstallations ? nil : rows.claims.values.first { $0.install == hash }
    }

    func undeliveredClaim(of key: KeyedHash, in scope: Scope, at now: Timestamp) -> ClaimRecord? {
        rows.claims.values.first { $0.isUndelivered && $0.hash == key }
    }

    func claim(ofCaller caller: KeyedHash, by key: KeyedHash, in: Scope, during times: ClosedRange<Timestamp>)
        -> ClaimRecord?
    {
        rows.claims.values.first {
            $0.caller == caller && $0.hash == key && times.contains($0.claimedAt)
        }
    }

    func openClick(_ position: RowPosition, of key: KeyedHash, in scope: Scope) -> IndexRecord? {
        rows.open[position.click]?.record
    }

    func read(_ selection: inout KeySelection, in scope: Scope) {
        if let (click, closedAt) = rows.closed.max(by: { $0.value < $1.value }) {
            let position = RowPosition(
                clickedAt: rows.clicks[click]?.facts.clickedAt.milliseconds ?? 0,
                click: click
            )
            selection.add(
                KeySelection.Closed(
                    position,
                    closedAt: closedAt.milliseconds,
                    reason: .alreadyClaimed,
                    mayBeUndelivered: rows.claims.values.contains(where: \.isUndelivered)
                )
            )
        }
        for entry in rows.open.values.sorted(by: { $0.record.position > $1.record.position })
        where !selection.add(entry.record) { break }
    }

    func clicks(ofVisit visit: UInt64, near: UInt64?, _ search: VisitSearch) -> [Int64] {
        guard database.defect != .keepsVisits else { return [] }
        return rows.open.values.filter { entry in
            entry.record.visit == visit && (search.first...search.last).contains(entry.record.clickedAt)
        }.map(\.record.click)
    }

    func value(of name: StoredValue) -> Int64? { rows.values[name] }
    func storedProgress(of name: String) -> Int64? { nil }

    func click(ofPost post: KeyedHash, visit: KeyedHash, in scope: Scope, recordedAt: Timestamp) -> Int64? {
        rows.clicks.values.first { $0.post == post && $0.visit == visit }?.number
    }

    // Reads that no test of claims needs

    func linkID(numbered number: Int64) -> LinkID? { nil }
    func limits(of link: LinkID) -> LinkLimits? { nil }
    func read(_ selection: inout AddressSelection, in scope: Scope) {}
    func read(_ count: inout AddressClickCount.Builder, in scope: Scope) {}
    func hasClaim(of key: KeyedHash, in scope: Scope, since click: RowPosition) -> Bool { false }
    func newestClicks(_ query: NewestClicks, atMost count: Int) -> [ClickID] { [] }
    func liveClickCount(of scope: Scope, at now: Timestamp) -> Int64 { Int64(rows.open.count) }
    func learntSum(_ family: CounterFamily, _ key: UInt64, in scope: Scope) -> Double { 0 }
    func learningEpoch(of scope: Scope) -> LearningEpoch? { nil }
    func modelSums(of scope: Scope) -> [CounterKey: Double] { [:] }
    func openClicks(of: KeySummary.Key, before: RowPosition, atMost: Int, _ body: (IndexRecord) -> Void) {}
    func learntSums(of: Scope, _: CounterFamily, after: Int64, atMost: Int) -> [(key: Int64, sum: Double)] {
        []
    }
    func posts(from click: Int64, atMost limit: Int) -> [StoredPost] { [] }
    func hashes(after click: Int64, atMost limit: Int, _ body: ([KeyedHash]) -> Void) {}
    func click(ofIdempotency key: KeyedHash, in scope: Scope) -> Int64? { nil }
    func visits(ofVisitor visitor: UInt64, _ search: VisitSearch) -> [UInt64] { [] }
    func clicks(expiringFrom start: Timestamp, before end: Timestamp, atMost limit: Int) -> [ClickRecord] {
        []
    }
    func newestCheck() -> Int64 { 0 }
    func numberedApps() -> [NumberedApp] { [] }
    func formerServerKeys() -> [UInt64: Timestamp] { [:] }
    func countedNames(of dimension: Dimension, _ scope: Scope, in period: Timestamp) -> [String] { [] }
    func campaign(hashed: UInt64, _: PendingCheckRecords.Expected, in scope: Scope) -> String? { nil }
    func directoryVersion() -> Int64 { 0 }

    func link(_ id: LinkID) -> StoredLink? { nil }
    func fields(ofLink number: Int64, _ body: (_ name: String, _ text: String) -> Void) {}
    func session(_ digest: KeyDigest) -> SessionRecord? { nil }
    func sessions() -> [SessionRecord] { [] }
    func endpointRecords() -> [EndpointRecord] { [] }
    func appsWithClickIDs() -> [Int64] { [] }
    func apps(ofAppleItem _: String) -> [Int64] { [] }
    func outboxEvents(_ range: OutboxRange) -> [(id: OutboxEventID, type: String)] { [] }
    func dashboards() -> [(server: Int64, url: String)] { [] }

    func directorySnapshot() -> DirectoryCache.Snapshot {
        DirectoryCache.Snapshot(version: 0, directory: Directory(apps: [], keys: []))
    }
}

/// The statements that change the rows of an open transaction.
struct MemoryWriter<Rules: StoreRules>: StoreWriter {
    let reader: MemoryReader

    func insert(_ click: ClickRecord) { reader.rows.clicks[click.number] = click }
    func insert(_ entry: IndexEntry) { reader.rows.open[entry.record.click] = entry }

    func insert(_ claim: ClaimRecord) throws(StoreError) {
        if reader.database.failing.withLock({ $0.contains(claim.caller?.index ?? 0) }) {
            throw StoreError(.defect, "the transaction failed")
        }
        reader.rows.claims[claim.click] = claim
    }

    func close(_ click: ClickRecord, under hash: KeyedHash, _ closing: ClickClosing) -> Bool {
        let failing = reader.database.failing.withLock { $0 }
        switch reader.database.defect {
        case .claimsTwice where closing.caller != nil: return true
        case .losesToUncommitted where !failing.isEmpty && !failing.contains(closing.caller ?? 0):
            return false
        default: break
        }
        guard reader.rows.open.removeValue(forKey: click.number) != nil else { return false }
        reader.rows.closed[click.number] = closing.at
        return true
    }

    func markUndelivered(_ click: ClickID) {
        guard reader.database.defect != .dropsLateAnswers else { return }
        reader.rows.claims[Int64(bitPattern: click.high)]?.isUndelivered = true
    }

    func markDelivered(_ click: Int64, to request: ClaimRequest) -> Bool {
        let wasUndelivered = reader.rows.claims[click]?.isUndelivered ?? false
        reader.rows.claims[click]?.isUndelivered = false
        return wasUndelivered
    }

    func set(_ name: StoredValue, to value: Int64) { reader.rows.values[name] = value }
    func add(_ count: Int64, to name: StoredValue) { reader.rows.values[name, default: 0] += count }

    // Writes that no test of claims needs

    func insertClosed(_ click: ClickRecord, under hash: KeyedHash, as reason: NoMatchReason) {}
    func insertAddress(_ address: AddressHashes, of click: ClickRecord) {}
    func removeOpen(_ click: ClickRecord, under hash: KeyedHash) {}
    func removeClosed(_ click: ClickRecord, under hash: KeyedHash, at times: ClosingTimes) {}
    func removeAddress(_ near: UInt64, of click: ClickRecord) {}
    func delete(_ click: Int64) {}
    func adopt(_ idempotency: KeyedHash, by click: Int64) {}
    func release(_ idempotency: KeyedHash, of click: Int64) {}
    func setNeed(ofAddressDay day: Int64, until: Int64) {}
    func count(_ kind: LinkClickKind, of link: Int64, variant: String) {}
    func countMatch(of link: Int64, variant: String) {}
    func insert(_ check: CheckRecord) {}
    func deleteChecks(before id: Int64, atMost limit: Int64) -> Int64 { 0 }
    func write(_ deltas: CountDeltas) {}
    func purgeLiveClicks(of scope: Scope, before second: Int64, atMost limit: Int) -> Bool { false }
    func foldRareNames(_ names: RareNames) -> Bool { false }
    func removeRareNames(_ names: RareNames) -> Bool { false }
    func create(_ app: App, with keys: [APIKey]) -> StoreError? { nil }
    func update(_ app: AppID, to settings: App.Settings) -> StoreError? { nil }
    func create(_ key: APIKey) -> StoreError? { nil }
    func revoke(_ key: KeyID, at now: Timestamp) -> StoreError? { nil }
    func setUse(of key: KeyID, at now: Timestamp) -> Bool { false }
    func create(_ links: [NewLink]) -> LinkStoreError? { nil }
    func update(_ link: Link, ifUpdatedAt earlier: Timestamp?) -> LinkStoreError? { nil }
    func delete(_ link: LinkID) -> LinkStoreError? { nil }
    func beginLearning(of scope: Scope, _ epoch: LearningEpoch) {}
    func beginEarlier(_ scope: Scope, at time: Timestamp) {}
    func add(_ sum: Double, to key: CounterKey, of scope: Scope, hasRoom: Bool) {}
    func removeCounter(_ key: Int64, _ family: CounterFamily, of scope: Scope) {}
    func keepLargest(_ count: Int, of scope: Scope, _ family: CounterFamily) {}
    func scaleCounters(of scope: Scope, _ family: CounterFamily, by factor: Double) {}
    func setLandmark(of scope: Scope, to landmark: Timestamp) {}
    func forgetCounters(of scope: Scope, limit: Int) -> Bool { false }
    func addFormerServerKey(_ key: UInt64, replacedAt: Timestamp) {}
    func removeFormerServerKey(_ key: UInt64) {}
    func removeAddressDays(before now: Timestamp) {}
    func take(_ lease: JobLease) -> Bool { true }
    func finish(_ job: JobName, for holder: Int64, progress: Timestamp) {}
    func noteSettled(at now: Timestamp) {}
    func insert(_ session: SessionRecord) {}
    func insert(_ endpoint: EndpointRecord) {}
    func update(_ endpoint: EndpointRecord) {}
    func setProgress(of endpoint: EndpointRecord) {}
    func insert(_ event: OutboxRecord) {}
    func insert(_ delivery: DeliveryRecord) {}
    func update(_ deliveries: [DeliveryRecord]) {}
    func replay(_ events: [OutboxEventID], _ mode: PostbackReplay.Mode, to endpoint: Int64, at: Timestamp)
        -> Int
    { 0 }
    func removeDeliveries(to endpoint: Int64, before high: UInt64, atMost limit: Int) -> Int { 0 }
    func removeOutboxEvents(of scope: Int64, before high: UInt64, atMost limit: Int) -> Int { 0 }
    func removeOutboxEvents(about subject: Int64, in scope: Int64, from high: UInt64) {}
    func takeSignInLink(_ digest: KeyDigest, expiringAfter now: Timestamp) -> Bool { false }
    func insert(_ link: SignInLink) {}
    func setUse(ofSession digest: KeyDigest, at now: Timestamp) {}
    func removeSession(_ digest: KeyDigest) {}
    func removeEnded(at now: Timestamp) {}
    func removeSessions(but digest: KeyDigest) {}
    func setDashboard(_ url: String) {}
    func insert(_ entry: AuditRecord) {}
    func deleteAudit(before id: AuditID, atMost limit: Int64) -> Int64 { 0 }
    func erase(_ click: ClickRecord, _ claim: ClaimRecord?) -> Bool { false }
    func erase(_ checks: [CheckID]) -> Int64 { 0 }
    func insert(_ rows: [ErasedRecord]) {}
    func add(_ record: ErasureRecord) {}
    func removeErasures(before time: Timestamp, atMost limit: Int64) -> Bool { false }
    func insert(_ postback: ApplePostbackRecord) -> Bool { false }
    func deleteApplePostbacks(_ deadlines: ApplePostbackDeadlines, atMost limit: Int64) -> Int64 { 0 }
    func insert(_ probe: AppleProbe) {}
    func removeProbes(before now: Timestamp) {}
    func setArrival(ofProbe nonce: String, _ digest: KeyDigest) {}
    func keep(_ findings: DriftDetector.Findings, of scope: Scope, end: Timestamp) {}
    func keep(_ figures: [(name: String, value: Double)], as report: FigureReport, of scope: Scope) {}
}

/// The transactions of one process; all processes together have one open transaction at a time.
final class MemoryEngine: BlockingEngine {
    private let database: MemoryDatabase
    private let reader: MemoryReader
    private let transaction: WriteTransaction<MemoryWriter<FileRules>>?
    private var isOpen = false
    private var saved = MemoryDatabase.Rows()
    private(set) var changeCount: Int64 = 0

    init(_ database: MemoryDatabase, _ state: StoreState) {
        self.database = database
        reader = MemoryReader(database)
        transaction = try? WriteTransaction(MemoryWriter(reader: reader), state)
    }

    func begin() throws(EngineFailure) {
        database.lock()
        isOpen = true
        reader.beginSnapshot()
        try translated { () throws(StoreError) in try transaction?.begin() }
    }

    func perform(_ write: Write) throws(EngineFailure) -> Written {
        changeCount += 1
        return try translated { () throws(StoreError) in
            guard let transaction else { throw StoreError(.defect, "there is no transaction") }
            return try transaction.perform(write)
        }
    }

    func savepoint() { saved = reader.rows }
    func release() {}
    func undo() { reader.rows = saved }

    func commit() throws(EngineFailure) {
        try translated { () throws(StoreError) in try transaction?.writeGathered() }
        // With this defect, the claims that the process has answered never reach the other processes.
        let hidesClaims = database.defect == .answersBeforeCommit && !reader.rows.claims.isEmpty
        if !hidesClaims { database.committed.withLock { $0 = reader.rows } }
        end()
        transaction?.didCommit()
    }

    func rollback() {
        transaction?.didRollBack()
        end()
    }

    private func end() {
        if isOpen { database.unlock() }
        isOpen = false
    }

    func reopen() -> TransactionFate { .rolledBack }
    func tidy() {}
    func close() {}

    private func translated<Result>(_ body: () throws(StoreError) -> Result) throws(EngineFailure) -> Result {
        do throws(StoreError) {
            return try body()
        } catch {
            throw MemoryReader.translated(error)
        }
    }
}

struct MemoryBackend: StorageBackend {
    let database: MemoryDatabase

    func openReader() -> MemoryReader { MemoryReader(database) }
    func openScanner() -> MemoryReader { MemoryReader(database) }
    var logByteCount: Int64 { 0 }
}

final class MemorySession: DatabaseSession {
    let loop: LoopState<MemoryBackend>

    init(_ loop: LoopState<MemoryBackend>) { self.loop = loop }
}

/// A process that has the database open; it has only the parts of a store that work with every database.
final class MemoryStore: Sendable {
    let state: StoreState
    private let threads: StoreThreads<MemoryBackend>
    private let directory: DirectoryCache

    init(_ database: MemoryDatabase, set: (inout StoreConfiguration) -> Void = { _ in }) throws {
        var configuration = StoreConfiguration(clock: WallClock { TestStore.noon })
        configuration.hasBackgroundWork = false
        configuration.trustsClock = true
        configuration.timeLimitMilliseconds = 600_000
        set(&configuration)
        let state = StoreState(configuration)
        self.state = state
        threads = StoreThreads(state, MemoryBackend(database: database))
        directory = try DirectoryCache(reading: MemoryReader(database))
        try threads.startWriter { MemoryEngine(database, state) }
    }

    func makeSession() -> MemorySession { MemorySession(LoopState(threads, directory)) }
    func stop() { threads.stop(within: 60_000) }
}

/// No events: the tests of claims send none.
extension MemoryReader {
    func attributedInstalls(_ subjects: EventSubjects) -> [AttributedInstall] { [] }
    func events(of subjects: EventSubjects, onlyWaiting: Bool, atMost limit: Int) -> [EventRecord] { [] }
    func events(ofClick click: Int64, in scope: Scope, atMost limit: Int) -> [EventRecord] { [] }
    func links(ofUsers users: [KeyedHash], in scope: Scope) -> [EventRecord] { [] }
    func events(named ids: [String], in scope: Scope) -> [EventRecord] { [] }
    func refunds(ofPurchases ids: [String], in scope: Scope) -> [EventRecord] { [] }
    func eventNames(ofClicks clicks: [Int64]) -> Set<EventOfClick> { [] }
    func exportedEvents(_ numbers: ClosedRange<Int64>, atMost limit: Int) -> [EventRecord] { [] }
    func newestEvent() -> Int64 { 0 }
}

extension MemoryWriter {
    func insert(_ install: AttributedInstall) {}
    func releaseEvents(_ ids: [String], in scope: Scope, receivedBefore time: Timestamp) {}
    func insert(_ events: [EventRecord]) -> Set<String> { [] }
    func takeBack(_ ids: [String], in scope: Scope) -> [EventRecord] { [] }
    func credit(_ events: [EventRecord]) {}
    func eraseEvents(_ numbers: [Int64]) -> Int64 { 0 }
    func eraseInstalls(ofClicks clicks: [Int64]) -> Int64 { 0 }
    func removeEvents(before time: Timestamp, atMost limit: Int64) -> Bool { false }
}
