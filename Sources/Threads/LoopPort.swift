/// What an event loop offers a database that waits for its own sockets on the loop's thread.
///
/// A loop creates one port, and calls all closures on its own thread. A database on a network uses it; SQLite, which
/// reads in place, does not.
public struct LoopPort {
    /// What a watched descriptor is ready for.
    public enum Readiness: Sendable {
        case reading
        case writing
    }

    /// Watches a descriptor for reading; the handler is called in each turn in which the descriptor is ready.
    public let watch: (_ descriptor: Int32, _ handler: @escaping (Readiness) -> Void) -> Void
    /// Sets whether a watched descriptor is watched for writing too.
    public let setWatchesWriting: (_ descriptor: Int32, Bool) -> Void
    /// Ends the watch of a descriptor, before it is closed.
    public let unwatch: (_ descriptor: Int32) -> Void
    /// Calls the handler in the first turn after a time.
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
