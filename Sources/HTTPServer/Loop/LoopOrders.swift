internal import Synchronization

/// What a loop is told from outside; looked at once a turn.
final class LoopOrders: Sendable {
    private let cutOffTime = Atomic<UInt64>(.max)
    private let stopIsWanted = Atomic<Bool>(false)

    /// Asks for a graceful stop that is over at a moment; asked again, the earlier moment counts.
    func stop(until moment: MonotonicTime) {
        _ = cutOffTime.min(moment.nanoseconds, ordering: .relaxed)
        stopIsWanted.store(true, ordering: .releasing)
    }

    var isStopping: Bool {
        stopIsWanted.load(ordering: .acquiring)
    }

    /// When what is still open is dropped.
    var cutOff: MonotonicTime {
        MonotonicTime(nanoseconds: cutOffTime.load(ordering: .relaxed))
    }
}
