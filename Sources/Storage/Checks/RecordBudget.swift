internal import Synchronization

/// The limit on a process's records of checks that do not match; matches are always recorded.
///
/// A flood of checks that find nothing must not fill the disk, nor delay clicks and claims.
final class RecordBudget: Sendable {
    /// The maximum number of records in a second, of all loops together.
    static let perSecond = 2000

    private let second = Atomic<UInt64>(0)
    private let taken = Atomic(0)
    /// The number of checks that were left out and are not in any record's weight yet.
    private let missed = Atomic(0)

    /// The maximum number of left-out checks that one record represents.
    private static let maximumWeight = 255

    /// Returns the weight of a check's record: the number of checks that it represents, itself included.
    ///
    /// - Parameter now: the time in nanoseconds of a monotonic clock.
    /// - Returns: 0 if the check must be left out.
    func take(at now: UInt64) -> Int {
        let current = now / 1_000_000_000
        // If two loops start a second at the same time, both may reset the count, and a few more checks are recorded.
        if second.exchange(current, ordering: .relaxed) != current { taken.store(0, ordering: .relaxed) }
        guard taken.wrappingAdd(1, ordering: .relaxed).newValue <= Self.perSecond else {
            missed.wrappingAdd(1, ordering: .relaxed)
            return 0
        }
        return 1 + carried()
    }

    /// Adds checks that a loop has left out.
    func leaveOut(_ count: Int) { missed.wrappingAdd(count, ordering: .relaxed) }

    private func carried() -> Int {
        let waiting = missed.load(ordering: .relaxed)
        guard waiting > 0 else { return 0 }
        let part = min(waiting, Self.maximumWeight)
        let rest = waiting - part
        let (hasTaken, _) = missed.compareExchange(expected: waiting, desired: rest, ordering: .relaxed)
        // If another loop changed the number meanwhile, the next record takes it.
        return hasTaken ? part : 0
    }
}

/// A loop's part of the budget: once the budget of a second is used up, the loop does not ask again in that second.
struct LoopRecords {
    /// The second whose budget is used up.
    private var usedUpSecond = UInt64.max
    /// The number of checks that were left out in that second and are not added to the budget yet.
    private var missed = 0

    /// Returns the weight of a check's record; see ``RecordBudget/take(at:)``.
    mutating func take(from budget: RecordBudget, at now: UInt64) -> Int {
        let second = now / 1_000_000_000
        guard second != usedUpSecond else {
            missed += 1
            return 0
        }
        reportMissed(to: budget)
        let weight = budget.take(at: now)
        if weight == 0 { usedUpSecond = second }
        return weight
    }

    /// Adds the left-out checks to the budget, so that the next record represents them.
    mutating func reportMissed(to budget: RecordBudget) {
        guard missed > 0 else { return }
        budget.leaveOut(missed)
        missed = 0
    }
}
