/// Counts by group of the days before one moment: what the watch looks at.
///
/// A day is the 24 hours that end at that moment or a whole number of days before it, so that the rhythm of the day is
/// the same in all of them.
public struct DriftHistory: Sendable {
    /// How long the spans are that counts are stored for: at the end of each the watch looks again.
    public static let periodMilliseconds: Int64 = 21_600_000
    /// Older counts are not looked at: an alarm may last ``DriftDetector/longestAlarm`` days, and is judged by the days
    /// before it.
    public static let keptDays = DriftDetector.longestAlarm + DriftTest.baselineDays

    /// The end of the last span, which is over.
    public let end: Timestamp
    /// The days of each group that has any count, the newest first.
    public private(set) var days: [DriftGroup: [DriftCount]] = [:]

    private static let day: Int64 = 86_400_000

    /// - Parameter end: see ``end(at:)``.
    public init(end: Timestamp) {
        self.end = end
    }

    /// The first moment of the span that holds `moment`: all before it is complete.
    public static func end(at moment: Timestamp) -> Timestamp {
        let remainder = moment.milliseconds % periodMilliseconds
        return moment.advanced(byMilliseconds: remainder < 0 ? -remainder - periodMilliseconds : -remainder)
    }

    /// The first span that is still looked at when the last one ended at `end`.
    public static func start(before end: Timestamp) -> Timestamp {
        end.advanced(byMilliseconds: -Int64(keptDays) * day)
    }

    /// Adds what was counted in the span that begins at `period`; what is too old or not over yet is left out.
    public mutating func add(_ count: DriftCount, of group: DriftGroup, in period: Timestamp) {
        let age = end.milliseconds(since: period)
        guard age > 0, age <= Int64(Self.keptDays) * Self.day else { return }
        days[group, default: Array(repeating: DriftCount(), count: Self.keptDays)][
            Int((age - 1) / Self.day)
        ] += count
    }

    /// Sets all days of a group at once, the newest first.
    public mutating func set(_ days: [DriftCount], of group: DriftGroup) {
        let missing = max(0, Self.keptDays - days.count)
        self.days[group] = days.prefix(Self.keptDays) + Array(repeating: DriftCount(), count: missing)
    }

    /// The sums of all groups of one side that fulfil a condition.
    func sum(_ side: DriftSide, where isIncluded: (DriftGroup) -> Bool = { _ in true }) -> [DriftCount] {
        var sum = Array(repeating: DriftCount(), count: Self.keptDays)
        for (group, days) in days where group.side == side && isIncluded(group) {
            for index in sum.indices { sum[index] += days[index] }
        }
        return sum
    }
}
