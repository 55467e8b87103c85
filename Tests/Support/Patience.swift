import Glibc

/// Waiting for what another process does.
public enum Patience {
    /// Waits until a condition holds; whether it did within so many seconds.
    public static func until(within seconds: Int = 10, _ condition: () -> Bool) -> Bool {
        for _ in 0..<seconds * 100 {
            if condition() { return true }
            // No descriptors: nothing but a pause of ten milliseconds between two looks.
            _ = poll(nil, 0, 10)
        }
        return condition()
    }
}
