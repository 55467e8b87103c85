/// A thread that runs the same work at intervals until it is stopped.
public final class PeriodicThread: Sendable {
    private let isStopping = ConditionLock(false)

    /// - Parameters:
    ///   - name: the name of the thread in system tools; at most 15 bytes.
    ///   - interval: the time from the end of one run to the start of the next.
    ///   - work: the work, whose first run starts at once; it calls `mustStop` to learn whether to return
    ///     early.
    /// - Throws: if the system refuses to create the thread.
    public init(
        _ name: String,
        every interval: Duration,
        _ work: @escaping @Sendable (_ mustStop: () -> Bool) -> Void
    ) throws(ThreadStartError) {
        // The thread keeps the object alive until ``stop()`` ends the thread.
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

    /// Ends the thread after its current run, without waiting for it.
    public func stop() {
        isStopping.withLock { $0 = true }
        isStopping.broadcast()
    }
}
