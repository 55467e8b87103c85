#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The system's mutex with a condition variable, which protects the state of a ``ConditionLock``.
///
/// Sendable, because threads may share a mutex and a condition, whose addresses are fixed from `init` to `deinit`.
@safe public final class SystemLock: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>

    public init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe changed = .allocate(capacity: 1)
        // The call initialises memory that this object owns; nil means the default kind of lock.
        unsafe pthread_mutex_init(mutex, nil)
        #if canImport(Darwin)
        // The call initialises memory that this object owns. Waits are relative on Darwin, so that they do
        // not depend on a clock that can be set.
        unsafe pthread_cond_init(changed, nil)
        #else
        var attributes = pthread_condattr_t()
        // The attributes are valid during the calls; deadlines use the monotonic clock.
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(changed, &attributes)
        // The attributes were initialised above.
        unsafe pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        // No thread can hold the lock or wait, because both would keep this object alive.
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    public func lock() {
        // The memory was initialised in `init`.
        unsafe pthread_mutex_lock(mutex)
    }

    public func unlock() {
        // The mutex was initialised in `init`, and this thread holds it.
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Releases the lock, waits for a change, and takes the lock again; this thread must hold the lock.
    ///
    /// - Parameter deadline: a time in nanoseconds of the monotonic clock; nil for no deadline.
    /// - Returns: false if the deadline has passed; otherwise true, sometimes without a change.
    public func waitForChange(until deadline: UInt64?) -> Bool {
        guard let deadline else {
            // This thread holds the lock, as the call requires.
            unsafe pthread_cond_wait(changed, mutex)
            return true
        }
        #if canImport(Darwin)
        let now = MonotonicTime.now().nanoseconds
        var limit = timespec(nanoseconds: deadline > now ? deadline - now : 0)
        // This thread holds the lock, and the limit is valid during the call.
        return unsafe pthread_cond_timedwait_relative_np(changed, mutex, &limit) != ETIMEDOUT
        #else
        var limit = timespec(nanoseconds: deadline)
        // This thread holds the lock, and the limit is valid during the call.
        return unsafe pthread_cond_timedwait(changed, mutex, &limit) != ETIMEDOUT
        #endif
    }

    public func signal() {
        // The memory was initialised in `init`.
        unsafe pthread_cond_signal(changed)
    }

    public func broadcast() {
        // The memory was initialised in `init`.
        unsafe pthread_cond_broadcast(changed)
    }
}

extension timespec {
    fileprivate init(nanoseconds: UInt64) {
        self.init(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}

/// A value behind a lock; a thread can wait until the value changes.
///
/// A thread cannot wait for a change of a `Synchronization.Mutex`. The thread sanitizer supports this lock, but not the
/// futex of `Mutex`.
///
/// Sendable, because every access to the state holds the lock.
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

    /// Runs `body` with the lock held, now and after each change, until `body` returns a value or the deadline passes.
    ///
    /// The thread that makes a change must call `signal` or `broadcast`; otherwise this thread does not wake.
    ///
    /// - Parameters:
    ///   - deadline: a time in nanoseconds of the monotonic clock; nil for no deadline.
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

    /// Wakes one waiting thread; the caller may hold the lock, but need not.
    @inlinable
    public func signal() { lock.signal() }

    /// Wakes all waiting threads.
    @inlinable
    public func broadcast() { lock.broadcast() }
}
