/// A thread that does something again and again, until it is stopped.
public final class PeriodicThread: Sendable {
    private let isStopping = ConditionLock(false)

    /// - Parameters:
    ///   - name: for tools that show threads; at most 15 bytes.
    ///   - interval: from the end of one run to the start of the next.
    ///   - work: run at once, and then again and again; it asks whether it is to stop in the middle of it.
    /// - Throws: when the system refuses the thread.
    public init(
        _ name: String,
        every interval: Duration,
        _ work: @escaping @Sendable (_ mustStop: () -> Bool) -> Void
    ) throws(ThreadStartError) {
        // The thread keeps the object alive, which ends it by being stopped.
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

    /// Ends it as soon as it has done what it is doing; does not wait for that.
    public func stop() {
        isStopping.withLock { $0 = true }
        isStopping.broadcast()
    }
}
