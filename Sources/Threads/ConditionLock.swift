/// A value behind a lock, and a way to wait for it to change.
///
/// `Synchronization.Mutex` has no condition to wait on, which the writer needs to sleep when there is nothing to
/// write; and the thread sanitizer, which does not see the futex in it, sees this lock.
///
/// Sendable, because the state is only touched with the lock held.
public final class ConditionLock<State: Sendable>: @unchecked Sendable {
    @usableFromInline let lock = SystemLock()
    @usableFromInline var state: State

    @inlinable
    public init(_ state: State) {
        self.state = state
    }

    /// Runs `body` alone.
    @inlinable
    public func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&state)
    }

    /// Runs `body` alone, again after each change, until it returns something or the deadline has passed.
    ///
    /// - Parameters:
    ///   - deadline: in nanoseconds of the monotonic clock; nil waits without end.
    ///   - body: returns nil to wait for the next change.
    /// - Returns: what `body` returned; nil when the deadline passed before that.
    @inlinable
    public func wait<Result>(until deadline: UInt64?, _ body: (inout State) -> Result?) -> Result? {
        lock.lock()
        defer { lock.unlock() }
        while true {
            if let result = body(&state) { return result }
            guard lock.waitForChange(until: deadline) else { return body(&state) }
        }
    }

    /// Wakes one thread that waits.
    ///
    /// Called without the lock held or with it.
    @inlinable
    public func signal() { lock.signal() }

    /// Wakes all threads that wait.
    @inlinable
    public func broadcast() { lock.broadcast() }
}
