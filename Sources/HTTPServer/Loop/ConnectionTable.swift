internal import Threads

/// A loop's connections, each in a numbered slot, and the deadlines of the connections that wait.
///
/// The deadlines have their own array, so that a sweep over ten thousand connections reads only 80 KB.
struct ConnectionTable {
    private(set) var connections: [Connection?] = []
    private var deadlines: [UInt64] = []
    private var generations: [UInt32] = []
    private var freeSlots: [Int] = []
    private(set) var count = 0

    /// Reserves a free slot; `insert` puts its connection there.
    mutating func reserve() -> Int {
        if let slot = freeSlots.popLast() { return slot }
        connections.append(nil)
        deadlines.append(.max)
        generations.append(0)
        return connections.count - 1
    }

    mutating func insert(_ connection: Connection) {
        connections[connection.slot] = connection
        count += 1
    }

    /// Frees a slot, with or without a connection; later, `connection(_:)` returns `nil` for the slot's old token.
    mutating func remove(_ slot: Int) {
        if connections[slot] != nil { count -= 1 }
        connections[slot] = nil
        deadlines[slot] = .max
        generations[slot] &+= 1
        freeSlots.append(slot)
    }

    /// Returns the token of a slot for epoll: the slot's number and its generation.
    ///
    /// The generation distinguishes the connections that use the slot one after the other. The loop's other tokens have
    /// bit 31, which no slot's number has, because a process has fewer than 2³¹ descriptors.
    func token(_ slot: Int) -> UInt64 { UInt64(generations[slot]) << 32 | UInt64(slot) }

    /// Returns the connection of a token; `nil` if the connection has ended.
    func connection(_ token: UInt64) -> Connection? {
        let slot = Int(token & 0xFFFF_FFFF)
        guard slot < connections.count, generations[slot] == UInt32(token >> 32) else { return nil }
        return connections[slot]
    }

    mutating func setDeadline(_ deadline: MonotonicTime, of slot: Int) {
        deadlines[slot] = deadline.nanoseconds
    }

    /// Returns the slots whose deadlines have passed, and clears these deadlines.
    mutating func takeOverdue(at now: MonotonicTime) -> [Int] {
        var overdue: [Int] = []
        for slot in deadlines.indices where deadlines[slot] <= now.nanoseconds {
            deadlines[slot] = .max
            overdue.append(slot)
        }
        return overdue
    }
}
