internal import Dispatch
internal import Glibc
internal import Threads

/// The signals of a serving process: SIGTERM and SIGINT stop it, SIGHUP reopens the log and reloads the certificate.
///
/// Every thread blocks them, and the main thread waits for them, so that no handler interrupts a thread.
struct StopSignals: Sendable {
    private let awaited: sigset_t

    /// Blocks the signals.
    ///
    /// Call it before another thread exists, because threads inherit the blocked signals.
    init() {
        var signals = sigset_t()
        // The set is a local value, which the kernel copies.
        unsafe sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGHUP] { unsafe sigaddset(&signals, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        awaited = signals
        // A peer that closed its connection must not end the process.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Whether one of the signals has arrived; long work polls it.
    var isPending: Bool {
        var pending = sigset_t()
        // The kernel fills the local set.
        guard unsafe sigpending(&pending) == 0 else { return false }
        return [SIGTERM, SIGINT, SIGHUP].contains { unsafe sigismember(&pending, $0) == 1 }
    }

    /// Sleeps until one of the signals arrives, and returns whether it is SIGHUP.
    func waitForReopening() -> Bool {
        var signals = awaited
        var number: Int32 = 0
        // Both are local values, which the kernel uses only during the call.
        while unsafe sigwait(&signals, &number) != 0 {}
        return number == SIGHUP
    }
}

/// Waits for a second signal while the service stops, and then drops the requests in flight.
///
/// Its thread exists from the start, because the system could refuse one at the stop. It ends with the process.
final class SecondSignal: Sendable {
    private let service = SetOnce<RunningService>()
    private let stopHasBegun = DispatchSemaphore(value: 0)

    /// Starts the thread, which does not wait for signals before the stop begins.
    ///
    /// - Throws: if the system refuses the thread.
    init(_ signals: StopSignals) throws {
        try SystemThread.start {
            SystemThread.nameCurrent("signals")
            self.stopHasBegun.wait()
            while signals.waitForReopening() {}
            self.service.value?.dropInFlightRequests()
        }
    }

    /// Makes the next SIGTERM or SIGINT drop the requests in flight.
    func arm(for service: RunningService) {
        self.service.value = service
        stopHasBegun.signal()
    }
}
