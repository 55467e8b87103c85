internal import Synchronization

/// How many checks of a process are recorded: every match, and so many others a second.
///
/// A flood of checks that find nothing must not fill the disk, nor keep the writer from clicks and claims.
final class RecordBudget: Sendable {
    /// Checks a second beside matches, of all loops together.
    static let perSecond = 5000

    private let second = Atomic<UInt64>(0)
    private let taken = Atomic(0)

    /// Whether another one may be recorded; nanoseconds of a monotonic clock.
    func take(at now: UInt64) -> Bool {
        let current = now / 1_000_000_000
        // Two loops that begin a second at once may both begin it anew: a few more are recorded, which does no harm.
        if second.exchange(current, ordering: .relaxed) != current { taken.store(0, ordering: .relaxed) }
        return taken.wrappingAdd(1, ordering: .relaxed).newValue <= Self.perSecond
    }
}
