/// A query for a page of the campaigns of a span, with their counts.
public struct CampaignQuery: Equatable, Sendable {
    /// The raw value is the word in the address of a page.
    public enum Order: String, CaseIterable, Sendable {
        case clicks = "clicks"
        case matches = "matches"
        /// By the share of clicks that led to a match.
        case rate = "rate"
        case expected = "expected"
        case name = "name"
    }

    /// The app, the traffic and the span, in whole days; the campaign and the interval of this query have no effect.
    public var counts: StatisticsQuery
    /// The span to compare with; nil for none.
    public var earlier: StatisticsQuery?
    /// Return only campaigns whose key contains this text; the case of ASCII letters is ignored.
    public var search: String?
    /// Names ascend; numbers descend.
    public var order = Order.clicks
    /// 0 for the first page.
    public var page = 0

    public static let pageSize = 100
    /// Only this many campaigns, those with the most clicks, are sorted by matches, rate or expected conversions.
    ///
    /// The orders by clicks and by name include all campaigns, because they need only the counts of clicks. Any other
    /// order would have to read the other counts of every campaign too.
    public static let rankedLimit = 1_000
    /// The maximum number of counts of clicks that one query reads.
    public static let readLimit = 40_000

    public init(_ counts: StatisticsQuery) { self.counts = counts }
}

/// A page of campaigns.
public struct CampaignPage: Equatable, Sendable {
    public struct Row: Equatable, Sendable {
        public let name: String
        public let counts: Counts
        public let expected: ExpectedConversions
        /// Empty if the store does not count times to install by campaign.
        public let timeToInstall: TimeToInstallHistogram
        /// The counts of the span to compare with; nil without such a span.
        public let earlier: Counts?

        public init(
            name: String,
            counts: Counts,
            expected: ExpectedConversions,
            timeToInstall: TimeToInstallHistogram,
            earlier: Counts?
        ) {
            (self.name, self.counts, self.expected) = (name, counts, expected)
            (self.timeToInstall, self.earlier) = (timeToInstall, earlier)
        }
    }

    public var rows: [Row] = []
    /// The number of campaigns on all pages.
    public var count = 0
    /// Whether a limit has left out campaigns with few clicks.
    public var isPartial = false

    public init() {}
}

/// One of the servers that share a database.
public struct RunningServer: Equatable, Sendable {
    public let number: Int64
    public let version: String
    /// The time of the server's last transaction, by the database's clock.
    public let seenAt: Timestamp

    public init(number: Int64, version: String, seenAt: Timestamp) {
        (self.number, self.version, self.seenAt) = (number, version, seenAt)
    }
}
