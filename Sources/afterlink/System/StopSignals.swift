internal import Dispatch
internal import Glibc
internal import Threads

/// The signals of a serving process: stop, drop what is in flight, reopen the log.
///
/// They are blocked in every thread and fetched by the main one, so that no handler ever interrupts anything.
struct StopSignals: Sendable {
    enum Signal {
        /// SIGTERM or SIGINT.
        case stop
        /// SIGHUP.
        case reopen
    }

    private let awaited: sigset_t

    /// Blocks the signals.
    ///
    /// To be called before another thread exists: threads inherit what is blocked.
    init() {
        var signals = sigset_t()
        // The set is a local value, which the kernel copies.
        unsafe sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGHUP] { unsafe sigaddset(&signals, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        awaited = signals
        // A peer that vanished is an error of its connection, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Whether one of them has come, for work that looks up now and then.
    var isPending: Bool {
        var pending = sigset_t()
        // The kernel fills the local set.
        guard unsafe sigpending(&pending) == 0 else { return false }
        return [SIGTERM, SIGINT, SIGHUP].contains { unsafe sigismember(&pending, $0) == 1 }
    }

    /// Sleeps until one of the signals comes.
    func wait() -> Signal {
        var signals = awaited
        var number: Int32 = 0
        // Both values are local for the call.
        while unsafe sigwait(&signals, &number) != 0 {}
        return number == SIGHUP ? .reopen : .stop
    }
}

/// Listens for a second signal while the service stops, which asks it not to wait.
///
/// Uses a thread from the start, because the system could refuse one at the stop. It ends with the process.
final class SecondSignal: Sendable {
    private let service = SetOnce<RunningService>()
    private let stopHasBegun = DispatchSemaphore(value: 0)

    /// Starts the thread, which leaves the signals to others until the stop has begun.
    ///
    /// - Throws: when the system refuses the thread.
    init(_ signals: StopSignals) throws {
        try SystemThread.start {
            SystemThread.nameCurrent("signals")
            self.stopHasBegun.wait()
            while signals.wait() == .reopen {}
            self.service.value?.dropInFlightRequests()
        }
    }

    /// Makes the next signal drop the requests in flight.
    func arm(for service: RunningService) {
        self.service.value = service
        stopHasBegun.signal()
    }
}
