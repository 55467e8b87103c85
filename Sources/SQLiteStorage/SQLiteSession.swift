internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// The store as one event loop sees it.
///
/// It is used on that loop's thread alone.
///
/// Reads happen in place, on a connection of the loop's own; writes go to the writer and come back.
public final class SQLiteSession {
    let shared: SharedState
    private let opening: DatabaseOpening
    /// Reads that the filter made needless.
    package private(set) var skippedReadCount = 0
    private let cache: DirectoryCache
    let updates: PendingUpdates
    var lessons: LoopLearner
    var records = LoopRecords()
    /// The use of a key that was noted last.
    var lastKeyUse: (key: KeyID, at: Timestamp)?

    private var connection: SQLiteConnection?
    /// The commit that the open read transaction came after; nil when none is open.
    private var snapshotCommit: UInt64?
    private var turn = Turn()
    private var apps = AppNumbers()
    private var directorySnapshot: DirectoryCache.Snapshot
    private var seenDirectoryChanges: UInt64
    private var directoryIsDueAt: UInt64 = 0

    /// What is known of the loop's present turn.
    private struct Turn {
        /// Whether many connections have something to say in it.
        var isBusy = false
        /// By the store's monotonic clock; nil outside of a loop, which says when its turns begin.
        var begunAt: UInt64?
        var readCount = 0
        var hasAskedForFilter = false
        var filter: FingerprintFilter?
    }

    /// Reads of a turn that are made in the database whatever the filter would say.
    ///
    /// A turn has more only under load, where the cost of a read counts, and where the answers of a turn leave together,
    /// after all its work. A check on its own takes the same time whether its fingerprint was ever seen or not.
    private static let unfilteredReadsPerTurn = 1

    /// With so many connections a turn is known to be no quiet one before its first look.
    private static let connectionsOfBusyTurn = 4

    /// How long a change by another process may go unseen, in nanoseconds.
    private static let directoryNanoseconds: UInt64 = 200_000_000

    init(shared: SharedState, opening: DatabaseOpening, directory: DirectoryCache) {
        self.shared = shared
        self.opening = opening
        cache = directory
        updates = shared.updates.makeUpdates()
        lessons = LoopLearner(shared.learnt)
        seenDirectoryChanges = shared.directoryChangeCount
        directorySnapshot = directory.snapshot.copy()
    }

    /// Says for how many connections there is something to do in the turn that begins.
    public func beginTurn(with connectionCount: Int) {
        turn.isBusy = connectionCount >= Self.connectionsOfBusyTurn
        turn.begunAt = shared.configuration.monotonicNow()
    }

    /// Nanoseconds of the store's monotonic clock, as of when the turn began: for what is done by the second.
    var turnMoment: UInt64 { turn.begunAt ?? shared.configuration.monotonicNow() }

    /// Ends the read transaction that is kept open over a turn of the loop.
    ///
    /// Called before the loop sleeps, so that an idle loop keeps no old pages of the log alive.
    public func endTurn() {
        turn = Turn()
        records.reportMissed(to: shared.records)
        endSnapshot()
    }

    private func endSnapshot() {
        guard snapshotCommit != nil else { return }
        snapshotCommit = nil
        // A read transaction has nothing to lose; where it cannot be ended, the connection is done for.
        do throws(SQLiteError) {
            try connection?.rollback()
        } catch {
            connection = nil
        }
    }

    /// Reads in a snapshot that holds every commit that anybody was told of.
    func read<Result>(_ body: (SQLiteReader) throws(SQLiteError) -> Result) throws(StoreError) -> Result {
        do throws(SQLiteError) {
            let connection = try openConnection()
            // Asked before the snapshot is taken: a commit between the two is in the snapshot as well.
            let commit = shared.commitCount
            if snapshotCommit != commit {
                endSnapshot()
                try connection.begin(.deferred)
                snapshotCommit = commit
            }
            let result = try body(SQLiteReader(connection: connection))
            shared.failures.noteSuccess(of: .reading, at: MonotonicTime.now().nanoseconds)
            return result
        } catch {
            endSnapshot()
            if error.endsConnection { connection = nil }
            let failure = StoreError(error)
            shared.failures.note(failure, of: .reading, at: MonotonicTime.now().nanoseconds)
            throw failure
        }
    }

    /// Whether no click with the check's fingerprint or advertising id is stored, known without reading the database.
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
        let before = shared.filters.withLock { $0 }
        guard let filter = before.current else { return nil }
        let newest = try read { reader throws(SQLiteError) in
            try reader.connection.integer(FilterSQL.newestClick)
        }
        let after = shared.filters.withLock { $0 }
        guard newest <= after.covered else {
            shared.requestCatchUp()
            return nil
        }
        // Older than what was covered before: the newest one was deleted, and what has come since is not known.
        return newest >= before.covered && after.current === filter ? filter : nil
    }

    private func openConnection() throws(SQLiteError) -> SQLiteConnection {
        if let connection { return connection }
        let opened = try opening.openReader()
        connection = opened
        return opened
    }

    /// What reading has cost since the session's connection was opened, in steps of SQLite's virtual machine.
    package var readStepCount: Int { connection?.stepCount ?? 0 }

    /// Hands a write to the thread that writes, and waits for it to be on disk.
    ///
    /// - Parameters:
    ///   - write: what is to be done.
    ///   - latest: when the caller stops waiting, if that is sooner than a write's own limit.
    /// - Returns: what became of it.
    /// - Throws: why it was refused.
    @discardableResult
    func write(_ write: Write, until latest: UInt64 = .max) async throws(StoreError) -> Written {
        // Its time may be up before it waits, when it is withdrawn by nothing.
        guard MonotonicTime.now().nanoseconds < latest else { throw .late }
        return try await shared.queue.perform(write, until: min(shared.deadline(), latest))
    }

    func scope(of app: AppID, isTest: Bool) throws(StoreError) -> Scope? {
        if let scope = apps.known(app, isTest: isTest) { return scope }
        return try read { reader throws(SQLiteError) in
            try apps.scope(of: app, isTest: isTest, find: reader.number)
        }
    }

    /// The scope of an app that was asked for before.
    func knownScope(of app: AppID, isTest: Bool) -> Scope? {
        apps.known(app, isTest: isTest)
    }

    var logByteCount: Int64 { DatabaseFile.byteCount(opening.file.logPath) }

    func currentDirectory() throws(StoreError) -> Directory {
        let changes = shared.directoryChangeCount
        let now = turnMoment
        guard changes != seenDirectoryChanges || now >= directoryIsDueAt else {
            return directorySnapshot.directory
        }
        // Another process's commit moves no counter of ours: only a new snapshot shows it.
        endSnapshot()
        let latest = try read { reader throws(SQLiteError) in try cache.current(by: reader) }
        if latest.version != directorySnapshot.version { directorySnapshot = latest.copy() }
        seenDirectoryChanges = changes
        directoryIsDueAt = now + Self.directoryNanoseconds
        return directorySnapshot.directory
    }
}
