internal import Threads

/// Refuses writes that passed their deadline, and has pending updates written within a second.
///
/// On a thread of its own, because the one that writes may wait for the disk.
public struct Deadlines: Sendable {
    private let queue: WriteQueue
    private let claims: ClaimsUnderWay
    private let updates: UpdateCollector

    private static let busyInterval: UInt64 = 50_000_000
    /// Shorter than any time limit, so that a write that comes right after a turn is seen in time.
    private static let idleInterval: UInt64 = 250_000_000
    private static let updatesInterval: UInt64 = 500_000_000

    public init(_ queue: WriteQueue, _ claims: ClaimsUnderWay, _ updates: UpdateCollector) {
        self.queue = queue
        self.claims = claims
        self.updates = updates
    }

    /// Watches until `pause`, which waits until the given nanoseconds of the monotonic clock, returns false.
    public func run(pause: (UInt64) -> Bool) {
        var updatesAreDueAt: UInt64 = 0
        while true {
            let now = MonotonicTime.now().nanoseconds
            queue.expire(at: now)
            claims.expire(at: now)
            if now >= updatesAreDueAt, !updates.isEmpty {
                updatesAreDueAt = now + Self.updatesInterval
                queue.requestUpdates()
            }
            guard pause(now + (queue.count > 0 ? Self.busyInterval : Self.idleInterval)) else { return }
        }
    }
}
