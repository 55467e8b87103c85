/// The functions of an event loop for a database client that waits for its own sockets on the loop's thread.
///
/// It is meant for a database on a network: each loop creates one port, and calls the handlers on its own
/// thread. SQLite reads files and needs no port, so no loop creates one yet.
public struct LoopPort {
    /// What a watched descriptor is ready for.
    public enum Readiness: Sendable {
        case reading
        case writing
    }

    /// Watches a descriptor for reading; the loop calls the handler in each turn (iteration) in which it is
    /// ready.
    public let watch: (_ descriptor: Int32, _ handler: @escaping (Readiness) -> Void) -> Void
    /// Sets whether a watched descriptor is watched for writing too.
    public let setWatchesWriting: (_ descriptor: Int32, Bool) -> Void
    /// Ends the watch of a descriptor, before it is closed.
    public let unwatch: (_ descriptor: Int32) -> Void
    /// Calls the handler in the loop's first turn after `time`.
    public let wake: (_ time: MonotonicTime, _ handler: @escaping () -> Void) -> Void

    public init(
        watch: @escaping (Int32, @escaping (Readiness) -> Void) -> Void,
        setWatchesWriting: @escaping (Int32, Bool) -> Void,
        unwatch: @escaping (Int32) -> Void,
        wake: @escaping (MonotonicTime, @escaping () -> Void) -> Void
    ) {
        self.watch = watch
        self.setWatchesWriting = setWatchesWriting
        self.unwatch = unwatch
        self.wake = wake
    }
}
