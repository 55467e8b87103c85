/// What the requests of one loop hold in memory together, and how much that may be.
///
/// Three accounts, each with the same limit, so that none can use up another's: requests that have begun and
/// not come whole, requests that a handler has, and answers that their peers do not take. One that comes whole in a single read is never on the
/// first account: while it is full of requests that trickle in, those that do not are served as always.
///
/// Not `Sendable`: touched on its loop's thread only.
package final class RequestMemory {
    private let limit: Int
    /// All in one place, so that a change of one is one access.
    private var held = Held()

    private enum Account: Int {
        case waiting, answering, unsent
        /// Of TLS sessions, about: they are limited by the number of connections, not here.
        case sessions
    }

    /// What is on the accounts, in bytes.
    private struct Held {
        private var counts: [4 of Int] = [0, 0, 0, 0]
        /// The most that was held since memory was last returned to the system.
        var peak = 0

        var sum: Int { counts[0] + counts[1] + counts[2] + counts[3] }

        subscript(account: Account) -> Int { counts[account.rawValue] }

        /// Adds to an account.
        ///
        /// - Returns: what is on it then.
        mutating func change(_ account: Account, by difference: Int) -> Int {
            counts[account.rawValue] += difference
            peak = max(peak, sum)
            return counts[account.rawValue]
        }
    }

    /// Bytes held for requests that have not come whole.
    package var waitingByteCount: Int { held[.waiting] }
    /// Bytes of requests that handlers have.
    package var answeringByteCount: Int { held[.answering] }
    /// Bytes of answers that wait for room in their sockets, and of the requests behind them.
    package var unsentByteCount: Int { held[.unsent] }

    /// What must have been let go before it is worth the allocator's time to return it to the system.
    private static let worthReturning = 8 * 1024 * 1024

    /// - Parameter limit: bytes of each account.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Changes what one connection holds for a request that has not come whole.
    ///
    /// - Returns: whether that is still within the limit.
    func changeWaiting(from old: Int, to new: Int) -> Bool {
        let count = held.change(.waiting, by: new - old)
        return new <= old || count <= limit
    }

    /// Changes the size of the request that a connection's handler has; 0 for none.
    ///
    /// - Returns: whether that is still within the limit.
    func changeAnswering(from old: Int, to new: Int) -> Bool {
        let count = held.change(.answering, by: new - old)
        return new <= old || count <= limit
    }

    /// Changes what one connection holds while it waits for room in its socket.
    ///
    /// - Returns: whether that is still within the limit, which an answer on its own may exceed.
    package func changeUnsent(from old: Int, to new: Int) -> Bool {
        let count = held.change(.unsent, by: new - old)
        return new <= old || count <= limit || count == new
    }

    /// Changes the number of TLS sessions.
    package func changeSessions(by count: Int) {
        _ = held.change(.sessions, by: count * Self.sessionBytes)
    }

    /// What a session takes in the midst of its handshake, as measured.
    private static let sessionBytes = 47 * 1024

    /// Whether most of what was held is let go and was not returned to the system yet.
    package var hasMemoryToReturn: Bool {
        let held = held
        return held.peak - held.sum >= Self.worthReturning && held.sum <= held.peak / 4
    }

    /// The memory was returned to the system.
    package func memoryWasReturned() {
        held.peak = held.sum
    }
}
