/// The memory that all requests of one loop hold, and its limit.
///
/// Three accounts have the same limit each, so that none can use up another's: requests that have not arrived
/// completely, requests that a handler has, and responses that their peers do not take. A request that arrives in a
/// single read is never in the first account: while slow requests fill that account, the others are served as usual.
///
/// Not `Sendable`: only its loop's thread touches it.
package final class RequestMemory {
    private let limit: Int
    /// One stored property for all accounts, so that a change is one access.
    private var held = Held()

    private enum Account: Int {
        case waiting, answering, unsent
        /// An estimate for TLS sessions, which the number of connections limits, not this account.
        case sessions
    }

    /// The bytes in each account.
    private struct Held {
        private var counts: [4 of Int] = [0, 0, 0, 0]
        /// The largest sum since memory was last returned to the system.
        var peak = 0

        var sum: Int { counts[0] + counts[1] + counts[2] + counts[3] }

        subscript(account: Account) -> Int { counts[account.rawValue] }

        /// Changes an account.
        ///
        /// - Returns: its new value.
        mutating func change(_ account: Account, by difference: Int) -> Int {
            counts[account.rawValue] += difference
            peak = max(peak, sum)
            return counts[account.rawValue]
        }
    }

    /// Bytes held for requests that have not arrived completely.
    package var waitingByteCount: Int { held[.waiting] }
    /// Bytes of requests that handlers have.
    package var answeringByteCount: Int { held[.answering] }
    /// Bytes of responses that wait for room in their sockets, and of the requests behind them.
    package var unsentByteCount: Int { held[.unsent] }

    /// The smallest amount of freed memory that is worth the allocator's time to return it to the system.
    private static let worthReturning = 8 * 1024 * 1024

    /// - Parameter limit: the limit of each account in bytes.
    package init(limit: Int) { self.limit = limit }

    /// Changes what one connection holds for a request that has not arrived completely.
    ///
    /// - Returns: whether the account is still within its limit.
    func changeWaiting(from old: Int, to new: Int) -> Bool {
        let count = held.change(.waiting, by: new - old)
        return new <= old || count <= limit
    }

    /// Changes the size of the request that a connection's handler has; 0 for none.
    ///
    /// - Returns: whether the account is still within its limit.
    func changeAnswering(from old: Int, to new: Int) -> Bool {
        let count = held.change(.answering, by: new - old)
        return new <= old || count <= limit
    }

    /// Changes what one connection holds while it waits for room in its socket.
    ///
    /// - Returns: whether the account is still within its limit, which a single response may exceed.
    package func changeUnsent(from old: Int, to new: Int) -> Bool {
        let count = held.change(.unsent, by: new - old)
        return new <= old || count <= limit || count == new
    }

    /// Changes the number of TLS sessions.
    package func changeSessions(by count: Int) {
        _ = held.change(.sessions, by: count * Self.sessionBytes)
    }

    /// The memory of a session during its handshake, as measured.
    private static let sessionBytes = 47 * 1024

    /// Whether most of the memory was freed and has not been returned to the system yet.
    package var hasMemoryToReturn: Bool {
        let held = held
        return held.peak - held.sum >= Self.worthReturning && held.sum <= held.peak / 4
    }

    /// Records that the memory was returned to the system.
    package func memoryWasReturned() { held.peak = held.sum }
}
