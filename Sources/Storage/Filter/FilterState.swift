internal import Attribution
internal import Threads

/// The filter of stored fingerprints that checks query before the database, and the newest click that it covers.
///
/// A new click's number is larger than that of any committed click. So if the database's newest click is covered, the
/// filter contains all stored fingerprints. If another process has recorded clicks since, checks read the database until
/// the writer has caught up.
struct FilterState: Sendable {
    /// The filter that checks query; nil until it is built.
    var current: FingerprintFilter?
    /// The filter that is being built to replace ``current``.
    var next: FingerprintFilter?
    /// The newest click that the filters cover: they contain the fingerprints of this click and of all older clicks.
    ///
    /// Only ``next`` may lack stored fingerprints that are still to be read into it.
    var covered: Int64 = .min

    /// The filters to which the fingerprints of new clicks are added.
    var filters: [FingerprintFilter] { [current, next].compactMap(\.self) }

    /// Whether a new filter is due: none is being built, and the current one is full or missing.
    var needsFilter: Bool { next == nil && current?.isFull ?? true }

    /// Makes all later transactions add their clicks to a filter, while the stored clicks are read into it.
    ///
    /// The caller must wait for a barrier before it reads the stored clicks, so that it finds the clicks of the current
    /// transaction.
    ///
    /// - Parameters:
    ///   - filter: an empty filter.
    ///   - newest: the newest click of the database, read just before.
    mutating func adopt(_ filter: FingerprintFilter, newest: Int64) {
        if current == nil { covered = newest }
        next = filter
    }

    /// Makes checks use a filter into which all stored fingerprints were read.
    mutating func publish(_ filter: FingerprintFilter) {
        // A filter that was abandoned meanwhile has missed some clicks.
        guard next === filter else { return }
        current?.retire()
        (current, next) = (filter, nil)
    }
}

/// The writer's part of the filter: adds the fingerprints of clicks before they are committed.
struct FilterUpdater {
    /// The filters at the beginning of the open transaction.
    private var filters: [FingerprintFilter] = []

    /// The maximum number of clicks of other processes that are read to catch up.
    private static let maximumCaughtUp = 10_000

    /// Adds the clicks of other processes, or abandons the filters if there are too many or numbers may be reused.
    ///
    /// `newest` is the database's newest click at the beginning of the transaction.
    mutating func catchUp<Reader: WriterReader>(to newest: Int64, _ state: StoreState, _ reader: Reader)
        throws(Reader.Failure)
    {
        let known = state.filters.withLock { $0 }
        filters = known.filters
        guard !filters.isEmpty, newest != known.covered else { return }
        // If the newest click is older than the covered one, newer clicks were deleted, and another process may reuse
        // their numbers.
        guard newest > known.covered else { return abandon(state) }
        let (filters, limit) = (filters, Self.maximumCaughtUp)
        var count = 0
        try reader.hashes(after: known.covered, atMost: limit + 1) { hashes in
            count += 1
            for hash in hashes { for filter in filters { filter.add(hash.index) } }
        }
        if count > limit { abandon(state) }
    }

    func add(_ index: UInt64) { for filter in filters { filter.add(index) } }

    /// Marks all clicks up to the newest committed one as covered.
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
