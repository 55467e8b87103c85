internal import Attribution
internal import Threads

/// The state of a loop's session: its connection, the open snapshot, and the apps that it has looked up.
///
/// Only its loop's thread uses it. It reads on that thread, and passes writes to the writing thread.
public final class LoopState<Backend: StorageBackend> {
    typealias Reader = Backend.Loop

    let state: StoreState
    let updates: PendingUpdates
    var lessons: LoopLearner
    var records = LoopRecords()
    /// The last use of a key that was recorded.
    var lastKeyUse: (key: KeyID, at: Timestamp)?
    /// The number of reads that the filter has made unnecessary.
    private(set) var skippedReadCount = 0

    private let backend: Backend
    private let open: () throws(Backend.Loop.Failure) -> Backend.Loop
    private let background: BackgroundReader<Backend>?
    private let directoryCache: DirectoryCache
    /// Nil before the first read, and after a failure that ended the connection.
    package private(set) var reader: Backend.Loop?
    /// Nil before the first read that may block, and if ``reader`` serves such reads.
    private var blockingReader: Backend.Reader?
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
    /// If a turn has requests from this many connections, its first read queries the filter too.
    private static var connectionsOfBusyTurn: Int { 4 }
    /// How long a change of apps or keys by another process may go unseen, in nanoseconds.
    private static var directoryNanoseconds: UInt64 { 200_000_000 }

    /// - Parameters:
    ///   - threads: the threads of the session's store.
    ///   - cache: the apps and keys that all loops share.
    ///   - open: opens the loop's connection; called on the loop's thread.
    public init(
        _ threads: StoreThreads<Backend>,
        _ cache: DirectoryCache,
        open: @escaping () throws(Backend.Loop.Failure) -> Backend.Loop
    ) {
        state = threads.state
        backend = threads.backend
        self.open = open
        background = threads.reader
        directoryCache = cache
        updates = state.updates.makeUpdates()
        lessons = LoopLearner(state.learnt, state.clock)
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

    /// Ends a turn; after this call, a session whose database is a server sends the reads that it has gathered.
    public func endTurn() {
        turn = Turn()
        records.reportMissed(to: state.records)
        endSnapshot()
    }
}

extension LoopState where Backend.Loop == Backend.Reader {
    /// Creates the state of a loop whose connection is one of the backend's readers.
    public convenience init(_ threads: StoreThreads<Backend>, _ cache: DirectoryCache) {
        self.init(threads, cache, open: threads.backend.openReader)
    }
}

/// Reads on the loop's connection.
extension LoopState {
    private func endSnapshot() {
        guard snapshotCommit != nil else { return }
        snapshotCommit = nil
        // A snapshot has no changes to lose, so a connection that cannot end it is replaced.
        do throws(Reader.Failure) { try reader?.endSnapshot() } catch { reader = nil }
    }

    /// Reads in a snapshot that contains every commit of this process whose callers have been answered.
    func read<Result>(_ body: (Reader) throws(Reader.Failure) -> Result) throws(StoreError) -> Result {
        do throws(Reader.Failure) {
            let result = try body(try openSnapshot())
            noteSuccess()
            return result
        } catch { throw failed(Reader.translated(error)) }
    }

    /// Reads rows, and fetches those that are missing, until no row is missing.
    ///
    /// Where reads are answered at once, no row is ever missing, so this function neither suspends nor reads twice.
    ///
    /// - Parameters:
    ///   - latest: the caller's deadline, in nanoseconds of the monotonic clock; the store's own limit applies too.
    ///   - body: called again after each fetch. It must not keep what it has read: a run that lacked rows is void.
    /// - Returns: the result of the last call of `body`.
    /// - Throws: the failure of that call, or of a fetch.
    @inline(__always)
    func readRows<Result>(
        until latest: UInt64 = .max,
        _ body: (Reader.Rows) throws(Reader.Rows.Failure) -> Result
    ) async throws(StoreError) -> Result {
        var rows: Reader.Rows?
        while true {
            if let result = try readOnce(&rows, body) { return result }
            if let rows { try await fetch(for: rows, until: latest) }
        }
    }

    /// Runs a read once; returns nil if the run was void.
    private func readOnce<Result>(
        _ known: inout Reader.Rows?,
        _ body: (Reader.Rows) throws(Reader.Rows.Failure) -> Result
    ) throws(StoreError) -> Result? {
        let rows: Reader.Rows
        do throws(Reader.Failure) {
            let reader = try openSnapshot()
            rows = known ?? reader.rows
        } catch { throw failed(Reader.translated(error)) }
        known = rows
        do throws(Reader.Rows.Failure) {
            let result = try body(rows)
            if rows.isVoid { return nil }
            noteSuccess()
            return result
        } catch {
            // The result of a run that lacked rows means nothing.
            if rows.isVoid { return nil }
            throw failed(Reader.Rows.translated(error))
        }
    }

    private func fetch(for rows: Reader.Rows, until latest: UInt64) async throws(StoreError) {
        do throws(Reader.Failure) {
            try await openReader().fetch(for: rows, until: min(state.deadline(), latest))
        } catch { throw failed(Reader.translated(error)) }
    }

    /// Returns the connection with a snapshot that contains every commit whose callers have been answered.
    private func openSnapshot() throws(Reader.Failure) -> Reader {
        let reader = try openReader()
        // The count is read before the snapshot begins, so the snapshot contains at least this number of commits.
        let commit = state.commitCount
        if snapshotCommit != commit {
            endSnapshot()
            try reader.beginSnapshot()
            snapshotCommit = commit
        }
        return reader
    }

    private func openReader() throws(Reader.Failure) -> Reader {
        if let reader { return reader }
        let opened = try open()
        reader = opened
        return opened
    }

    private func noteSuccess() {
        state.failures.noteSuccess(of: .reading, at: MonotonicTime.now().nanoseconds)
    }

    /// Ends the snapshot after a failure; returns the error for the caller.
    private func failed(_ failure: EngineFailure) -> StoreError {
        endSnapshot()
        if failure.endsConnection { reader = nil }
        state.failures.note(failure.error, of: .reading, at: MonotonicTime.now().nanoseconds)
        return failure.error
    }
}

/// Reads that may take long, and writes.
extension LoopState {
    /// Reads for a report: in the loop's snapshot if a report does not block the loop, otherwise on the
    /// background thread.
    ///
    /// - Parameters:
    ///   - isLong: whether the report reads so much that it would delay the loop's other requests.
    ///   - body: called on the loop or on the background thread.
    /// - Returns: the result of `body`.
    /// - Throws: if the read failed or was refused.
    func readReport<Answer: Sendable>(
        isLong: Bool = false,
        _ body: @escaping @Sendable (Backend.Reader) throws(Backend.Reader.Failure) -> Answer
    ) async throws(StoreError) -> Answer {
        if !isLong, let answer = try readOnLoop(body) { return answer }
        return try await readInBackground(body)
    }

    /// Whether the counts of this number of apps are too many to be read on a loop, for ``readReport(isLong:_:)``.
    static func isLong(appCount: Int) -> Bool { appCount > 4 }

    /// Reads on the loop's connection; returns nil if a report would block it.
    private func readOnLoop<Result>(
        _ body: (Backend.Reader) throws(Backend.Reader.Failure) -> Result
    ) throws(StoreError) -> Result? {
        try read { loop throws(Reader.Failure) -> Result? in
            guard let reader = Backend.reader(of: loop) else { return nil }
            return try body(reader)
        }
    }

    /// Reads on the calling thread, which may block: for commands.
    func readInPlace<Result>(
        _ body: (Backend.Reader) throws(Backend.Reader.Failure) -> Result
    ) throws(StoreError) -> Result {
        if let result = try readOnLoop(body) { return result }
        do throws(Backend.Reader.Failure) {
            let reader: Backend.Reader
            if let blockingReader { reader = blockingReader } else { reader = try backend.openReader() }
            blockingReader = reader
            try reader.beginSnapshot()
            let result = try body(reader)
            try reader.endSnapshot()
            return result
        } catch {
            blockingReader = nil
            throw failed(Backend.Reader.translated(error))
        }
    }

    /// Reads in a separate snapshot on the background thread; without a background thread, as in a command, on the
    /// calling thread.
    func readInBackground<Answer: Sendable>(
        _ body: @escaping @Sendable (Backend.Reader) throws(Backend.Reader.Failure) -> Answer
    ) async throws(StoreError) -> Answer {
        if let background { return try await background.read(body) }
        // Without an open snapshot, each read sees what other processes have committed, and a long command does not pin
        // the write-ahead log.
        endSnapshot()
        defer { endSnapshot() }
        return try readInPlace(body)
    }

    /// Passes a write to the thread that writes, and waits until the write is on disk.
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

    /// Removes all former content of rows from the write-ahead log; returns false if other reads prevented that for too
    /// long.
    func clearLog() async throws(StoreError) -> Bool {
        let maximumAttempts = 50
        for _ in 0..<maximumAttempts {
            endSnapshot()
            let backend = backend
            let result = try await readInBackground { _ -> Result<Bool, StoreError> in
                do throws(StoreError) { return .success(try backend.clearLog()) } catch {
                    return .failure(error)
                }
            }
            if try result.get() { return true }
        }
        return false
    }

    /// Waits until all pending updates are on disk.
    func flushUpdates(until deadline: UInt64 = .max) async throws(StoreError) {
        // Read-only sessions have no pending updates.
        guard !state.configuration.isReadOnly else { return }
        state.queue.requestUpdates()
        try await write(.barrier, until: deadline)
    }

    /// Waits until all pending updates are on disk, unless they cannot be written now.
    ///
    /// If the disk is full, operators need reports most. A report then lacks only checks without a match, because clicks
    /// and matches are on disk before their responses.
    func flushUpdatesIfPossible() async { try? await flushUpdates() }
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
        // The number of commits does not include those of other processes, so the open snapshot may be too old.
        endSnapshot()
        return try read { reader throws(Reader.Failure) in try directoryCache.current(by: reader) }
    }

    /// Whether the filter shows that no click with the check's fingerprint or advertising id is stored.
    ///
    /// False also if the check cannot or must not use the filter.
    func isDefinitelyAbsent(_ check: Check) throws(StoreError) -> Bool {
        turn.readCount += 1
        let ids = check.ladder.advertisingIDs
        // The filter contains neither identifiers of clicks nor installations. So a check that names a click must
        // read, and so must a check of an installation, which may get an earlier answer.
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
