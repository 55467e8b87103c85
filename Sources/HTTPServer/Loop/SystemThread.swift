internal import CLinux
internal import Glibc

/// A thread of the system, which is waited for by whoever started it.
package struct SystemThread: Sendable {
    private final class Start {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }

    /// Names this thread for tools that show threads; at most 15 bytes.
    package static func nameCurrent(_ name: String) {
        // The name is copied by the call.
        _ = unsafe pthread_setname_np(pthread_self(), name)
    }

    /// Starts a thread that runs the closure once.
    ///
    /// - Throws: when the system refuses the thread, which Dispatch would wait for without end.
    package static func start(_ body: @escaping @Sendable () -> Void) throws(StartError) {
        // The new thread takes over the one reference that is passed to it.
        let start = unsafe Unmanaged.passRetained(Start(body))
        var thread = pthread_t()
        // The thread is detached: its end is told by other means.
        let code = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            },
            start.toOpaque()
        )
        guard code == 0 else {
            unsafe start.release()
            errno = code
            throw .resources("a thread")
        }
        pthread_detach(thread)
    }
}
