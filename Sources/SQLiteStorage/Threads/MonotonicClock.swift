import Glibc

/// The clock that timeouts are measured by: nobody sets it.
enum MonotonicClock {
    /// Nanoseconds of CLOCK_MONOTONIC.
    static func now() -> UInt64 {
        var moment = timespec()
        // The value outlives the call, which cannot fail for this clock.
        unsafe clock_gettime(CLOCK_MONOTONIC, &moment)
        return UInt64(moment.tv_sec) * 1_000_000_000 + UInt64(moment.tv_nsec)
    }
}
