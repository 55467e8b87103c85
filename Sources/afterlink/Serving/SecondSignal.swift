internal import Dispatch
internal import Threads

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
