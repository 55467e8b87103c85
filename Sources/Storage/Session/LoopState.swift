internal import Attribution
internal import Threads

/// What a session keeps from read to read: its connection, the open snapshot, and what it knows of apps.
///
/// It is used on its loop's thread alone. Reads happen in place; writes go to the thread that writes and come back.
public final class LoopState<Backend: StorageBackend> {
    typealias Reader = Backend.Reader

    let state: StoreState
    let updates: PendingUpdates
    var lessons: LoopLearner
    var records = LoopRecords()
    /// The last use of a key that was recorded.
    var lastKeyUse: (key: KeyID, at: Timestamp)?
    /// Reads that the filter made needless.
    private(set) var skippedReadCount = 0

    private let backend: Backend
    private let background: BackgroundReader<Backend>?
    private let directoryCache: DirectoryCache
    /// Nil before the first read, and after a failure that its connection does not survive.
    package private(set) var reader: Backend.Reader?
    /// The commit that the open snapshot came after; nil when none is open.
    private var snapshotCommit: UInt64?
    private var turn = Turn()
    private var apps = AppNumbers()
    private var directorySnapshot: DirectoryCache.Snapshot
    private var seenDirectoryChanges: UInt64
    private var directoryIsDueAt: UInt64 = 0

    /// What is known of the loop's current turn.
    private struct Turn {
        /// Whether many connections have requests in it.
        var isBusy = false
        /// By the store's monotonic clock; nil outside of a loop, which reports when its turns begin.
        var begunAt: UInt64?
        var readCount = 0
        var hasAskedForFilter = false
        var filter: FingerprintFilter?
    }

    /// Reads of a turn that are made in the database whatever the filter would say.
    ///
    /// A turn has more only under load, where the cost of a read counts, and where the responses of a turn leave
    /// together, after all its work. A check on its own takes the same time whether its fingerprint was ever seen or not.
    private static var unfilteredReadsPerTurn: Int { 1 }
    /// From this number of connections on, the filter is asked before the first read of a turn too.
    private static var connectionsOfBusyTurn: Int { 4 }
    /// How long a change of apps by another process may go unseen, in nanoseconds.
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

    /// The time at which the turn began, in nanoseconds of the store's monotonic clock: exact enough for what is done by
    /// the second.
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
        // A snapshot has nothing to lose; where it cannot be ended, the connection is of no use any more.
        do throws(Reader.Failure) {
            try reader?.endSnapshot()
        } catch {
            reader = nil
        }
    }

    /// Reads in a snapshot that holds every commit of which a caller was told.
    func read<Result>(_ body: (Reader) throws(Reader.Failure) -> Result) throws(StoreError) -> Result {
        do throws(Reader.Failure) {
            let reader = try openReader()
            // Asked before the snapshot is taken: a commit between the two is in the snapshot as well.
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

    /// Reads in one snapshot on a background thread; in place, where the store has none.
    func readInBackground<Answer: Sendable>(
        _ body: @escaping @Sendable (Reader) throws(Reader.Failure) -> Answer
    ) async throws(StoreError) -> Answer {
        guard let background else { return try read(body) }
        return try await background.read(body)
    }

    /// Hands a write to the thread that writes, and waits for it to be on disk.
    ///
    /// - Parameters:
    ///   - write: what is to be done.
    ///   - latest: when the caller stops waiting, if that is sooner than a write's own limit.
    /// - Returns: what became of it.
    /// - Throws: why it was refused.
    @discardableResult
    func write(_ write: Write, until latest: UInt64 = .max) async throws(StoreError) -> Written {
        // A write whose time is up before it is queued would not be withdrawn in time.
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

/// What the session knows without reading, or reads rarely.
extension LoopState {
    /// The scope of an app, whose number is read once; nil for an app that does not exist.
    func scope(of app: AppID, isTest: Bool) throws(StoreError) -> Scope? {
        if let scope = apps.known(app, isTest: isTest) { return scope }
        return try read { reader throws(Reader.Failure) in
            try apps.scope(of: app, isTest: isTest, find: reader.number)
        }
    }

    /// The scope of an app that was asked for before.
    func knownScope(of app: AppID, isTest: Bool) -> Scope? { apps.known(app, isTest: isTest) }

    func directory() throws(StoreError) -> Directory {
        let changes = state.directoryChangeCount
        let now = turnTime
        guard changes != seenDirectoryChanges || now >= directoryIsDueAt else {
            return directorySnapshot.directory
        }
        // Another process's commit moves no counter of this one: only a new snapshot shows it.
        endSnapshot()
        let latest = try read { reader throws(Reader.Failure) in try directoryCache.current(by: reader) }
        if latest.version != directorySnapshot.version { directorySnapshot = latest.copy() }
        seenDirectoryChanges = changes
        directoryIsDueAt = now + Self.directoryNanoseconds
        return directorySnapshot.directory
    }

    /// Whether the filter shows that no click with the check's fingerprint or advertising id is stored.
    func isDefinitelyAbsent(_ check: Check) throws(StoreError) -> Bool {
        turn.readCount += 1
        let ids = check.ladder.advertisingIDs
        // The filter knows nothing of clicks that are named, nor of installations, whose answers may be given again.
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

    /// The filter, unless another process has recorded clicks that it does not know of.
    private func validFilter() throws(StoreError) -> FingerprintFilter? {
        let before = state.filters.withLock { $0 }
        guard let filter = before.current else { return nil }
        let newest = try read { reader throws(Reader.Failure) in try reader.newestClick() }
        let after = state.filters.withLock { $0 }
        guard newest <= after.covered else {
            state.requestCatchUp()
            return nil
        }
        // Older than what was covered before: the newest one was deleted, and what has come since is not known.
        return newest >= before.covered && after.current === filter ? filter : nil
    }
}
