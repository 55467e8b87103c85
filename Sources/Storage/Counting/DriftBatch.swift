internal import Attribution
internal import Threads

/// Counts of watched groups (whose match rates are evaluated) that are not written yet.
///
/// They are written with the loops' pending updates, or after a second, and not with each commit, so that commits write
/// fewer pages. The counts of the last second may be lost with the process.
struct DriftBatch: Sendable {
    struct Slot: Hashable, Sendable {
        let scope: Scope
        /// The first millisecond of a quarter of a day.
        let period: Timestamp
        let group: DriftGroup
    }

    /// The counts of the open transaction.
    private var open: [Slot: DriftCount] = [:]
    /// The counts of committed transactions.
    private var waiting: [Slot: DriftCount] = [:]
    /// The time of the last write, in nanoseconds of the monotonic clock.
    private var writtenAt: UInt64 = 0
    private var mustBeWritten = false
    private var isTaken = false

    private static let interval: UInt64 = 1_000_000_000

    /// Adds a count, unless it is of test traffic.
    mutating func add(_ count: DriftCount, of group: DriftGroup, in scope: Scope, at time: Timestamp) {
        guard !scope.isTest else { return }
        let slot = Slot(scope: scope, period: Granularity.quarter.start(of: time), group: group)
        open[slot, default: DriftCount()] += count
    }

    /// Makes the open transaction write everything.
    mutating func flush() { mustBeWritten = true }

    /// Returns all counts if they are due, for the open transaction to write.
    mutating func takeIfDue() -> [Slot: DriftCount] {
        guard !open.isEmpty || !waiting.isEmpty else { return [:] }
        guard mustBeWritten || MonotonicTime.now().nanoseconds >= writtenAt + Self.interval else {
            return [:]
        }
        isTaken = true
        return waiting.merging(open, uniquingKeysWith: +)
    }

    /// Keeps the counts that are not written yet, after the transaction was committed.
    mutating func commit() {
        if isTaken {
            waiting.removeAll(keepingCapacity: true)
            writtenAt = MonotonicTime.now().nanoseconds
            isTaken = false
        } else {
            waiting.merge(open, uniquingKeysWith: +)
        }
        open.removeAll(keepingCapacity: true)
        mustBeWritten = false
    }

    /// Drops the counts of the transaction, after it was rolled back.
    mutating func rollback() {
        open.removeAll(keepingCapacity: true)
        isTaken = false
    }
}
