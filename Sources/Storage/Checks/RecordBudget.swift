internal import Synchronization

/// How many checks of a process are recorded: every match, and a limited number of others a second.
///
/// A flood of checks that find nothing must not fill the disk, nor keep the writer from clicks and claims.
public final class RecordBudget: Sendable {
    /// Checks a second beside matches, of all loops together.
    public static let perSecond = 2000

    public init() {}

    private let second = Atomic<UInt64>(0)
    private let taken = Atomic(0)
    /// Checks that were left out, and that no record stands for yet.
    private let missed = Atomic(0)

    /// The number of checks that one record stands for, at most.
    private static let maximumWeight = 255

    /// For how many checks another one would stand in the records, itself included; 0 where it is to be left out.
    ///
    /// Nanoseconds of a monotonic clock.
    public func take(at now: UInt64) -> Int {
        let current = now / 1_000_000_000
        // Two loops that begin a second at once may both start its count: a few more are recorded, which does no harm.
        if second.exchange(current, ordering: .relaxed) != current { taken.store(0, ordering: .relaxed) }
        guard taken.wrappingAdd(1, ordering: .relaxed).newValue <= Self.perSecond else {
            missed.wrappingAdd(1, ordering: .relaxed)
            return 0
        }
        return 1 + carried()
    }

    /// Adds checks that were left out without asking.
    public func leaveOut(_ count: Int) {
        missed.wrappingAdd(count, ordering: .relaxed)
    }

    private func carried() -> Int {
        let waiting = missed.load(ordering: .relaxed)
        guard waiting > 0 else { return 0 }
        let part = min(waiting, Self.maximumWeight)
        let (isOurs, _) = missed.compareExchange(
            expected: waiting,
            desired: waiting - part,
            ordering: .relaxed
        )
        // Another loop took them or added some: they wait for the next record.
        return isOurs ? part : 0
    }
}

/// A loop's view of the budget: once a second's records are gone, the loops go on without asking each other.
public struct LoopRecords {
    /// The second in which there were none left.
    private var spentSecond = UInt64.max
    /// Checks that were left out in it, and that the others do not know of yet.
    private var missed = 0

    public init() {}

    /// As ``RecordBudget/take(at:)``.
    public mutating func take(from budget: RecordBudget, at now: UInt64) -> Int {
        let second = now / 1_000_000_000
        guard second != spentSecond else {
            missed += 1
            return 0
        }
        reportMissed(to: budget)
        let weight = budget.take(at: now)
        if weight == 0 { spentSecond = second }
        return weight
    }

    /// Adds what this loop has left out to the budget: the next record, of whichever loop, stands for it.
    public mutating func reportMissed(to budget: RecordBudget) {
        guard missed > 0 else { return }
        budget.leaveOut(missed)
        missed = 0
    }
}
