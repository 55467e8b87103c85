internal import Dispatch
internal import Glibc
internal import Synchronization
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
    var isPending: Bool { hasArrived([SIGTERM, SIGINT, SIGHUP]) }

    /// Whether SIGTERM or SIGINT has arrived.
    fileprivate var isStopPending: Bool { hasArrived([SIGTERM, SIGINT]) }

    /// Returns whether one of the given blocked signals is pending.
    private func hasArrived(_ numbers: [Int32]) -> Bool {
        var pending = sigset_t()
        // The kernel fills the local set.
        guard unsafe sigpending(&pending) == 0 else { return false }
        return numbers.contains { unsafe sigismember(&pending, $0) == 1 }
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

/// Ends the process at a signal that arrives before the database is open.
///
/// While the service stops, the thread waits for a second signal, and then drops the requests in flight. The thread
/// exists from the start, because the system could refuse a new thread at the stop. It ends with the process.
final class SignalThread: Sendable {
    private let service = SetOnce<RunningService>()
    private let isDatabaseOpen = Mutex(false)
    private let stopHasBegun = DispatchSemaphore(value: 0)

    /// Starts the thread, which takes no signal before the stop begins: the main thread waits for the first one.
    ///
    /// - Throws: if the system refuses the thread.
    init(_ signals: StopSignals) throws {
        try SystemThread.start {
            SystemThread.nameCurrent("signals")
            // The main thread may wait a minute for a database server, or bring a large database up to date.
            while !self.endProcess(ifStopIsPending: signals) { usleep(100_000) }
            self.stopHasBegun.wait()
            while signals.waitForReopening() {}
            self.service.value?.dropInFlightRequests()
        }
    }

    /// From now on, only the main thread takes the first signal: it may create an app, whose keys it must show.
    func databaseHasOpened() { isDatabaseOpen.withLock { $0 = true } }

    /// Ends the process if the database is not open and a signal to stop has arrived; else returns whether it is open.
    private func endProcess(ifStopIsPending signals: StopSignals) -> Bool {
        isDatabaseOpen.withLock { isOpen in
            guard !isOpen, signals.isStopPending else { return isOpen }
            Console.printError("afterlink: stopped by a signal before the database was open\n")
            // A start may end at any point, as at a power cut. `exit` would run the cleanup of libraries that the main
            // thread uses.
            _exit(ExitCode.success.rawValue)
        }
    }

    /// Makes the next SIGTERM or SIGINT drop the requests in flight.
    func arm(for service: RunningService) {
        self.service.value = service
        stopHasBegun.signal()
    }
}
