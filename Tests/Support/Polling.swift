import Glibc

/// Waits until another thread or process has made a condition true.
///
/// How long a condition takes to become true depends on the machine, not on the code under test. So the limit is far
/// beyond what a busy machine needs, and only a condition that never becomes true reaches it.
public enum Polling {
    /// The seconds after which a condition counts as never becoming true.
    public static let seconds = 180

    /// The end of a wait that starts now.
    public static var end: ContinuousClock.Instant { .now + .seconds(seconds) }

    /// Waits until a condition holds, on a thread that may block, and returns whether it did.
    public static func until(_ condition: () throws -> Bool) rethrows -> Bool {
        try until(seconds: seconds, condition)
    }

    /// Waits as ``until(_:)`` does, but not longer than some seconds.
    static func until(seconds: Int, _ condition: () throws -> Bool) rethrows -> Bool {
        let end = ContinuousClock.now.advanced(by: .seconds(seconds))
        // Conditions may start a program. The pauses grow, so that long waits leave the processor to what is awaited.
        var milliseconds: Int32 = 10
        while try !condition() {
            guard ContinuousClock.now < end else { return false }
            // poll(2) without descriptors pauses.
            _ = poll(nil, 0, milliseconds)
            milliseconds = min(milliseconds + milliseconds / 4 + 1, 100)
        }
        return true
    }

    /// Waits until a condition holds, suspended in between, and returns whether it did.
    public static func eventually(_ condition: () async throws -> Bool) async rethrows -> Bool {
        let end = end
        while try await !condition() {
            guard ContinuousClock.now < end else { return false }
            // Conditions may be queries of a database, which cost more than a pause of a millisecond. A cancelled task
            // polls without a pause.
            try? await Task.sleep(for: .milliseconds(10))
        }
        return true
    }
}
