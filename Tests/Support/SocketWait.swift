#if PostgreSQL
internal import CLinux
internal import Glibc
internal import PostgreSQL
public import Threads

/// What a ``LoopThread`` without jobs waits for: the sockets of database clients on its thread, and new jobs.
///
/// It is `Sendable` because other threads call only ``interrupt()``, which uses a constant.
public final class SocketWait: @unchecked Sendable {
    private let loop = PollingPort()
    /// An eventfd, which is ready for reading after ``interrupt()``.
    private let signal = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))

    init() {
        loop.port.watch(signal) { [signal] _ in
            var count: eventfd_t = 0
            // The call fills the local value and keeps no pointer to it.
            _ = unsafe eventfd_read(signal, &count)
        }
    }

    deinit { close(signal) }

    /// The functions that a client waits with.
    public var port: LoopPort { loop.port }

    /// Called before each wait, so that a session sends what it has gathered.
    public var turnDidEnd: () -> Void {
        get { loop.turnDidEnd }
        set { loop.turnDidEnd = newValue }
    }

    /// Waits until a socket is ready, a time has come, or a job was added.
    func turn() { loop.turn() }

    func interrupt() { _ = eventfd_write(signal, 1) }
}
#endif
