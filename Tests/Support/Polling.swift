import Glibc

/// Waiting for what another thread or process does.
///
/// A test that waits for something to become true is told how long it takes by the machine, not by what it
/// tests: the limit is far beyond what a busy one needs, and only what never happens reaches it.
public enum Polling {
    /// Seconds after which something is taken never to happen.
    public static let seconds = 60

    /// A time from which on nothing more is waited for.
    public static var end: ContinuousClock.Instant { .now + .seconds(seconds) }

    /// Waits until a condition holds, on a thread that may block; whether it did.
    public static func until(_ condition: () throws -> Bool) rethrows -> Bool {
        let end = end
        while try !condition() {
            guard ContinuousClock.now < end else { return false }
            // No descriptors: nothing but a pause of ten milliseconds between two looks.
            _ = poll(nil, 0, 10)
        }
        return true
    }

    /// Waits until a condition holds, and leaves the thread to others meanwhile; whether it did.
    public static func eventually(_ condition: () throws -> Bool) async rethrows -> Bool {
        let end = end
        while try !condition() {
            guard ContinuousClock.now < end else { return false }
            // Cancelled, it looks without a pause.
            try? await Task.sleep(for: .milliseconds(1))
        }
        return true
    }
}
