public import Attribution

/// The reads of the writing thread in its open transaction.
public protocol WriterReader: ClickReader, NumberReader, CountReader, LearningReader, DirectoryReader,
    LinkFieldRows, SessionRows, EndpointRows, EventRows
{
    // Clicks

    /// Returns the posts recorded from this click on, newest first.
    func posts(from click: Int64, atMost limit: Int) throws(Failure) -> [StoredPost]
    /// Returns the newest click with this post of this visit, if it was recorded within ten seconds of a time.
    ///
    /// It is called only where ``StoreRules/readsNewestClicks`` is false; elsewhere the writing thread knows the posts.
    func click(ofPost post: KeyedHash, visit: KeyedHash, in scope: Scope, recordedAt: Timestamp)
        throws(Failure) -> Int64?
    /// Passes the hashes of each click that was recorded after this one to `body`.
    func hashes(after click: Int64, atMost limit: Int, _ body: ([KeyedHash]) -> Void) throws(Failure)
    /// Returns the click with an idempotency key.
    func click(ofIdempotency key: KeyedHash, in scope: Scope) throws(Failure) -> Int64?
    /// Returns the first word of the hash of each visit of a visitor, among the newest open clicks of a search.
    func visits(ofVisitor visitor: UInt64, _ search: VisitSearch) throws(Failure) -> [UInt64]
    /// Returns the open clicks of a visit, known by the first word of its hash, among the newest clicks of a search.
    ///
    /// If `near` is the network of the visit's address, only clicks from there are searched.
    func clicks(ofVisit visit: UInt64, near: UInt64?, _ search: VisitSearch) throws(Failure) -> [Int64]
    /// Returns clicks that expire at or after `start` and before `end`, in the order of their expiry.
    func clicks(expiringFrom start: Timestamp, before end: Timestamp, atMost limit: Int) throws(Failure)
        -> [ClickRecord]
    /// Returns the limits of a link; nil if it was deleted.
    func limits(of link: LinkID) throws(Failure) -> LinkLimits?

    // Other subjects

    /// Returns the first half of the identifier of the newest check's record; 0 without records.
    func newestCheck() throws(Failure) -> Int64
    func value(of name: StoredValue) throws(Failure) -> Int64?
    func numberedApps() throws(Failure) -> [NumberedApp]
    /// Returns the stored progress of a job; nil if none is stored.
    func storedProgress(of name: String) throws(Failure) -> Int64?
    /// Returns when each former server key was replaced, by the first word of its check value.
    func formerServerKeys() throws(Failure) -> [UInt64: Timestamp]
    /// Returns the learnt sums of a family after a key, in the order of their keys.
    func learntSums(of scope: Scope, _ family: CounterFamily, after key: Int64, atMost limit: Int)
        throws(Failure) -> [(key: Int64, sum: Double)]
}

extension WriterReader {
    public func click(ofPost post: KeyedHash, visit: KeyedHash, in scope: Scope, recordedAt: Timestamp)
        -> Int64?
    { nil }
}

/// A search of the open clicks of a fingerprint within a span of time, both ends included.
public struct VisitSearch: Sendable {
    public let scope: Scope
    public let key: KeyedHash
    public let first: Timestamp
    public let last: Timestamp
}

/// A number that a database stores under a name.
public enum StoredValue: String, Sendable {
    /// Every click that expires before this time is closed.
    case closedBefore = "closed_before"
    /// Every click of the kind with the shorter retention that expired before this time is deleted.
    case sortedUpTo = "sorted_up_to"
    /// The kind that ``sortedUpTo`` is about: 1 for clicks that launches have consumed, 0 for others.
    case sortedKind = "sorted_kind"
    /// The latest expiry of a click that retention has deleted; erasures may have deleted later ones.
    case deletedUpTo = "deleted_up_to"
    /// The number of stored records of checks.
    case keptChecks = "kept_checks"
    /// The number of checks that left no record because there were too many.
    case unrecordedChecks = "unrecorded_checks"
    /// The first day whose counts by name are not compacted.
    case compactedBefore = "thinned_before"
    /// The first word of the check value of the server key in use.
    case serverKey = "server_key"
    /// The mark of the database whose rows are being moved into this one; see ``MoveSource/mark``.
    ///
    /// The mark is removed when all rows have moved.
    case moveSource = "move_source"
    /// The newest click that was moved from another database, in which numbers did not name homes.
    case movedUpTo = "moved_up_to"
}

/// The statements of the writing thread in its open transaction.
///
/// ``WriteTransaction`` decides which of them run, in which order and with which values.
public protocol StoreWriter: ErasureWriter, PostbackWriter, ApplePostbackWriter {
    associatedtype Rules: StoreRules = FileRules

    func insert(_ check: CheckRecord) throws(Failure)
    /// Deletes the oldest records of checks before an identifier; returns how many were deleted.
    func deleteChecks(before id: Int64, atMost limit: Int64) throws(Failure) -> Int64
    func set(_ name: StoredValue, to value: Int64) throws(Failure)
    func add(_ count: Int64, to name: StoredValue) throws(Failure)

    // Counts
    func write(_ deltas: CountDeltas) throws(Failure)
    /// Deletes counts of live clicks that expired before a second, at most `limit` for each length of span.
    ///
    /// - Returns: whether more may be left.
    func purgeLiveClicks(of scope: Scope, before second: Int64, atMost limit: Int) throws(Failure) -> Bool
    /// Adds the counts of some rare names to the name for everything else; returns false if there are none.
    func foldRareNames(_ names: RareNames) throws(Failure) -> Bool
    /// Deletes the counts of the same rare names; returns false if there are none.
    func removeRareNames(_ names: RareNames) throws(Failure) -> Bool

    // Apps, keys and links; a refused change is undone as a whole
    func create(_ app: App, with keys: [APIKey]) throws(Failure) -> StoreError?
    func update(_ app: AppID, to settings: App.Settings) throws(Failure) -> StoreError?
    func create(_ key: APIKey) throws(Failure) -> StoreError?
    func revoke(_ key: KeyID, at now: Timestamp) throws(Failure) -> StoreError?
    /// Stores the minute in which a key was used; returns false if it or a later one is stored.
    func setUse(of key: KeyID, at now: Timestamp) throws(Failure) -> Bool
    func create(_ links: [NewLink]) throws(Failure) -> LinkStoreError?
    func update(_ link: Link, ifUpdatedAt earlier: Timestamp?) throws(Failure) -> LinkStoreError?
    func delete(_ link: LinkID) throws(Failure) -> LinkStoreError?

    // Sessions of the dashboard
    func insert(_ session: SessionRecord) throws(Failure)
    /// Deletes a sign-in link that expires after a time; returns whether there was one.
    func takeSignInLink(_ digest: KeyDigest, expiringAfter now: Timestamp) throws(Failure) -> Bool
    func insert(_ link: SignInLink) throws(Failure)
    /// Stores when a session was used, unless a later use is stored.
    func setUse(ofSession digest: KeyDigest, at now: Timestamp) throws(Failure)
    func removeSession(_ digest: KeyDigest) throws(Failure)
    func removeSessions(but digest: KeyDigest) throws(Failure)
    /// Stores the address at which this server serves the dashboard.
    func setDashboard(_ url: String) throws(Failure)
    /// Deletes the sessions and sign-in links that have ended.
    func removeEnded(at now: Timestamp) throws(Failure)

    // Audit log
    func insert(_ entry: AuditRecord) throws(Failure)
    /// Deletes up to `limit` of the oldest entries before an id; returns how many were deleted.
    func deleteAudit(before id: AuditID, atMost limit: Int64) throws(Failure) -> Int64

    // Learning
    func beginLearning(of scope: Scope, _ epoch: LearningEpoch) throws(Failure)
    /// Moves the start of learning back to a time, if the stored start is later.
    func beginEarlier(_ scope: Scope, at time: Timestamp) throws(Failure)
    /// Adds to a counter; creates a missing counter only if its family has room.
    func add(_ sum: Double, to key: CounterKey, of scope: Scope, hasRoom: Bool) throws(Failure)
    func removeCounter(_ key: Int64, _ family: CounterFamily, of scope: Scope) throws(Failure)
    func keepLargest(_ count: Int, of scope: Scope, _ family: CounterFamily) throws(Failure)
    /// Multiplies all counters of a family.
    func scaleCounters(of scope: Scope, _ family: CounterFamily, by factor: Double) throws(Failure)
    func setLandmark(of scope: Scope, to landmark: Timestamp) throws(Failure)
    /// Deletes the epoch and some of the counters of a scope; returns whether there may be more.
    func forgetCounters(of scope: Scope, limit: Int) throws(Failure) -> Bool

    // Keys of hashes
    func addFormerServerKey(_ key: UInt64, replacedAt: Timestamp) throws(Failure)
    func removeFormerServerKey(_ key: UInt64) throws(Failure)
    /// Deletes the days whose keys for addresses are no longer needed at a time.
    func removeAddressDays(before now: Timestamp) throws(Failure)

    // Jobs
    /// Takes or renews a lease; returns false while another process holds it.
    func take(_ lease: JobLease) throws(Failure) -> Bool
    /// Releases the lease of a job, and stores `progress`, the time up to which the job is done.
    ///
    /// Does nothing if another process holds the lease.
    func finish(_ job: JobName, for holder: Int64, progress: Timestamp) throws(Failure)
    /// Stores that jobs used the wall clock at a time, at most once an hour.
    func noteSettled(at now: Timestamp) throws(Failure)
    /// Stores the findings of an evaluation of match rates.
    func keep(_ findings: DriftDetector.Findings, of scope: Scope, end: Timestamp) throws(Failure)
    /// Stores the figures of a report in place of the scope's last one.
    func keep(_ figures: [(name: String, value: Double)], as report: FigureReport, of scope: Scope)
        throws(Failure)
}

/// The values that the writing thread keeps in memory from transaction to transaction.
///
/// A write changes counts, posts and ``Values`` after its last statement that can fail, so that a write that
/// is undone has changed none of them. A commit keeps the changes of its transaction, and a rollback restores
/// the state of the last commit. Numbers and the filter are not restored: numbers are not used again, and a
/// filter may contain more than is stored.
struct TransactionMemory {
    /// Small values, which are restored as a whole.
    struct Values {
        /// Every click that expires before this time is closed.
        ///
        /// After the clock jumped ahead and back, a new click may expire before this time. The click then moves this
        /// time back.
        var closedBefore = Timestamp(milliseconds: .min)
        var addressDays = AddressKeyDeadlines()
        /// Whether apps or keys were changed.
        var changesDirectory = false
        /// Whether the open transaction knows the newest check record: another process may have written records since the
        /// last transaction.
        var knowsNewestCheck = false
        /// The second half of the identifiers of a transaction's check records, which differ in their first half.
        var checkWord: UInt64 = 0
        /// The number of check records that the open transaction has stored.
        var storedChecks: Int64 = 0
        /// Whether the open transaction has closed or deleted clicks or check records.
        var hasDeleted = false
        /// Whether the open transaction has stored deliveries of postbacks to send.
        var hasPostbacks = false
    }

    /// The newest numbers of rows.
    struct Numbers: Sendable {
        /// The first half of the newest click's identifier.
        var click = LastNumber()
        /// The first half of the newest check record's identifier.
        ///
        /// If several servers share the database, only the records of this server count.
        var check = LastNumber()
        /// The first half of the newest entry's identifier in the audit log.
        var audit: UInt64 = 0
        var erased = LastNumber()
        var applePostback = LastNumber()
        var event = LastNumber()
    }

    var values = Values()
    private(set) var committed = Values()
    var posts = RecentPosts()
    var totals: BatchTotals
    var filter = FilterUpdater()
    var apps = AppNumbers()
    var numbers = Numbers()
    /// The endpoints that get events; nil if they must be read, as after a change by this process.
    var targets: PostbackTargets?

    init(admitsNames: Bool) { totals = BatchTotals(admitsNames: admitsNames) }

    mutating func commit() {
        posts.commit()
        totals.commit()
        values.changesDirectory = false
        values.knowsNewestCheck = false
        values.storedChecks = 0
        values.hasDeleted = false
        values.hasPostbacks = false
        committed = values
    }

    mutating func rollback() {
        posts.rollback()
        totals.rollback()
        values = committed
        targets = nil
    }
}

/// Decides what each write does in the open transaction; only the writing thread uses it.
public final class WriteTransaction<Writer: StoreWriter> {
    public typealias Failure = Writer.Reader.Failure
    typealias Rules = Writer.Rules

    public let writer: Writer
    /// How numbers are made; changed between two transactions when an engine's server gets another number.
    public var numbers: NumberLayout
    let state: StoreState
    var memory = TransactionMemory(admitsNames: Rules.admitsNames)
    private var saved: TransactionMemory?

    /// Reads the values that are kept in memory.
    public init(_ writer: Writer, _ state: StoreState) throws(Failure) {
        self.writer = writer
        self.state = state
        numbers = state.configuration.numbers
        let reader = writer.reader
        if Rules.readsNewestClicks {
            let now = state.configuration.clock.now()
            try memory.posts.load(by: reader, newest: try reader.newestClick(), at: now)
        }
        let closedBefore = try reader.value(of: .closedBefore)
        memory.values.closedBefore = Timestamp(milliseconds: closedBefore ?? .min)
        memory.commit()
    }

    var reader: Writer.Reader { writer.reader }

    /// Whether the open transaction changes apps or keys.
    public var changesDirectory: Bool { memory.values.changesDirectory }

    /// Reads what other processes wrote, after the transaction was opened.
    public func begin() throws(Failure) {
        guard Rules.readsNewestClicks else { return }
        // This is read in each transaction, because another process may have written.
        let newest = try reader.newestClick()
        memory.numbers.click.value = max(memory.numbers.click.value, newest)
        try memory.posts.catchUp(to: newest, by: reader)
        try memory.filter.catchUp(to: newest, state, reader)
    }

    /// Writes the counts and values of the transaction, before its commit.
    public func writeGathered() throws(Failure) {
        try memory.totals.gather(by: reader)
        if !memory.totals.counts.isEmpty { try writer.write(memory.totals.counts) }
        if memory.values.storedChecks > 0 { try writer.add(memory.values.storedChecks, to: .keptChecks) }
        let closedBefore = memory.values.closedBefore
        if closedBefore != memory.committed.closedBefore {
            try writer.set(.closedBefore, to: closedBefore.milliseconds)
        }
    }

    /// Keeps the changes in memory, and makes readers read the commit.
    public func didCommit() {
        let (changesDirectory, hasPostbacks) = (memory.values.changesDirectory, memory.values.hasPostbacks)
        if !memory.totals.counts.isEmpty || memory.values.hasDeleted { state.noteTraffic() }
        saved = nil
        memory.commit()
        memory.filter.commit(newest: memory.posts.newest, state)
        state.renewSnapshots()
        if changesDirectory { state.noteDirectoryChange() }
        if hasPostbacks { state.hintPostbacks() }
    }

    /// Drops the changes in memory.
    public func didRollBack() {
        saved = nil
        memory.rollback()
    }

    /// Stores the values in memory, for ``undo()``.
    ///
    /// Only an engine that writes rows after ``perform(_:)`` needs this: there a write can fail after its last statement.
    public func savepoint() { saved = memory }

    /// Drops the changes in memory since the last ``savepoint()``.
    public func undo() {
        guard let saved else { return }
        // A number is not used again, because it may be the reason for the failure.
        let numbers = memory.numbers
        memory = saved
        memory.numbers = numbers
    }

    /// Returns the number that the number of a new row must exceed.
    func last(_ number: LastNumber, at time: Timestamp) -> Int64 {
        Rules.readsNewestClicks ? number.value : number.value(at: time)
    }

    /// Returns the scope of an app; nil for an app that does not exist.
    public func scope(of app: AppID, isTest: Bool) throws(Failure) -> Scope? {
        let reader = reader
        return try memory.apps.scope(of: app, isTest: isTest) { app throws(Failure) in
            try reader.number(of: app)
        }
    }
}

extension WriteTransaction {
    /// Does a write in the open transaction.
    public func perform(_ write: Write) throws(Failure) -> Written {
        switch write {
        case .click(let click): return try record(click)
        case .claim(let request): return .claim(try claim(request))
        case .events(let batch): return try record(batch)
        case .updates(let updates): try perform(updates)
        case .directory(let change, let actor): return try perform(change, by: actor)
        case .links(let change, let actor): return try perform(change, by: actor)
        case .learning(let change): return try perform(change)
        case .keys(let change): return try perform(change)
        case .sessions(let change): return try perform(change)
        case .postbacks(let change, let actor): return try perform(change, by: actor)
        case .applePostbacks(let change): return try perform(change)
        case .audit(let change, let actor): try note(change, by: actor)
        case .erase(let slice): return try perform(slice)
        case .job(let step): return try perform(step)
        case .barrier: break
        case .hold(let body): body()
        }
        return .done
    }

    private func perform(_ updates: PendingUpdates.Content) throws(Failure) {
        let now = state.configuration.clock.now()
        for click in updates.failedDeliveries where state.ledger.mayMark(click, at: now) {
            try writer.markUndelivered(click)
        }
        var changesDirectory = false
        for (key, time) in updates.keyUses where try writer.setUse(of: key, at: time) {
            changesDirectory = true
        }
        for record in updates.checks.records {
            try insert(record.facts, record.scope)
            guard record.facts.outcome == .noMatch else { continue }
            try publish(record.scope, at: record.facts.at) { _ in .launch(record.facts) }
        }
        if updates.checks.unrecorded > 0 { try writer.add(updates.checks.unrecorded, to: .unrecordedChecks) }
        try memory.totals.add(updates, by: reader)
        if changesDirectory { memory.values.changesDirectory = true }
        memory.values.storedChecks += Int64(updates.checks.records.count)
    }

    /// Stores the record of a check; the caller counts the record after the last statement of its write.
    func insert(_ facts: CheckFacts, _ scope: Scope) throws(Failure) {
        if !memory.values.knowsNewestCheck {
            if Rules.readsNewestClicks { memory.numbers.check.value = try reader.newestCheck() }
            memory.values.knowsNewestCheck = true
            memory.values.checkWord = state.configuration.random()
        }
        // A record may be stored long after its check, which is no sign of a wrong clock.
        let last = last(memory.numbers.check, at: state.configuration.clock.now())
        let next = numbers.check(after: last, at: facts.at)
        memory.numbers.check.value = next
        let id = CheckID(high: UInt64(bitPattern: next), low: memory.values.checkWord)
        try writer.insert(CheckRecord(id: id, scope: scope, facts: facts))
    }
}

/// The keys that the stored hashes need.
extension WriteTransaction {
    private func perform(_ change: KeyChange) throws(Failure) -> Written {
        switch change {
        case .confirm(let values, let now): return .serverKeys(try confirm(values.map(\.index), at: now))
        case .forget(let key): try writer.removeFormerServerKey(key)
        case .forgetAddressDays(let now): try writer.removeAddressDays(before: now)
        }
        return .done
    }

    /// Stores the first key as the current server key; if it replaces another key, stores that one as a former key with
    /// the time.
    ///
    /// Changes nothing if the stored key is not among `keys`, the first words of the check values of all keys in use.
    private func confirm(_ keys: [UInt64], at now: Timestamp) throws(Failure) -> ServerKeyRecognition {
        guard let current = keys.first else { return .foreign }
        let stored = try reader.value(of: .serverKey).map { UInt64(bitPattern: $0) }
        if let stored, !keys.contains(stored) { return .foreign }
        if let stored, stored != current {
            let newest = RowIdentifier.time(of: max(try reader.newestClick(), try reader.newestCheck()))
            try writer.addFormerServerKey(stored, replacedAt: max(now, newest))
            try writer.removeFormerServerKey(current)
        }
        if stored != current { try writer.set(.serverKey, to: Int64(bitPattern: current)) }
        return .own(missing: try reader.formerServerKeys().keys.count { !keys.contains($0) })
    }
}

/// Learnt sums.
extension WriteTransaction {
    private func perform(_ change: LearningChange) throws(Failure) -> Written {
        switch change {
        case .add(let slices): for slice in slices { try learn(slice) }
        case .forget(let scope, let limit): return .flag(try writer.forgetCounters(of: scope, limit: limit))
        case .reset(let scope, let app, let limit, let actor):
            let fields = AuditFields([(name: "test", texts: ["\(scope.isTest)"])])
            try note(AuditedChange(.resetModel, app: app, of: app.text, to: fields), by: actor)
            return .flag(try writer.forgetCounters(of: scope, limit: limit))
        case .beginEarlier(let scope, let now): try writer.beginEarlier(scope, at: now)
        case .fade(let scope, let family, let first, let now, let limit):
            guard let epoch = try reader.learningEpoch(of: scope) else { return .faded(upTo: nil) }
            let sums = try reader.learntSums(of: scope, family, after: first, atMost: limit)
            for (key, sum) in sums
            where epoch.hasFaded(sum, CounterKey(family, UInt64(bitPattern: key)), at: now) {
                try writer.removeCounter(key, family, of: scope)
            }
            return .faded(upTo: sums.count < limit ? nil : sums.last?.key)
        case .keepLargest(let count, let scope, let family): try writer.keepLargest(count, of: scope, family)
        case .moveLandmark(let scope, let landmark): try moveLandmark(of: scope, to: landmark)
        }
        return .done
    }

    private func learn(_ slice: LearntSlice) throws(Failure) {
        guard let stored = try epoch(for: slice) else { return }
        for (key, sum) in slice.sums {
            let sum = sum * slice.epoch.factor(movingTo: stored.landmark, for: key.family)
            guard sum.isFinite else { continue }
            try writer.add(sum, to: key, of: slice.scope, hasRoom: slice.room.holds(key.family))
        }
    }

    /// Returns the epoch of the stored sums; nil if they were deleted after the slice was gathered.
    private func epoch(for slice: LearntSlice) throws(Failure) -> LearningEpoch? {
        // Another process may have begun to learn before this one.
        if let stored = try reader.learningEpoch(of: slice.scope) {
            state.learnt.noteStored(slice.scope)
            return stored
        }
        guard !state.learnt.wasStored(slice.scope) else {
            // Another process has deleted the sums, so this one drops its older increments too.
            state.learnt.forget(slice.scope)
            return nil
        }
        try writer.beginLearning(of: slice.scope, slice.epoch)
        return slice.epoch
    }

    private func moveLandmark(of scope: Scope, to landmark: Timestamp) throws(Failure) {
        guard let epoch = try reader.learningEpoch(of: scope) else { return }
        // This waits for transactions of other servers that add to the sums, so it comes before the sums are changed.
        try writer.setLandmark(of: scope, to: landmark)
        for family in CounterFamily.allCases {
            let factor = epoch.factor(movingTo: landmark, for: family)
            if factor != 1 { try writer.scaleCounters(of: scope, family, by: factor) }
        }
    }
}
