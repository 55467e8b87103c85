/// Functions of an event loop, with which a database client waits for its own sockets on the loop's thread.
///
/// It is meant for a database on a network; SQLite reads files and needs no port. `WebServer` passes each loop's
/// port to the function that creates the loop's handler. Only the loop's thread may call the functions, from any
/// code that runs there, also from a handler of the port.
///
/// At the start of a turn (one iteration of the loop), the loop calls the handlers of ready descriptors, and then the
/// handlers of ``wake``. In the same turn, the loop runs the tasks that the handlers resume, and sends the responses of
/// these tasks. A handler must not block, because all connections of the loop wait for it.
///
/// While the loop stops gracefully, the port works as before. When the loop ends, it drops all watches and wakes
/// without calling their handlers, and from then on the functions do nothing. A stopping loop ends when its last
/// connection ends, even if there are watches.
public struct LoopPort {
    /// What a watched descriptor is ready for.
    ///
    /// An error or a hang-up counts as readiness for reading, so that the client learns of the failure when it reads.
    /// If the descriptor is also watched for writing, the error counts as readiness for writing, too.
    public enum Readiness: Sendable {
        case reading
        case writing
    }

    /// Watches a descriptor for reading; the loop calls the handler in each turn in which the descriptor is ready.
    ///
    /// The watch is level-triggered: a handler that leaves bytes unread is called again in the next turn, and the
    /// loop does not sleep. A second watch of the same descriptor replaces the first one. If the system refuses the
    /// watch, the handler is never called; so every wait of a client needs a time limit.
    public let watch: (_ descriptor: Int32, _ handler: @escaping (Readiness) -> Void) -> Void

    /// Sets whether the loop also watches a watched descriptor for writing; at first the loop does not.
    public let setWatchesWriting: (_ descriptor: Int32, Bool) -> Void

    /// Ends the watch of a descriptor; its handler is not called again, not even in this turn.
    ///
    /// The client must call this before it closes the descriptor. If a library has closed the descriptor, the client
    /// must call this before it returns to the loop, because a new connection of the loop may get the same number.
    public let unwatch: (_ descriptor: Int32) -> Void

    /// Calls the handler once, in the loop's first turn after `time`.
    ///
    /// The call cannot be cancelled. If `time` has passed already, the loop calls the handler in its next turn.
    public let wake: (_ time: MonotonicTime, _ handler: @escaping () -> Void) -> Void

    public init(
        watch: @escaping (Int32, @escaping (Readiness) -> Void) -> Void,
        setWatchesWriting: @escaping (Int32, Bool) -> Void,
        unwatch: @escaping (Int32) -> Void,
        wake: @escaping (MonotonicTime, @escaping () -> Void) -> Void
    ) {
        (self.watch, self.setWatchesWriting) = (watch, setWatchesWriting)
        (self.unwatch, self.wake) = (unwatch, wake)
    }
}
