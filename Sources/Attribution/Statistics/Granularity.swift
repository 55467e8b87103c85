/// The length of the time spans that counts are stored for.
///
/// The raw value is the word in the database.
public enum Granularity: String, CaseIterable, Sendable {
    /// One span for all time.
    case all
    case day
    case hour
    /// A quarter of a day, for the watch on match rates.
    case quarter

    /// The granularities at which a number of this granularity is stored; each one is the sum of the finer
    /// ones.
    public var kept: [Granularity] {
        switch self {
        case .all: [.all]
        case .day: [.all, .day]
        case .hour: [.all, .day, .hour]
        case .quarter: [.quarter]
        }
    }

    /// Returns the first millisecond of the span that contains `moment`, in UTC; 0 for ``all``.
    public func start(of moment: Timestamp) -> Timestamp {
        guard let length = milliseconds else { return Timestamp(milliseconds: 0) }
        // Round down before 1970 too, when the remainder is negative.
        let remainder = moment.milliseconds % length
        return moment.advanced(byMilliseconds: remainder < 0 ? -remainder - length : -remainder)
    }

    /// The length of a span in milliseconds; nil for ``all``.
    public var milliseconds: Int64? {
        switch self {
        case .all: nil
        case .day: 86_400_000
        case .hour: 3_600_000
        case .quarter: DriftHistory.periodMilliseconds
        }
    }
}

/// Consecutive spans of one granularity, from `first` on, before `end`.
///
/// Both are starts of spans.
public struct CountedSpans: Equatable, Sendable {
    public let granularity: Granularity
    public let first: Timestamp
    public let end: Timestamp

    public init(_ granularity: Granularity, from first: Timestamp, before end: Timestamp) {
        self.granularity = granularity
        self.first = first
        self.end = end
    }
}

extension StatisticsQuery {
    /// The granularity of the series.
    public var seriesGranularity: Granularity {
        switch interval {
        case .hour: .hour
        case .day: .day
        }
    }

    /// The range of the query: `from` rounded down and `to` rounded up to the interval; open ends are the
    /// ends of time.
    public var range: (first: Timestamp, end: Timestamp) {
        let granularity = seriesGranularity
        let first = from.map(granularity.start(of:)) ?? Timestamp(milliseconds: .min)
        guard let to, let length = granularity.milliseconds else {
            return (first, Timestamp(milliseconds: .max))
        }
        let start = granularity.start(of: to)
        return (first, start == to ? start : start.advanced(byMilliseconds: length))
    }

    /// The smallest set of spans whose counts add up to the query's range: whole days, and hours at its
    /// edges.
    public var spans: [CountedSpans] {
        guard from != nil || to != nil else {
            let start = Timestamp(milliseconds: 0)
            return [CountedSpans(.all, from: start, before: start.advanced(byMilliseconds: 1))]
        }
        let (first, end) = range
        guard interval == .hour else { return [CountedSpans(.day, from: first, before: end)] }
        let lastDay = Granularity.day.start(of: end)
        let startOfFirst = Granularity.day.start(of: first)
        let firstDay = startOfFirst == first ? first : startOfFirst.advanced(byMilliseconds: 86_400_000)
        guard firstDay < lastDay else { return [CountedSpans(.hour, from: first, before: end)] }
        return [
            CountedSpans(.hour, from: first, before: firstDay),
            CountedSpans(.day, from: firstDay, before: lastDay),
            CountedSpans(.hour, from: lastDay, before: end),
        ].filter { $0.first < $0.end }
    }
}
