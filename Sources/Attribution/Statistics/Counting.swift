/// The label of a count: its campaign, dimension and value.
public struct CounterLabel: Hashable, Sendable {
    /// Nil for all campaigns together.
    ///
    /// For ``Dimension/link`` and ``Dimension/eventLink``, it is the link's id, because a link is counted like a
    /// campaign.
    public let campaign: String?
    /// The dimension; never ``Dimension/campaign``, because a campaign's count is its ``Dimension/total``.
    public let dimension: Dimension
    /// Empty for ``Dimension/total`` and ``Dimension/link``.
    public let value: String

    public init(campaign: String? = nil, _ dimension: Dimension, _ value: String = "") {
        self.campaign = campaign
        self.dimension = dimension
        self.value = value
    }
}

extension Dimension {
    /// The largest number of an app's values that get counts of their own in one span of time; nil if the set
    /// of values is fixed.
    ///
    /// Without this limit, clients' free texts could fill the store. The span is a day, or six hours for
    /// groups with a watched match rate.
    public var nameLimit: Int? {
        switch self {
        case .total, .platform, .method, .timeToInstall, .calibration, .hourOfDay, .playFinding, .eventSource,
            .eventLink, .cohort:
            nil
        case .campaign, .link: 10_000
        case .source: 1_000
        case .osVersion, .browser: 500
        case .launch, .click: 200
        case .event: 100
        }
    }

    /// Returns the part of a stored value that ``nameLimit`` limits; the value of an event also has a currency after
    /// the name.
    public func limitedName(in value: String) -> String {
        self == .event ? EventCount.name(ofValue: value) : value
    }

    /// The dimension whose counts of clicks list and rank the campaigns or links of this dimension.
    ///
    /// Every campaign or link with a count of this dimension has such a count of clicks, which may be 0. The property
    /// is nil for a dimension that does not count by campaign or link.
    public var naming: Dimension? {
        switch self {
        case .total, .event: .total
        case .link, .eventLink: .link
        default: nil
        }
    }

    /// The value under which all values beyond ``nameLimit`` are counted.
    public var overflowValue: String {
        switch self {
        case .source: SourceToken.unknown.rawValue
        case .launch, .click: DriftGroup(.launch, platform: .others, osVersion: .others, client: .others).name
        default: "other"
        }
    }
}

extension Dimension {
    /// Whether each value is a ``CounterLabel/campaign`` of its own, so that an index finds the most clicked ones.
    public var isRanked: Bool { self == .campaign || self == .link }
}

extension DriftSide {
    /// The dimension under which the groups of this side are counted.
    public var dimension: Dimension { self == .launch ? .launch : .click }
}

/// The properties by which a click is counted.
public struct CountedTraits: Hashable, Sendable {
    public let campaign: String?
    /// The token of the source; if no token fits, the text that the caller sent, in lower case.
    public let source: String
    public let sourceToken: SourceToken
    public let platform: Platform
    public let osVersion: String?
    public let browser: Browser
    public let link: LinkID?

    public init(_ facts: Click.Facts) {
        campaign = facts.campaignKey?.text
        sourceToken = facts.source
        if sourceToken == .unknown, let rawSource = facts.rawSource, !rawSource.isEmpty {
            source = rawSource.lowercased()
        } else {
            source = sourceToken.rawValue
        }
        platform = facts.platform
        osVersion = facts.osVersion
        (browser, link) = (facts.browser, facts.link)
    }

    /// Returns all labels that an event of the click is counted under.
    ///
    /// Within a campaign, sources are counted by their token alone, because strangers can invent other texts.
    ///
    /// `admit` returns the value that it gets, or ``Dimension/overflowValue`` if the app has had
    /// ``Dimension/nameLimit`` other values on that day.
    public func labels<Failure: Error>(
        admit: (Dimension, String) throws(Failure) -> String
    ) throws(Failure) -> [CounterLabel] {
        let isToken = source == sourceToken.rawValue
        var labels = [
            CounterLabel(.total),
            CounterLabel(.source, isToken ? source : try admit(.source, source)),
            CounterLabel(.platform, platform.rawValue),
        ]
        if let osVersion { labels.append(CounterLabel(.osVersion, try admit(.osVersion, osVersion))) }
        if browser != .unknown {
            labels.append(CounterLabel(.browser, try admit(.browser, browser.rawValue)))
        }
        if let link { labels.append(CounterLabel(campaign: try admit(.link, link.text), .link)) }
        if let campaign {
            let campaign = try admit(.campaign, campaign)
            labels.append(CounterLabel(campaign: campaign, .total))
            labels.append(CounterLabel(campaign: campaign, .source, sourceToken.rawValue))
            labels.append(CounterLabel(campaign: campaign, .platform, platform.rawValue))
        }
        return labels
    }
}

extension Int64 {
    /// Returns the sum of two counts, clamped to the range of 64 bits.
    ///
    /// The sum may leave this range, because an app key is public and any client may report any revenue with it.
    public static func clampedSum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, overflows) = left.addingReportingOverflow(right)
        return overflows ? left < 0 ? .min : .max : sum
    }

    public mutating func addClamped(_ other: Int64) { self = .clampedSum(self, other) }
}

extension Platform {
    /// All labels that a check is counted under; a check belongs to no campaign before it matches.
    public var checkLabels: [CounterLabel] { [CounterLabel(.total), CounterLabel(.platform, rawValue)] }
}

/// The length of the time spans that counts are stored for.
///
/// The raw value is the number in the database.
public enum Granularity: Int64, CaseIterable, Sendable {
    /// One span for all time.
    case all = 0
    case day = 1
    case hour = 2
    /// A quarter of a day; only for groups whose match rate is watched.
    case quarter = 3
    /// Twenty-eight days, so that a year has few rows.
    case fourWeeks = 4

    /// The granularities by which an event is counted if this is the finest one; a coarser count is the sum
    /// of the finer counts in its span.
    public var kept: [Granularity] {
        switch self {
        case .all: [.all]
        case .fourWeeks: [.all, .fourWeeks]
        case .day: [.all, .fourWeeks, .day]
        case .hour: [.all, .fourWeeks, .day, .hour]
        case .quarter: [.quarter]
        }
    }

    /// Returns the first millisecond of the span that contains `time`, in UTC; 0 for ``all``.
    public func start(of time: Timestamp) -> Timestamp {
        guard let length = milliseconds else { return Timestamp(milliseconds: 0) }
        // Round down before 1970 too, when the remainder is negative.
        let remainder = time.milliseconds % length
        return time.advanced(byMilliseconds: remainder < 0 ? -remainder - length : -remainder)
    }

    /// The length of a span in milliseconds; nil for ``all``.
    public var milliseconds: Int64? {
        switch self {
        case .all: nil
        case .fourWeeks: 28 * 86_400_000
        case .day: 86_400_000
        case .hour: 3_600_000
        case .quarter: DriftHistory.periodMilliseconds
        }
    }
}

/// The consecutive spans of one granularity from the one that starts at `first` to the one before `end`.
///
/// `end` is the start of a span too.
public struct CountedSpans: Equatable, Sendable {
    public let granularity: Granularity
    public let first: Timestamp
    public let end: Timestamp

    public init(_ granularity: Granularity, from first: Timestamp, before end: Timestamp) {
        self.granularity = granularity
        self.first = first
        self.end = end
    }

    /// The number of spans; very large if the first or the last time has no bound.
    public var count: Int64 {
        guard let length = granularity.milliseconds else { return 1 }
        let (time, overflows) = end.milliseconds.subtractingReportingOverflow(first.milliseconds)
        return (overflows ? .max : time) / length
    }
}

extension StatisticsQuery {
    /// The number of days for which counts are stored by hour, if they are counts of names such as campaigns and
    /// browsers.
    public static let daysWithHours: Int64 = 30

    /// Returns the start of the day in UTC since which all counts have hours.
    public static func firstHour(at now: Timestamp) -> Timestamp {
        Granularity.day.start(of: now.advanced(byMilliseconds: -daysWithHours * 86_400_000))
    }

    /// The granularity of the counts in the series; days that do not begin at midnight in UTC are sums of hours.
    public var seriesGranularity: Granularity { interval == .hour || offset != 0 ? .hour : .day }

    /// Returns the start of the interval of the series that contains `time`.
    public func start(of time: Timestamp) -> Timestamp {
        guard interval == .day, offset != 0 else { return seriesGranularity.start(of: time) }
        let shift = offset * 3_600_000
        return Granularity.day.start(of: time.advanced(byMilliseconds: shift)).advanced(
            byMilliseconds: -shift
        )
    }

    /// The range of the query, rounded outwards to the interval.
    ///
    /// Without a start, the range extends from the first ``Timestamp``; without an end, to the last.
    public var range: (first: Timestamp, end: Timestamp) {
        let first = from.map(start) ?? Timestamp(milliseconds: .min)
        guard let to else { return (first, Timestamp(milliseconds: .max)) }
        let length: Int64 = interval == .hour ? 3_600_000 : 86_400_000
        let start = start(of: to)
        return (first, start == to ? start : start.advanced(byMilliseconds: length))
    }

    /// The fewest spans whose counts add up to the query's range.
    ///
    /// These are spans of four weeks, and days at the edges of the range. If ``seriesGranularity`` is
    /// ``Granularity/hour``, there are also hours at the outer edges.
    ///
    /// If the query has neither a start nor an end, one span covers all time.
    public var spans: [CountedSpans] {
        guard from != nil || to != nil else {
            let start = Timestamp(milliseconds: 0)
            return [CountedSpans(.all, from: start, before: start.advanced(byMilliseconds: 1))]
        }
        let (first, end) = range
        let lengths: [Granularity] =
            seriesGranularity == .hour ? [.fourWeeks, .day, .hour] : [.fourWeeks, .day]
        return CountedSpans(.all, from: first, before: end).divided(by: lengths[...])
    }
}

extension CountedSpans {
    /// Divides the time into as many of the longest spans as fit, and its edges into shorter ones.
    fileprivate func divided(by lengths: ArraySlice<Granularity>) -> [CountedSpans] {
        guard first < end, let longest = lengths.first, let length = longest.milliseconds else { return [] }
        let start = longest.start(of: first)
        // A range without a start or without an end has no edge there.
        let innerFirst =
            start == first || first.milliseconds == .min ? first : start.advanced(byMilliseconds: length)
        let innerEnd = end.milliseconds == .max ? end : longest.start(of: end)
        guard lengths.count > 1 else { return [CountedSpans(longest, from: first, before: end)] }
        let shorter = lengths.dropFirst()
        guard innerFirst < innerEnd else { return divided(by: shorter) }
        return CountedSpans(.all, from: first, before: innerFirst).divided(by: shorter)
            + [CountedSpans(longest, from: innerFirst, before: innerEnd)]
            + CountedSpans(.all, from: innerEnd, before: end).divided(by: shorter)
    }
}
