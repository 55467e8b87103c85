public import Attribution

/// The daily compaction of counts by free text that clients choose: it adds old counts of rare names to the name for
/// everything else.
///
/// The counts of all names together, and their counts by platform, are not compacted.
enum CounterCompaction {
    static let dimensions = [Dimension.campaign, .link, .source, .osVersion, .browser]

    /// Returns the first day that is too young to be compacted at a time.
    static func end(at now: Timestamp) -> Timestamp { StatisticsQuery.firstHour(at: now) }

    /// Returns the spans that are compacted together with a day: its hours, the day, all time, and the four weeks if
    /// the day is their last one.
    static func spans(of day: Timestamp) -> [(Granularity, Timestamp)] {
        let (weeks, next) = (Granularity.fourWeeks.start(of: day), day.advanced(byMilliseconds: 86_400_000))
        let ended = Granularity.fourWeeks.start(of: next) == weeks ? [] : [(Granularity.fourWeeks, weeks)]
        return [(.all, Timestamp(milliseconds: 0)), (.day, day)] + ended
            + (0..<24 as Range<Int64>).map { (.hour, day.advanced(byMilliseconds: $0 * 3_600_000)) }
    }

    /// Returns how many of the most clicked names keep separate counts in a compacted span.
    static func limit(_ dimension: Dimension, _ granularity: Granularity) -> Int {
        switch granularity {
        case .all: dimension.nameLimit ?? .max
        case .fourWeeks, .day: dimension.isRanked ? 1_000 : 100
        case .hour, .quarter: 0
        }
    }

    /// Returns the names whose counts are never compacted: the name for everything else, which comes first, and the
    /// source tokens, whose number clients cannot increase.
    ///
    /// Empty for hours, because the counts of their names are deleted.
    static func keptNames(_ dimension: Dimension, _ granularity: Granularity) -> [String] {
        guard granularity != .hour else { return [] }
        let tokens = dimension == .source ? SourceToken.allCases.map(\.rawValue) : []
        return [dimension.overflowValue] + tokens.filter { $0 != dimension.overflowValue }
    }
}

/// Where the compaction of a day continues.
public struct CompactionPosition: Sendable {
    let day: Timestamp
    /// The number of the scope to compact next; all scopes with smaller numbers are finished.
    var scope = Int64.min
    /// How many of the scope's pairs of a span and a dimension are finished.
    var part = 0

    init(startOf day: Timestamp) { self.day = day }
}

/// The rare names of a span that one pair of statements compacts; the ``limit`` most clicked names are not rare.
public struct RareNames: Sendable {
    public let scope: Scope
    public let dimension: Dimension
    public let granularity: Granularity
    /// The span's first millisecond.
    public let period: Timestamp
    public let limit: Int
    /// The names that are neither ranked nor compacted; the first is the name for everything else.
    ///
    /// Empty if the counts of the rare names are deleted.
    public let kept: [String]

    init(_ dimension: Dimension, _ granularity: Granularity, from period: Timestamp, of scope: Scope) {
        (self.dimension, self.granularity, self.period, self.scope) = (dimension, granularity, period, scope)
        limit = CounterCompaction.limit(dimension, granularity)
        kept = CounterCompaction.keptNames(dimension, granularity)
    }
}
