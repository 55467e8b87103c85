internal import Synchronization
internal import Threads

/// What a loop is told from outside; looked at once a turn.
final class LoopStopRequest: Sendable {
    private let stopIsWanted = Atomic<Bool>(false)
    // Not an atomic: `Atomic<UInt64>.min` compares as if signed (Swift 6.3).
    private let cutOffTime = Mutex(MonotonicTime(nanoseconds: .max))

    /// Asks for a graceful stop that is over at a moment; asked again, the earlier moment counts.
    func stop(until moment: MonotonicTime) {
        cutOffTime.withLock { $0 = min($0, moment) }
        stopIsWanted.store(true, ordering: .releasing)
    }

    var isStopping: Bool {
        stopIsWanted.load(ordering: .acquiring)
    }

    /// When what is still open is dropped.
    var cutOff: MonotonicTime {
        cutOffTime.withLock { $0 }
    }
}
