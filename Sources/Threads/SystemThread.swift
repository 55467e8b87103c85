#if canImport(Darwin)
internal import Darwin
#else
internal import CLinux
internal import Glibc
#endif

/// The error that the system returned instead of creating a thread.
public struct ThreadStartError: Error, Sendable {
    /// The system's error number.
    public let systemError: Int32
}

/// A thread of the system, for work that must not block an event loop.
///
/// This project uses no Dispatch queues, which wait for ever if the system refuses to create a thread.
public struct SystemThread: Sendable {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Sets this thread's name in system tools; at most 15 bytes.
    public static func nameCurrent(_ name: String) {
        #if canImport(Darwin)
        // The call copies the name.
        _ = unsafe pthread_setname_np(name)
        #else
        // The call copies the name.
        _ = unsafe pthread_setname_np(pthread_self(), name)
        #endif
    }

    /// Starts a thread that runs the closure once and cannot be joined.
    ///
    /// The thread blocks the same signals as the calling thread.
    public static func start(_ body: @escaping @Sendable () -> Void) throws(ThreadStartError) {
        let handle = try create(body)
        #if canImport(Darwin)
        // The thread has just been started, and is detached once.
        if let thread = unsafe pthread_t(bitPattern: handle) { unsafe pthread_detach(thread) }
        #else
        pthread_detach(handle)
        #endif
    }

    /// Creates a thread and returns its system handle, which must be detached or joined.
    fileprivate static func create(_ run: @escaping @Sendable () -> Void) throws(ThreadStartError) -> UInt {
        #if canImport(Darwin)
        var handle: pthread_t?
        #else
        var handle = pthread_t()
        #endif
        // The new thread releases the body; if no thread is created, this function releases it.
        let body = unsafe Unmanaged.passRetained(Body(run))
        let status = unsafe pthread_create(
            &handle,
            nil,
            { argument in
                // The argument is the retained body, which is passed to pthread_create below.
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            body.toOpaque()
        )
        guard status == 0 else {
            // The thread was not created, so it does not release the body.
            unsafe body.release()
            throw ThreadStartError(systemError: status)
        }
        #if canImport(Darwin)
        return unsafe UInt(bitPattern: handle)
        #else
        return handle
        #endif
    }
}

/// A thread that another thread must join.
///
/// It blocks all signals, so that they go to other threads and do not interrupt its system calls.
public struct JoinableThread: Sendable {
    private let handle: UInt

    /// Starts a thread, which ends when `run` returns.
    ///
    /// The caller must join it.
    public init(run: @escaping @Sendable () -> Void) throws(ThreadStartError) {
        var all = sigset_t()
        var previous = sigset_t()
        // Both sets are valid during the calls, which copy them.
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_BLOCK, &all, &previous)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
        handle = try SystemThread.create(run)
    }

    /// Waits for the thread's end; must be called exactly once.
    public func join() {
        #if canImport(Darwin)
        // The thread was started joinable, and is joined once.
        if let thread = unsafe pthread_t(bitPattern: handle) { unsafe pthread_join(thread, nil) }
        #else
        // The thread was started joinable, and is joined once.
        pthread_join(handle, nil)
        #endif
    }
}

/// A thread that runs the same work at intervals until it is stopped.
public final class PeriodicThread: Sendable {
    private let isStopping = ConditionLock(false)

    /// Creates and starts the thread.
    ///
    /// - Parameters:
    ///   - name: the name of the thread in system tools; at most 15 bytes.
    ///   - interval: the time from the end of one run to the start of the next.
    ///   - work: the work, whose first run starts at once. It calls `mustStop` to learn whether it must return early.
    /// - Throws: if the system refuses to create the thread.
    public init(
        _ name: String,
        every interval: Duration,
        _ work: @escaping @Sendable (_ mustStop: () -> Bool) -> Void
    ) throws(ThreadStartError) {
        // The thread keeps this object alive until `stop` ends the thread.
        try SystemThread.start { [self] in
            SystemThread.nameCurrent(name)
            var isDone = false
            while !isDone {
                work { self.isStopping.withLock { $0 } }
                let next = MonotonicTime.now().advanced(by: interval)
                isDone = self.isStopping.wait(until: next.nanoseconds) { $0 ? true : nil } ?? false
            }
        }
    }

    /// Makes the thread end after its current run; returns at once.
    public func stop() {
        isStopping.withLock { $0 = true }
        isStopping.broadcast()
    }
}
