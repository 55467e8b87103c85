internal import Dispatch
internal import Threads

/// Listens for a second signal while the service stops: whoever signals again does not want to wait.
///
/// On a thread that exists from the start, since one that were asked for at the stop could be refused. It ends with
/// the process.
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

    /// From now on, a signal makes the service cut off what is still in flight.
    func arm(for service: RunningService) {
        self.service.value = service
        stopHasBegun.signal()
    }
}
