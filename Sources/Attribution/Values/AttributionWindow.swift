/// The time after a click within which a first launch may be credited to it.
public struct AttributionWindow: Hashable, Sendable {
    /// Length in whole seconds, within ``allowedSeconds``.
    public let seconds: Int64

    /// One minute to thirty days.
    public static let allowedSeconds: ClosedRange<Int64> = 60...2_592_000

    /// 24 hours.
    public static let standard = AttributionWindow(unchecked: 86_400)

    private init(unchecked seconds: Int64) { self.seconds = seconds }

    /// Returns nil outside ``allowedSeconds``.
    public init?(seconds: Int64) {
        guard Self.allowedSeconds.contains(seconds) else { return nil }
        self.init(unchecked: seconds)
    }

    /// Returns the last millisecond that the window of a click covers: `clickedAt` plus the length itself.
    public func end(ofClickAt clickedAt: Timestamp) -> Timestamp {
        clickedAt.advanced(byMilliseconds: seconds * 1000)
    }

    /// Returns whether a launch at `now` may be credited to a click at `clickedAt`.
    ///
    /// A click from the future, after a clock was set back, still counts.
    public func covers(clickedAt: Timestamp, now: Timestamp) -> Bool { now <= end(ofClickAt: clickedAt) }
}
