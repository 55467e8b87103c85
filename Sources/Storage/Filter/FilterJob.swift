public import Attribution
internal import Threads

/// The reads that build a filter of fingerprints.
public protocol FilterReader {
    associatedtype Failure: Error
    /// A row's position in the order of the index.
    associatedtype IndexPosition

    /// The number of the newest click; 0 without clicks.
    func newestClick() throws(Failure) -> Int64
    /// Returns the position of the last of `count` index rows after a position; nil if fewer are left.
    ///
    /// The position nil is before all rows.
    func indexPosition(after position: IndexPosition?, count: Int) throws(Failure) -> IndexPosition?
    /// Passes the hashes of `count` index rows after a position to `body`.
    ///
    /// - Returns: the position of the last row; nil if fewer rows are left.
    func indexHashes(after position: IndexPosition?, count: Int, _ body: (UInt64) -> Void) throws(Failure)
        -> IndexPosition?
}

/// Builds a filter of the stored fingerprints at the start, and again when the filter is full or was abandoned.
///
/// Each slice reads a separate snapshot, so that a write-ahead log can be reset between two slices.
public struct FilterJob<Reader: JobReader>: Job {
    public let name = JobName.filter
    /// Leaves half of the time to requests while a filter is built.
    public let share = 0.5

    private let context: JobContext<Reader>
    private var building: Building?
    /// The earliest time at which the job may start the next filter, in nanoseconds, even if one is requested.
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

    /// The capacity of a new database's filter.
    private static var minimumCapacity: Int { 65_536 }
    private static var sliceLength: Int { 10_000 }
    /// The minimum pause after a build, in nanoseconds; the pause is at least twenty times the duration of the build.
    private static var minimumPause: UInt64 { 1_000_000_000 }
    private static var pauseFactor: UInt64 { 20 }

    /// - Parameter context: has a connection for this job alone, with a small cache, because it reads each page once.
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
        // The build is removed first, so that it starts again after a failure.
        building = nil
        guard try advance(&current) else {
            building = current
            return .more
        }
        context.close()
        mayBeginAt = now + max(Self.minimumPause, Self.pauseFactor * (now - current.startedAt))
        return .after(Self.minimumPause)
    }

    /// Builds a filter at once, even if none is due; for tests.
    public mutating func build() throws(StoreError) {
        var building = Building(startedAt: 0)
        while try !advance(&building) {}
        context.close()
    }

    /// Counts or reads the next rows; returns true after the last ones, and from then on checks use the filter.
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

    /// Reads the next rows; returns true after the last ones.
    private func read(into filter: FingerprintFilter, _ building: inout Building) throws(StoreError) -> Bool {
        let position = building.position
        building.position = try context.read { reader throws(Reader.Failure) in
            // A row that is closed meanwhile moves to a later position, and is read there.
            try reader.indexHashes(after: position, count: Self.sliceLength) { filter.add($0) }
        }
        guard building.position == nil else { return false }
        context.state.filters.withLock { $0.publish(filter) }
        return true
    }

    /// Counts the next rows; after the last ones, creates a filter for twice as many, to which new clicks are added.
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
        // A transaction that is open now does not add to the filter; the barrier waits until its clicks are stored, so
        // that they are read.
        try context.queue.perform(.barrier)
        building.filter = filter
    }
}
