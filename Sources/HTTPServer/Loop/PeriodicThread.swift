internal import Synchronization

/// A thread that does something now and then, until it is stopped.
package final class PeriodicThread: Sendable {
    private let stopping = Atomic(false)
    private let wake: WakeSignal

    /// - Parameters:
    ///   - name: for tools that show threads; at most 15 bytes.
    ///   - interval: from the end of one time to the beginning of the next.
    ///   - work: done at once, and then again and again; asked whether it is to stop in the middle of it.
    /// - Throws: when the system refuses the thread.
    package init(
        _ name: String,
        every interval: Duration,
        _ work: @escaping @Sendable (_ mustStop: () -> Bool) -> Void
    ) throws(StartError) {
        let wake = try WakeSignal()
        self.wake = wake
        // The thread keeps the object alive, which ends it by being stopped.
        try SystemThread.start { [self] in
            SystemThread.nameCurrent(name)
            repeat {
                work { self.stopping.load(ordering: .acquiring) }
            } while !stopping.load(ordering: .acquiring)
                && !wake.wait(until: MonotonicTime.now().advanced(by: interval))
        }
    }

    /// Ends it as soon as it has done what it is doing; does not wait for that.
    package func stop() {
        stopping.store(true, ordering: .releasing)
        wake.raise()
    }
}
