#if PostgreSQL
internal import PostgreSQL
public import Threads

/// What a ``LoopThread`` without jobs waits for: the sockets of database clients on its thread, and new jobs.
///
/// It is `Sendable` because other threads call only ``interrupt()``, which uses a constant.
public final class SocketWait: @unchecked Sendable {
    private let loop = PollingPort()
    private let signal = WakeSignal()

    init() { loop.port.watch(signal.descriptor) { [signal] _ in signal.clear() } }

    /// The functions that a client waits with.
    public var port: LoopPort { loop.port }

    /// Called before each wait, so that a session sends what it has gathered.
    public var turnDidEnd: () -> Void {
        get { loop.turnDidEnd }
        set { loop.turnDidEnd = newValue }
    }

    /// Waits until a socket is ready, a time has come, or a job was added.
    func turn() { loop.turn() }

    func interrupt() { signal.send() }
}
#endif
