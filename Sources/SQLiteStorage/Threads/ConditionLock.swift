import Glibc

/// A value behind a lock, and waiting for it to change.
///
/// `Synchronization.Mutex` has no condition to wait on, which the writer needs to sleep when there is nothing to
/// write; and the thread sanitizer, which does not see the futex in it, sees this lock.
///
/// Sendable, because the state is only touched with the lock held, and the lock's and the condition's addresses
/// are fixed from `init` to `deinit`.
@safe final class ConditionLock<State: Sendable>: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    init(_ state: State) {
        self.state = state
        unsafe lock = .allocate(capacity: 1)
        unsafe changed = .allocate(capacity: 1)
        // Initialises memory of our own; nil asks for the default kind of lock.
        unsafe pthread_mutex_init(lock, nil)
        var attributes = pthread_condattr_t()
        // The attributes outlive the three calls; deadlines are of the clock that nobody sets.
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(changed, &attributes)
        // Initialised above.
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        // Nobody can hold or wait any more: both would keep the monitor alive.
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(lock)
        unsafe changed.deallocate()
        unsafe lock.deallocate()
    }

    /// Runs `body` alone.
    func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        // Initialised in `init`; released on the way out.
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        return body(&state)
    }

    /// Runs `body` alone, again after each change, until it returns something or the deadline has passed.
    ///
    /// The deadline is in nanoseconds of CLOCK_MONOTONIC; nil waits for ever.
    func wait<Result>(until deadline: UInt64?, _ body: (inout State) -> Result?) -> Result? {
        // Initialised in `init`; released on the way out.
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        while true {
            if let result = body(&state) { return result }
            if let deadline {
                var moment = timespec(
                    tv_sec: Int(deadline / 1_000_000_000),
                    tv_nsec: Int(deadline % 1_000_000_000)
                )
                // The lock is held by this thread, which is what the call demands.
                let status = unsafe pthread_cond_timedwait(changed, lock, &moment)
                if status == ETIMEDOUT { return body(&state) }
            } else {
                // As above.
                unsafe pthread_cond_wait(changed, lock)
            }
        }
    }

    /// Wakes one that waits.
    ///
    /// Called without the lock held or with it.
    func signal() {
        // Initialised in `init`.
        unsafe pthread_cond_signal(changed)
    }

    /// Wakes all that wait.
    func broadcast() {
        // Initialised in `init`.
        unsafe pthread_cond_broadcast(changed)
    }
}
