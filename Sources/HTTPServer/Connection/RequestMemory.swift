/// What the requests of one loop hold in memory together, and how much that may be.
///
/// Three accounts, each with the same limit, so that none can use up another's: requests that have begun and
/// not come whole, requests that a handler has, and answers that their peers do not take. One that comes whole in a single read is never on the
/// first account: while it is full of requests that trickle in, those that do not are served as always.
///
/// Not `Sendable`: touched on its loop's thread only.
package final class RequestMemory {
    private let limit: Int
    /// Bytes held for requests that have not come whole.
    package private(set) var waitingByteCount = 0
    /// Bytes of requests that handlers have.
    package private(set) var answeringByteCount = 0
    /// Bytes of answers that wait for room in their sockets, and of the requests behind them.
    package private(set) var unsentByteCount = 0
    /// Bytes that TLS sessions have, about: they are limited by the number of connections, not here.
    private var sessionByteCount = 0
    /// The most that was held since memory was last returned to the system.
    private var peak = 0

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
        waitingByteCount += new - old
        peak = max(peak, heldByteCount)
        return new <= old || waitingByteCount <= limit
    }

    /// Changes the size of the request that a connection's handler has; 0 for none.
    ///
    /// - Returns: whether that is still within the limit.
    func changeAnswering(from old: Int, to new: Int) -> Bool {
        answeringByteCount += new - old
        peak = max(peak, heldByteCount)
        return new <= old || answeringByteCount <= limit
    }

    /// Changes what one connection holds while it waits for room in its socket.
    ///
    /// - Returns: whether that is still within the limit, which an answer on its own may exceed.
    package func changeUnsent(from old: Int, to new: Int) -> Bool {
        unsentByteCount += new - old
        peak = max(peak, heldByteCount)
        return new <= old || unsentByteCount <= limit || unsentByteCount == new
    }

    /// Changes the number of TLS sessions.
    package func changeSessions(by count: Int) {
        sessionByteCount += count * Self.sessionBytes
        peak = max(peak, heldByteCount)
    }

    private var heldByteCount: Int {
        waitingByteCount + answeringByteCount + unsentByteCount + sessionByteCount
    }

    /// What a session takes in the midst of its handshake, as measured.
    private static let sessionBytes = 47 * 1024

    /// Whether most of what was held is let go and was not returned to the system yet.
    package var hasMemoryToReturn: Bool {
        peak - heldByteCount >= Self.worthReturning && heldByteCount <= peak / 4
    }

    /// The memory was returned to the system.
    package func memoryWasReturned() {
        peak = heldByteCount
    }
}
