/// A moment of wall-clock time: milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
public struct Timestamp: Hashable, Comparable, Sendable {
    public let milliseconds: Int64

    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// This moment moved by `milliseconds`, held at the ends of the representable range.
    public func advanced(byMilliseconds milliseconds: Int64) -> Timestamp {
        let (sum, overflows) = self.milliseconds.addingReportingOverflow(milliseconds)
        guard overflows else { return Timestamp(milliseconds: sum) }
        return Timestamp(milliseconds: milliseconds < 0 ? .min : .max)
    }

    /// Milliseconds from `other` to this moment; negative when `other` is later.
    public func milliseconds(since other: Timestamp) -> Int64 {
        let (difference, overflows) = milliseconds.subtractingReportingOverflow(other.milliseconds)
        guard overflows else { return difference }
        return milliseconds < other.milliseconds ? .min : .max
    }
}

/// Where the domain gets the time from: handed in, so that a test can pin it.
public struct WallClock: Sendable {
    public let now: @Sendable () -> Timestamp

    public init(now: @escaping @Sendable () -> Timestamp) {
        self.now = now
    }

    public static func fixed(_ moment: Timestamp) -> WallClock {
        WallClock { moment }
    }
}
