internal import Attribution
internal import Threads

/// The filter of stored fingerprints that checks ask before the database, and the newest click that it covers.
///
/// Clicks are numbered from commit to commit, whichever process makes it. So a database whose newest click is
/// covered holds no fingerprint that the filter does not know of; where another process has recorded since, its
/// newest click shows it, and checks ask the database until the writer has caught up.
struct FilterState: Sendable {
    /// What checks ask; nil until it is built.
    var current: FingerprintFilter?
    /// The one that is being built to replace it.
    var next: FingerprintFilter?
    /// Both know the fingerprints of all clicks up to this one, those included that `next` is still to read.
    var covered: Int64 = .min

    /// The filters to which the fingerprints of new clicks are added.
    var filters: [FingerprintFilter] { [current, next].compactMap(\.self) }

    /// Whether a new filter is due: there is none, or the current one is full.
    var needsFilter: Bool { next == nil && current?.isFull ?? true }

    /// Has what is recorded from the next transaction on added to a filter, while what is stored is read into it.
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

    /// Has checks ask a filter into which everything that is stored was read.
    mutating func publish(_ filter: FingerprintFilter) {
        // A filter that was abandoned meanwhile has missed some clicks.
        guard next === filter else { return }
        current?.retire()
        (current, next) = (filter, nil)
    }
}

/// The writer's part of the filter: adds the fingerprints of clicks before they are committed.
struct FilterUpdater {
    /// As of the beginning of the open transaction.
    private var filters: [FingerprintFilter] = []

    /// Clicks of another process that are read to catch up, at most.
    private static let maximumCaughtUp = 10_000

    /// Adds what another process has recorded, given the database's newest click as the transaction begins.
    mutating func catchUp<Reader: WriterReader>(to newest: Int64, _ state: StoreState, _ reader: Reader)
        throws(Reader.Failure)
    {
        let known = state.filters.withLock { $0 }
        filters = known.filters
        guard !filters.isEmpty, newest != known.covered else { return }
        // An older one than before: newer ones have been deleted, and another process may use their numbers again.
        guard newest > known.covered else { return abandon(state) }
        let (filters, limit) = (filters, Self.maximumCaughtUp)
        var count = 0
        try reader.hashes(after: known.covered, atMost: limit + 1) { hashes in
            count += 1
            for hash in hashes { for filter in filters { filter.add(hash.index) } }
        }
        if count > limit { abandon(state) }
    }

    func add(_ index: UInt64) {
        for filter in filters { filter.add(index) }
    }

    /// Marks what is committed as covered, up to its newest click.
    func commit(newest: Int64, _ state: StoreState) {
        guard !filters.isEmpty else { return }
        state.filters.withLock { $0.covered = newest }
    }

    private mutating func abandon(_ state: StoreState) {
        filters = []
        state.filters.withLock { filters in
            filters.current?.retire()
            filters = FilterState()
        }
        state.jobs.ask(for: .filter)
    }
}
