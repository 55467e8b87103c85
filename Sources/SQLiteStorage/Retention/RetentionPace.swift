/// How much of the time retention takes: little, so that checks and clicks beside it hardly notice, and more as long
/// as more expires than that can do.
package struct RetentionPace: Sendable {
    /// One part of the time in so many.
    private static let usualShare: UInt64 = 8
    private static let hurriedShare: UInt64 = 3

    private var lag: Int64?
    private var isLosing = false

    package init() {}

    /// At the end of a stretch of work: what is to be done next has been due for so long, in milliseconds; 0 when
    /// there is nothing.
    package mutating func noteLag(_ now: Int64) {
        isLosing = now > (lag ?? now)
        lag = now
    }

    /// How long to pause after work that took so long, both in nanoseconds; a slice takes milliseconds.
    package func pause(after work: UInt64) -> UInt64 {
        let share = isLosing ? Self.hurriedShare : Self.usualShare
        return work * (share - 1)
    }
}
