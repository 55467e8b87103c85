public import Attribution
internal import Threads

/// What is to be added to the counts of watched groups, gathered in memory.
///
/// Owned by the writer's thread.
///
/// Written once a second, so that a commit writes no page more for it: a second of it may be lost with the process.
public struct DriftBatch: Sendable {
    public struct Slot: Hashable, Sendable {
        public let scope: Scope
        /// The first moment of the span.
        public let period: Timestamp
        public let group: DriftGroup
    }

    /// Of the open transaction.
    private var open: [Slot: DriftCount] = [:]
    /// Of transactions that were committed.
    private var waiting: [Slot: DriftCount] = [:]
    /// When all was written, in nanoseconds of the monotonic clock.
    private var writtenAt: UInt64 = 0
    private var mustBeWritten = false
    private var isTaken = false

    public init() {}

    private static let interval: UInt64 = 1_000_000_000

    /// Adds what happened at a time; test traffic has no trend that matters.
    public mutating func add(_ count: DriftCount, of group: DriftGroup, in scope: Scope, at time: Timestamp) {
        guard !scope.isTest else { return }
        let slot = Slot(scope: scope, period: Granularity.quarter.start(of: time), group: group)
        open[slot, default: DriftCount()] += count
    }

    /// Has everything written with the open transaction.
    public mutating func flush() {
        mustBeWritten = true
    }

    /// Takes everything that waits for the open transaction to write; nothing while it is too early.
    public mutating func takeIfDue() -> [Slot: DriftCount] {
        guard !open.isEmpty || !waiting.isEmpty else { return [:] }
        guard mustBeWritten || MonotonicTime.now().nanoseconds >= writtenAt + Self.interval else {
            return [:]
        }
        isTaken = true
        return waiting.merging(open, uniquingKeysWith: +)
    }

    /// After the transaction was committed.
    public mutating func commit() {
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

    /// After the transaction was undone.
    public mutating func rollback() {
        open.removeAll(keepingCapacity: true)
        isTaken = false
    }
}
