internal import Attribution
internal import SQLite
internal import Storage
internal import Synchronization
internal import Threads

/// The filter of stored fingerprints that checks ask before the database, and up to where it is true.
///
/// Clicks are numbered from commit to commit, whichever process makes it. So a database whose newest click is
/// covered holds no fingerprint that the filter does not know of; where another process has recorded since, its
/// newest click says so, and checks ask the database until the writer has caught up.
struct FilterState: Sendable {
    /// What checks ask; nil until it is built.
    var current: FingerprintFilter?
    /// The one that is being built to replace it.
    var next: FingerprintFilter?
    /// Both know the fingerprints of all clicks up to this one, what `next` will have read of the database included.
    var covered: Int64 = .min

    /// Those to which the fingerprints of new clicks are added.
    var filters: [FingerprintFilter] { [current, next].compactMap(\.self) }

    /// Whether another one is due: there is none, or it lets too many strangers pass.
    var needsFilter: Bool { next == nil && current?.isFull ?? true }

    /// Lets a filter be filled with what is recorded from the next transaction on, while what is stored is read into it.
    ///
    /// What was recorded before the next transaction is read with what is stored, once a barrier has passed.
    ///
    /// - Parameters:
    ///   - filter: empty as yet.
    ///   - newest: the newest click of the database, as of now or a moment ago.
    mutating func adopt(_ filter: FingerprintFilter, newest: Int64) {
        if current == nil { covered = newest }
        next = filter
    }

    /// Lets checks ask a filter into which all that is stored was read.
    mutating func publish(_ filter: FingerprintFilter) {
        // Another one that was abandoned meanwhile missed something.
        guard next === filter else { return }
        current?.retire()
        (current, next) = (filter, nil)
    }
}

/// The writer's part in it: adds the fingerprints of clicks before they are committed.
///
/// Writer's thread only.
struct FilterUpdater {
    private let shared: SharedState
    /// As of the beginning of the open transaction.
    private var filters: [FingerprintFilter] = []
    private static let mostForeign = 10_000

    init(_ shared: SharedState) {
        self.shared = shared
    }

    /// Adds what another process has recorded, given the database's newest click as the transaction begins.
    mutating func catchUp(to newest: Int64, on connection: SQLiteConnection) throws(SQLiteError) {
        let state = shared.filters.withLock { $0 }
        filters = state.filters
        guard !filters.isEmpty, newest != state.covered else { return }
        // An older one than before: newer ones have been deleted, and who records next may take their numbers again.
        guard newest > state.covered else { return abandon() }
        var count = 0
        try connection.statement(FilterSQL.recordedSince).forEach(state.covered, Self.mostForeign + 1) {
            row in
            count += 1
            for hash in ClickRecord.unpackedHashes(row.bytes(0)) { add(hash.index) }
        }
        if count > Self.mostForeign { abandon() }
    }

    func add(_ index: UInt64) {
        for filter in filters { filter.add(index) }
    }

    /// What is committed is covered up to its newest click.
    func commit(newest: Int64) {
        guard !filters.isEmpty else { return }
        shared.filters.withLock { $0.covered = newest }
    }

    private mutating func abandon() {
        filters = []
        shared.filters.withLock { state in
            state.current?.retire()
            state = FilterState()
        }
        shared.jobs.ask(for: .filter)
    }
}

extension SharedState {
    /// Lets the writer take note of what another process has recorded, though there is nothing to write.
    func requestCatchUp() {
        guard !isCatchUpQueued.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let write = QueuedWrite(.barrier) { _ in self.isCatchUpQueued.store(false, ordering: .releasing) }
        queue.append(write, isInternal: true)
    }
}

enum FilterSQL {
    static let newestClick: SQL = "SELECT ifnull(max(id), 0) FROM clicks"
    static let recordedSince: SQL =
        "SELECT fingerprints FROM clicks WHERE id > ?1 ORDER BY id LIMIT ?2"
}
