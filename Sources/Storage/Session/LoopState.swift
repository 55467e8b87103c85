internal import Attribution
internal import Threads

/// The state of a loop's session: its connection, the open snapshot, and the apps that it has looked up.
///
/// Only its loop's thread uses it. It reads on that thread, and passes writes to the writing thread.
public final class LoopState<Backend: StorageBackend> {
    typealias Reader = Backend.Reader

    let state: StoreState
    let updates: PendingUpdates
    var lessons: LoopLearner
    var records = LoopRecords()
    /// The last use of a key that was recorded.
    var lastKeyUse: (key: KeyID, at: Timestamp)?
    /// The number of reads that the filter has made unnecessary.
    private(set) var skippedReadCount = 0

    private let backend: Backend
    private let background: BackgroundReader<Backend>?
    private let directoryCache: DirectoryCache
    /// Nil before the first read, and after a failure that ended the connection.
    package private(set) var reader: Backend.Reader?
    /// The number of commits before the open snapshot; nil if none is open.
    private var snapshotCommit: UInt64?
    private var turn = Turn()
    private var apps = AppNumbers()
    private var directorySnapshot: DirectoryCache.Snapshot
    private var seenDirectoryChanges: UInt64
    private var directoryIsDueAt: UInt64 = 0

    /// The state of the current turn: one pass of the loop.
    private struct Turn {
        /// Whether many connections have requests in this turn.
        var isBusy = false
        /// The start of the turn in nanoseconds of the store's monotonic clock; nil if the loop reports no turns.
        var begunAt: UInt64?
        var readCount = 0
        var hasAskedForFilter = false
        var filter: FingerprintFilter?
    }

    /// The number of reads in a turn that do not query the filter.
    ///
    /// A turn has more reads only under load. Then the cost of reads matters, and all responses leave together at the
    /// end of the turn. So the response time of a single check does not reveal whether its fingerprint is stored.
    private static var unfilteredReadsPerTurn: Int { 1 }
    /// The number of connections from which the first read of a turn queries the filter too.
    private static var connectionsOfBusyTurn: Int { 4 }
    /// How long a change of apps or keys by another process may go unseen, in nanoseconds.
    private static var directoryNanoseconds: UInt64 { 200_000_000 }

    /// - Parameters:
    ///   - threads: the threads of the session's store.
    ///   - cache: the apps and keys that all loops share.
    public init(_ threads: StoreThreads<Backend>, _ cache: DirectoryCache) {
        state = threads.state
        backend = threads.backend
        background = threads.reader
        directoryCache = cache
        updates = state.updates.makeUpdates()
        lessons = LoopLearner(state.learnt)
        seenDirectoryChanges = state.directoryChangeCount
        directorySnapshot = cache.snapshot.copy()
    }

    var logByteCount: Int64 { backend.logByteCount }

    /// The time at which the turn began, in nanoseconds of the store's monotonic clock: exact enough for limits per
    /// second.
    var turnTime: UInt64 { turn.begunAt ?? state.configuration.monotonicNow() }

    func beginTurn(with connectionCount: Int) {
        turn.isBusy = connectionCount >= Self.connectionsOfBusyTurn
        turn.begunAt = state.configuration.monotonicNow()
    }

    func endTurn() {
        turn = Turn()
        records.reportMissed(to: state.records)
        endSnapshot()
    }
}

/// Reads and writes.
extension LoopState {
    private func endSnapshot() {
        guard snapshotCommit != nil else { return }
        snapshotCommit = nil
        // A snapshot has no changes to lose, so a connection that cannot end it is replaced.
        do throws(Reader.Failure) {
            try reader?.endSnapshot()
        } catch {
            reader = nil
        }
    }

    /// Reads in a snapshot that contains every commit of this process whose callers have been answered.
    func read<Result>(_ body: (Reader) throws(Reader.Failure) -> Result) throws(StoreError) -> Result {
        do throws(Reader.Failure) {
            let reader = try openReader()
            // The count is read before the snapshot begins, so the snapshot contains at least this number of commits.
            let commit = state.commitCount
            if snapshotCommit != commit {
                endSnapshot()
                try reader.beginSnapshot()
                snapshotCommit = commit
            }
            let result = try body(reader)
            state.failures.noteSuccess(of: .reading, at: MonotonicTime.now().nanoseconds)
            return result
        } catch {
            endSnapshot()
            let failure = Reader.translated(error)
            if failure.endsConnection { reader = nil }
            state.failures.note(failure.error, of: .reading, at: MonotonicTime.now().nanoseconds)
            throw failure.error
        }
    }

    private func openReader() throws(Reader.Failure) -> Reader {
        if let reader { return reader }
        let opened = try backend.openReader()
        reader = opened
        return opened
    }

    /// Reads in a snapshot of its own on the background thread, or in place if the store has none, as for a command.
    func readInBackground<Answer: Sendable>(
        _ body: @escaping @Sendable (Reader) throws(Reader.Failure) -> Answer
    ) async throws(StoreError) -> Answer {
        if let background { return try await background.read(body) }
        // Each read sees what another process has committed, and a long command does not pin the write-ahead log.
        endSnapshot()
        defer { endSnapshot() }
        return try read(body)
    }

    /// Hands a write to the thread that writes, and waits for it to be on disk.
    ///
    /// - Parameters:
    ///   - write: the write.
    ///   - latest: the caller's deadline, in nanoseconds of the monotonic clock; the store's own limit applies too.
    /// - Returns: the outcome.
    /// - Throws: the refusal.
    @discardableResult
    func write(_ write: Write, until latest: UInt64 = .max) async throws(StoreError) -> Written {
        // A write that is queued after its deadline might be committed before it is withdrawn.
        guard MonotonicTime.now().nanoseconds < latest else { throw .late }
        return try await state.queue.perform(write, until: min(state.deadline(), latest))
    }

    /// Waits until all pending updates are on disk.
    func flushUpdates(until deadline: UInt64 = .max) async throws(StoreError) {
        // Read-only sessions have no pending updates.
        guard !state.configuration.isReadOnly else { return }
        state.queue.requestUpdates()
        try await write(.barrier, until: deadline)
    }
}

/// Apps, and the filter of fingerprints.
extension LoopState {
    /// Returns the scope of an app, whose number is read only once; nil for an app that does not exist.
    func scope(of app: AppID, isTest: Bool) throws(StoreError) -> Scope? {
        if let scope = apps.known(app, isTest: isTest) { return scope }
        guard !Backend.Rules.publishesDirectory else {
            return apps.scope(of: app, isTest: isTest) { directoryCache.snapshot.numbers[$0] }
        }
        return try read { reader throws(Reader.Failure) in
            try apps.scope(of: app, isTest: isTest, find: reader.number)
        }
    }

    /// Returns the scope of an app that was looked up before; nil for any other app.
    func knownScope(of app: AppID, isTest: Bool) -> Scope? { apps.known(app, isTest: isTest) }

    func directory() throws(StoreError) -> Directory {
        let changes = state.directoryChangeCount
        let now = turnTime
        guard changes != seenDirectoryChanges || now >= directoryIsDueAt else {
            return directorySnapshot.directory
        }
        let latest = try latestDirectory()
        if latest.version != directorySnapshot.version { directorySnapshot = latest.copy() }
        seenDirectoryChanges = changes
        directoryIsDueAt = now + Self.directoryNanoseconds
        return directorySnapshot.directory
    }

    private func latestDirectory() throws(StoreError) -> DirectoryCache.Snapshot {
        guard !Backend.Rules.publishesDirectory else { return directoryCache.snapshot }
        // The count of commits does not include those of other processes, so a new snapshot is needed.
        endSnapshot()
        return try read { reader throws(Reader.Failure) in try directoryCache.current(by: reader) }
    }

    /// Whether the filter shows that no click with the check's fingerprint or advertising id is stored.
    ///
    /// False also if the check cannot or must not use the filter.
    func isDefinitelyAbsent(_ check: Check) throws(StoreError) -> Bool {
        turn.readCount += 1
        let ids = check.ladder.advertisingIDs
        // The filter does not contain identifiers of clicks, nor installations, which may get an earlier answer.
        guard turn.isBusy || turn.readCount > Self.unfilteredReadsPerTurn, check.installs.isEmpty,
            check.ladder.rungs.count == ids.count
        else { return false }
        if !turn.hasAskedForFilter {
            turn.hasAskedForFilter = true
            turn.filter = try validFilter()
        }
        guard let filter = turn.filter,
            !check.ladder.fingerprints.contains(where: { filter.mayHold($0.index) }),
            !ids.contains(where: { filter.mayHold($0.index) })
        else { return false }
        skippedReadCount += 1
        return true
    }

    /// Returns the filter; nil if there is none, or if it may lack clicks of other processes.
    private func validFilter() throws(StoreError) -> FingerprintFilter? {
        let before = state.filters.withLock { $0 }
        guard let filter = before.current else { return nil }
        let newest = try read { reader throws(Reader.Failure) in try reader.newestClick() }
        let after = state.filters.withLock { $0 }
        guard newest <= after.covered else {
            state.requestCatchUp()
            return nil
        }
        // If the newest click is older than the covered one, newer clicks were deleted, and another process may have
        // reused their numbers.
        return newest >= before.covered && after.current === filter ? filter : nil
    }
}
