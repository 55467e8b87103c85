public import Attribution
internal import Threads

/// What a filter of fingerprints is built from.
public protocol FilterReader {
    associatedtype Failure: Error
    /// A row's position in the order of the index.
    associatedtype IndexPosition

    /// The number of the newest click; 0 without clicks.
    func newestClick() throws(Failure) -> Int64
    /// Returns the position of the last of so many index rows after a position; nil where fewer are left.
    func indexPosition(after position: IndexPosition?, count: Int) throws(Failure) -> IndexPosition?
    /// Feeds the hashes of so many index rows after a position to `body`; returns the position of the last, nil where fewer
    /// are left.
    func indexHashes(after position: IndexPosition?, count: Int, _ body: (UInt64) -> Void) throws(Failure)
        -> IndexPosition?
}

/// Builds a filter of the stored fingerprints: at the start, and when the last one is full or was abandoned.
///
/// Each slice is a snapshot of its own, so that a write-ahead log can start again between them.
public struct FilterJob<Reader: JobReader>: Job {
    public let name = JobName.filter
    /// Half of the time is left to requests while a filter is built.
    public let share = 0.5

    private let context: JobContext<Reader>
    private var building: Building?
    /// When the next one may be begun, also when it is asked for.
    private var mayBeginAt: UInt64 = 0

    /// A filter that is being built.
    private struct Building {
        let startedAt: UInt64
        /// Nil while the rows are counted.
        var filter: FingerprintFilter?
        var rowCount = 0
        /// The last row that was counted or read.
        var position: Reader.IndexPosition?
    }

    /// Room for as many fingerprints again as there are, and for the first ones of a new database.
    private static var minimumCapacity: Int { 65_536 }
    private static var sliceLength: Int { 10_000 }
    /// How long after one was built the next may be, in nanoseconds: a second, and twenty times as long as it took.
    private static var minimumPause: UInt64 { 1_000_000_000 }
    private static var pauseFactor: UInt64 { 20 }

    /// - Parameter context: with a connection for this job alone, which reads each page once.
    public init(_ context: JobContext<Reader>) { self.context = context }

    public mutating func slice(at now: UInt64) throws(StoreError) -> Due {
        var current: Building
        if let building {
            current = building
        } else {
            guard now >= mayBeginAt, context.state.filters.withLock({ $0.needsFilter }) else {
                return .after(Self.minimumPause)
            }
            current = Building(startedAt: now)
        }
        // None after a failure, which starts the next one from the beginning.
        building = nil
        guard try advance(&current) else {
            building = current
            return .more
        }
        context.close()
        mayBeginAt = now + max(Self.minimumPause, Self.pauseFactor * (now - current.startedAt))
        return .after(Self.minimumPause)
    }

    /// Builds a filter in one go, whether one is due or not; for tests.
    public mutating func build() throws(StoreError) {
        var building = Building(startedAt: 0)
        while try !advance(&building) {}
        context.close()
    }

    /// Counts or reads some rows; true when all are read, and checks ask the filter.
    private func advance(_ building: inout Building) throws(StoreError) -> Bool {
        do throws(StoreError) {
            guard let filter = building.filter else {
                try count(&building)
                return false
            }
            return try read(into: filter, &building)
        } catch {
            context.state.filters.withLock { $0.next = nil }
            throw error
        }
    }

    /// Reads on; true after the last row.
    private func read(into filter: FingerprintFilter, _ building: inout Building) throws(StoreError) -> Bool {
        let position = building.position
        building.position = try context.read { reader throws(Reader.Failure) in
            // What is closed meanwhile moves on in the order of the rows, and is met there.
            try reader.indexHashes(after: position, count: Self.sliceLength) { filter.add($0) }
        }
        guard building.position == nil else { return false }
        context.state.filters.withLock { $0.publish(filter) }
        return true
    }

    /// Counts on; after the last row, has new clicks added to a filter with room for twice as many.
    private func count(_ building: inout Building) throws(StoreError) {
        let position = building.position
        building.position = try context.read { reader throws(Reader.Failure) in
            try reader.indexPosition(after: position, count: Self.sliceLength)
        }
        building.rowCount += Self.sliceLength
        guard building.position == nil else { return }
        let filter = FingerprintFilter(capacity: max(Self.minimumCapacity, 2 * building.rowCount))
        let newest = try context.read { reader throws(Reader.Failure) in try reader.newestClick() }
        context.state.filters.withLock { $0.adopt(filter, newest: newest) }
        // A transaction that began before does not know of the filter: what it records is read with what is stored.
        try context.queue.perform(.barrier)
        building.filter = filter
    }
}
