import Glibc
internal import Attribution

/// A thread of the store's own, for work that waits for the disk.
struct JoinableThread: Sendable {
    private let handle: pthread_t

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a thread that ends when `run` returns.
    ///
    /// It must be joined.
    init(run: @escaping @Sendable () -> Void) throws(StoreError) {
        // Signals are for the threads of the server: this one must not interrupt its system calls for them.
        var all = sigset_t()
        var previous = sigset_t()
        // Both sets outlive the calls.
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_BLOCK, &all, &previous)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }

        var handle = pthread_t()
        // Balanced by the thread itself, or below when there is none.
        let body = unsafe Unmanaged.passRetained(Body(run))
        let status = unsafe pthread_create(
            &handle,
            nil,
            { argument in
                // The argument is the retained body that was given to pthread_create.
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            body.toOpaque()
        )
        guard status == 0 else {
            // No thread took it over.
            unsafe body.release()
            throw StoreError(.resources, "the system refused a thread for the database (error \(status))")
        }
        self.handle = handle
    }

    /// Waits for the thread's end.
    ///
    /// Called once.
    func join() {
        // The thread was started joinable and is joined once.
        pthread_join(handle, nil)
    }
}
