public import Attribution

/// Keeps counts by free text bounded, however many names strangers invent: once a day, what is old and rare is added up
/// under the name for everything else.
///
/// Totals and platforms are kept for ever, hour by hour.
public enum CounterCompaction {
    /// Days for which every name that a day admitted keeps its counts by the day and by the hour.
    public static let keptDays: Int64 = 30
    /// Names of one pair of statements, which takes the writer a millisecond or two.
    public static let namesAtOnce = 32

    public static let dimensions = [Dimension.campaign, .source, .osVersion]

    /// Earlier days are due.
    public static func end(at now: Timestamp) -> Timestamp {
        Granularity.day.start(of: now.advanced(byMilliseconds: -keptDays * 86_400_000))
    }

    /// The spans that are compacted with a day: its hours, the day, and all time.
    public static func spans(of day: Timestamp) -> [(Granularity, Timestamp)] {
        [(.all, Timestamp(milliseconds: 0)), (.day, day)]
            + (0..<24 as Range<Int64>).map { (.hour, day.advanced(byMilliseconds: $0 * 3_600_000)) }
    }

    /// The number of names that keep counts of their own in a span that is older, the most clicked ones.
    public static func limit(_ dimension: Dimension, _ granularity: Granularity) -> Int {
        switch granularity {
        case .all: dimension.nameLimit ?? .max
        case .day: dimension == .campaign ? 1_000 : 100
        case .hour, .quarter: 0
        }
    }

    /// The names that keep their counts in any case, because strangers cannot multiply them; the first is the one for
    /// everything else.
    ///
    /// Empty for hours, which are deleted.
    public static func keptNames(_ dimension: Dimension, _ granularity: Granularity) -> [String] {
        guard granularity != .hour else { return [] }
        let tokens = dimension == .source ? SourceToken.allCases.map(\.rawValue) : []
        return [dimension.overflowValue] + tokens.filter { $0 != dimension.overflowValue }
    }
}
