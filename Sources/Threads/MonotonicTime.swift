#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A time of `CLOCK_MONOTONIC`, for timeouts and durations; it means nothing after a restart of the system.
public struct MonotonicTime: Sendable, Hashable, Comparable {
    /// The number of nanoseconds since a fixed time, usually the start of the system.
    public let nanoseconds: UInt64

    /// Creates the time at which the clock shows this number of nanoseconds.
    @inlinable
    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// Returns the current time of the clock.
    public static func now() -> MonotonicTime {
        var reading = timespec()
        // The kernel fills the local value and stores no pointer to it.
        unsafe clock_gettime(CLOCK_MONOTONIC, &reading)
        return MonotonicTime(nanoseconds: UInt64(reading.tv_sec) &* 1_000_000_000 &+ UInt64(reading.tv_nsec))
    }

    @inlinable
    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Returns the nanoseconds from `earlier` to this time; 0 if `earlier` is not before this time.
    @inlinable
    public func nanoseconds(since earlier: MonotonicTime) -> UInt64 {
        nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0
    }

    /// Returns this time moved by a duration, clamped to the clock's range.
    public func advanced(by duration: Duration) -> MonotonicTime {
        advanced(byNanoseconds: duration.wholeNanoseconds)
    }

    /// Returns this time moved by a number of nanoseconds, clamped to the clock's range.
    @inlinable
    public func advanced(byNanoseconds distance: Int64) -> MonotonicTime {
        let (sum, overflow) =
            distance >= 0
            ? nanoseconds.addingReportingOverflow(UInt64(distance))
            : nanoseconds.subtractingReportingOverflow(distance.magnitude)
        guard overflow else { return MonotonicTime(nanoseconds: sum) }
        return MonotonicTime(nanoseconds: distance >= 0 ? .max : 0)
    }
}

extension Duration {
    /// The duration in nanoseconds, clamped to 63 bits (292 years).
    public var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds > 0 ? .max : .min }
        let (sum, carried) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        guard !carried else { return seconds > 0 ? .max : .min }
        return sum
    }
}
