#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The system's mutex with a condition, which ``ConditionLock`` keeps its state behind.
///
/// Sendable, because the mutex and the condition are made to be shared, and their addresses are fixed from `init` to
/// `deinit`.
@safe public final class SystemLock: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>

    public init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe changed = .allocate(capacity: 1)
        // Initialises memory of our own; nil asks for the default kind of lock.
        unsafe pthread_mutex_init(mutex, nil)
        #if canImport(Darwin)
        // As above; waits are relative there, and so of no clock that is set.
        unsafe pthread_cond_init(changed, nil)
        #else
        var attributes = pthread_condattr_t()
        // The attributes outlive the calls; deadlines are of the clock that is never set.
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(changed, &attributes)
        // Initialised above.
        unsafe pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        // No thread can hold it or wait on it: both would keep this object alive.
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    public func lock() {
        // Initialised in `init`.
        unsafe pthread_mutex_lock(mutex)
    }

    public func unlock() {
        // Initialised in `init`, and locked by this thread.
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Releases the lock, which this thread holds, waits, and takes the lock again.
    ///
    /// - Parameter deadline: in nanoseconds of the monotonic clock; nil waits without end.
    /// - Returns: false when the deadline has passed.
    public func waitForChange(until deadline: UInt64?) -> Bool {
        guard let deadline else {
            // The lock is held by this thread, which is what the call demands.
            unsafe pthread_cond_wait(changed, mutex)
            return true
        }
        #if canImport(Darwin)
        let now = MonotonicTime.now().nanoseconds
        var limit = timespec(nanoseconds: deadline > now ? deadline - now : 0)
        // As above.
        return unsafe pthread_cond_timedwait_relative_np(changed, mutex, &limit) != ETIMEDOUT
        #else
        var limit = timespec(nanoseconds: deadline)
        // As above.
        return unsafe pthread_cond_timedwait(changed, mutex, &limit) != ETIMEDOUT
        #endif
    }

    public func signal() {
        // Initialised in `init`.
        unsafe pthread_cond_signal(changed)
    }

    public func broadcast() {
        // Initialised in `init`.
        unsafe pthread_cond_broadcast(changed)
    }
}

extension timespec {
    fileprivate init(nanoseconds: UInt64) {
        self.init(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}
