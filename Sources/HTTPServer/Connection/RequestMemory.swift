/// The memory that the connections of one loop hold for requests and responses, and its limit.
///
/// It has several accounts. Each except `sessions` has its own limit, of the same size, so that one account cannot use
/// up the memory of another. A request that arrives in a single read is never in the account `waiting`. So the server
/// answers such requests as usual while slow requests fill that account.
///
/// It is not `Sendable`: only its loop's thread touches it.
package final class RequestMemory {
    package enum Account: Int {
        /// Requests that have not arrived completely.
        case waiting
        /// Requests that handlers have, and the requests behind them.
        case answering
        /// Responses that wait for room in their sockets, and the requests behind them.
        case unsent
        /// An estimate for TLS sessions, which have no limit here: the number of connections limits them.
        case sessions
    }

    /// The bytes in each account.
    private struct Held {
        private var counts: [4 of Int] = [0, 0, 0, 0]
        /// The largest sum since the loop last returned memory to the system.
        var peak = 0

        var sum: Int { counts[0] + counts[1] + counts[2] + counts[3] }

        subscript(account: Account) -> Int { counts[account.rawValue] }

        /// Changes an account, and returns its new value.
        mutating func change(_ account: Account, by difference: Int) -> Int {
            counts[account.rawValue] += difference
            peak = max(peak, sum)
            return counts[account.rawValue]
        }
    }

    private let limit: Int
    /// One stored property for all accounts, so that a change is one access.
    private var held = Held()

    /// The smallest number of freed bytes that the loop returns to the system; each return takes time.
    private static let worthReturning = 8 * 1024 * 1024
    /// The memory of a TLS session during its handshake, as measured.
    private static let sessionBytes = 47 * 1024

    /// - Parameter limit: the limit of each account in bytes.
    package init(limit: Int) { self.limit = limit }

    /// Returns the bytes in an account.
    package subscript(account: Account) -> Int { held[account] }

    /// Changes what one connection holds in an account.
    ///
    /// - Returns: whether the account is within its limit; always `true` if the connection holds no more than before. A
    ///   single response may exceed the limit of `unsent`.
    package func change(_ account: Account, from old: Int, to new: Int) -> Bool {
        let count = held.change(account, by: new - old)
        return new <= old || count <= limit || account == .unsent && count == new
    }

    /// Changes the number of TLS sessions.
    package func changeSessions(by count: Int) { _ = held.change(.sessions, by: count * Self.sessionBytes) }

    /// Whether at least 8 MiB, and at least three quarters of the peak since the last return, were freed.
    package var hasMemoryToReturn: Bool {
        let held = held
        return held.peak - held.sum >= Self.worthReturning && held.sum <= held.peak / 4
    }

    /// Records that the loop returned the memory to the system.
    package func memoryWasReturned() { held.peak = held.sum }
}
