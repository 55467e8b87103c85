#if PostgreSQL
internal import Attribution
internal import Storage
internal import Threads

/// The slots whose partitions exist (days since 1970, and ``RowHome/longSlot``), as last read.
///
/// Several threads share it: loops name its slots in their statements, the writer adds a missing day before it writes
/// to that day, and a job reads what other servers have changed.
final class SlotTable: Sendable {
    private struct State: Sendable {
        /// The last expiry of each slot's clicks; nil while more clicks may come.
        var neededUntil: [Int64: Timestamp?]
        /// The slots that this process has created and that no read of the table has returned yet.
        var added: Set<Int64> = []
        /// The latest day that checks read: tomorrow, or a later day that this process has written to.
        var latest = RowHome.longSlot
    }

    private let state: ConditionLock<State>

    init(_ neededUntil: [Int64: Timestamp?]) { state = ConditionLock(State(neededUntil: neededUntil)) }

    /// Replaces the slots by the slots in the table `partitions`; keeps added slots that the table does not
    /// contain yet.
    func publish(_ neededUntil: [Int64: Timestamp?]) {
        state.withLock { state in
            state.neededUntil = neededUntil
            state.added = state.added.filter { neededUntil[$0] == nil }
            for slot in state.added { state.neededUntil[slot] = .some(nil) }
        }
    }

    /// Adds a slot whose partitions were created.
    func add(_ slot: Int64) {
        state.withLock { state in
            state.neededUntil[slot] = .some(nil)
            state.added.insert(slot)
        }
    }

    func contains(_ slot: Int64) -> Bool { state.withLock { $0.neededUntil[slot] != nil } }

    /// Records that this process writes to a slot; returns whether its partitions exist.
    func use(_ slot: Int64) -> Bool {
        state.withLock { state in
            state.latest = max(state.latest, slot)
            return state.neededUntil[slot] != nil
        }
    }

    /// Returns the slots that checks read, in descending order.
    ///
    /// These are the slots that may have live clicks, and the newest of the other slots, whose clicks explain
    /// why a launch has no match. A day with partitions costs each check two microseconds. So days after
    /// tomorrow are left out, unless this process has written to them because its clock was ahead.
    func hot(at now: Timestamp) -> [Int64] {
        let today = now.milliseconds / 86_400_000
        return state.withLock { state in
            state.latest = max(state.latest, today + 1)
            let ended = state.neededUntil.filter { _, end in end.map { $0 < now } ?? false }.keys
            let newestEnded = ended.max()
            let hot = state.neededUntil.keys.filter { slot in
                slot <= state.latest && (slot == newestEnded || !ended.contains(slot))
            }
            return hot.sorted(by: >)
        }
    }
}
#endif
