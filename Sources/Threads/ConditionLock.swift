/// A value behind a lock, with a way to wait for changes.
///
/// `Synchronization.Mutex` has no condition to wait on, which the writer needs to sleep until there is work.
/// The thread sanitizer also understands this lock, but not the futex of `Mutex`.
///
/// Sendable, because the state is accessed only while the lock is held.
public final class ConditionLock<State: Sendable>: @unchecked Sendable {
    @usableFromInline let lock = SystemLock()
    @usableFromInline var state: State

    @inlinable
    public init(_ state: State) { self.state = state }

    /// Runs `body` with the lock held.
    @inlinable
    public func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&state)
    }

    /// Runs `body` with the lock held, again after each change, until it returns a value or the deadline
    /// passes.
    ///
    /// - Parameters:
    ///   - deadline: in nanoseconds of the monotonic clock; nil for no deadline.
    ///   - body: returns nil to wait for the next change.
    /// - Returns: the value of `body`; nil if the deadline passed first.
    @inlinable
    public func wait<Result>(until deadline: UInt64?, _ body: (inout State) -> Result?) -> Result? {
        lock.lock()
        defer { lock.unlock() }
        while true {
            if let result = body(&state) { return result }
            guard lock.waitForChange(until: deadline) else { return body(&state) }
        }
    }

    /// Wakes one waiting thread.
    ///
    /// The caller may hold the lock, but need not.
    @inlinable
    public func signal() { lock.signal() }

    /// Wakes all waiting threads.
    @inlinable
    public func broadcast() { lock.broadcast() }
}
