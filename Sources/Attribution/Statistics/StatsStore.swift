/// The events that are counted.
public enum Metric: Hashable, Sendable {
    case clicks
    case duplicates
    case robots
    case checks
    case matches
    case replays
    /// Checks that ended without a match for this reason.
    case noMatch(NoMatchReason)
}

extension Metric: CaseIterable {
    public static let allCases: [Metric] =
        [.clicks, .duplicates, .robots, .checks, .matches, .replays]
        + NoMatchReason.allCases.map(Metric.noMatch)
}

extension Metric {
    /// The word in the database.
    public var name: String {
        switch self {
        case .clicks: "clicks"
        case .duplicates: "duplicates"
        case .robots: "robots"
        case .checks: "checks"
        case .matches: "matches"
        case .replays: "replays"
        case .noMatch(let reason): "no_match_" + reason.rawValue
        }
    }

    /// Creates the metric of a ``name``; nil for any other text.
    public init?(name: String) {
        guard let metric = Self.byName[name] else { return nil }
        self = metric
    }

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name, $0) })
}

/// The dimensions of counts.
///
/// The raw value is the number in the database. It is not a word, because the search for a count compares several of
/// them, and numbers compare faster.
public enum Dimension: Int64, CaseIterable, Sendable {
    case total = 0
    case campaign = 1
    case source = 2
    case platform = 3
    case osVersion = 4
    /// How launches were recognised; only for matches.
    case method = 5
    /// The bin of ``TimeToInstallHistogram`` as a number; only for matches.
    case timeToInstall = 6
    /// The bin of ``CalibrationTable``.
    case calibration = 7
    /// The group of a launch whose match rate is watched; see ``DriftSide``.
    case launch = 8
    /// The group of a click whose match rate is watched.
    case click = 9
    /// The ``Browser`` that opened the link.
    case browser = 10
    /// A link's total; see ``CounterLabel/campaign``.
    case link = 11
    /// The hour of the day in UTC, `00` to `23`; only for all campaigns together.
    case hourOfDay = 12
    /// The ``PlayFinding`` of matches that have one.
    case playFinding = 13
    /// The events of apps by ``EventCount/value(_:_:)``, of a campaign or of all together.
    case event = 14
    /// Events whose value begins with the token of the source and a blank; only for all campaigns together.
    case eventSource = 15
    /// The events of a link; see ``CounterLabel/campaign``.
    case eventLink = 16
    /// Events by the day of the match, with a value of ``EventCount/cohortValue(_:_:)``.
    case cohort = 17
}

/// Numbers by metric; a missing metric is zero.
public typealias Counts = [Metric: Int64]

/// A query for statistics.
public struct StatisticsQuery: Equatable, Sendable {
    public enum Interval: String, CaseIterable, Sendable { case hour, day }

    /// Nil for all apps together.
    public var app: AppID?
    /// Whether to return test clicks and checks instead of live ones.
    public var isTest: Bool
    public var campaign: CampaignKey?
    /// The start of the time span, rounded down to the interval; nil for no start.
    public var from: Timestamp?
    /// The end of the time span, exclusive, rounded up to the interval; nil for no end.
    public var to: Timestamp?
    public var interval = Interval.day
    /// The number of hours by which days begin before UTC days.
    public var offset: Int64 = 0
    /// The value to which totals and series are limited; nil for all values.
    public var slice: CountedValue?
    /// The maximum number of groups of a dimension; 0 leaves out all groups, because they cost more than the rest of
    /// the report.
    public var groupLimit = StatisticsReport.groupLimit
    /// Whether the report has more than the totals, the expected conversions and the time to install.
    public var hasGroups = true
    /// Whether a report of one app has ``StatisticsReport/launchRates``.
    public var hasLaunchRates = false

    public init(app: AppID? = nil, isTest: Bool = false) {
        self.app = app
        self.isTest = isTest
    }
}

/// A value of a dimension, whose totals can be queried.
public struct CountedValue: Equatable, Sendable {
    public let dimension: Dimension
    public let value: String

    public init(_ dimension: Dimension, _ value: String) { (self.dimension, self.value) = (dimension, value) }

    /// The dimensions whose values can be queried, with the word for a value.
    public static let words: [(dimension: Dimension, word: String)] = [
        (.source, "source"), (.platform, "platform"), (.osVersion, "os_version"), (.browser, "browser"),
        (.link, "link"),
    ]

    /// The dimensions that are counted within a campaign too.
    public static let withinCampaigns: Set<Dimension> = [.source, .platform]
}

extension StatisticsQuery {
    /// The label of the totals.
    public var label: CounterLabel {
        guard let slice else { return CounterLabel(campaign: campaign?.text, .total) }
        guard slice.dimension != .link else { return CounterLabel(campaign: slice.value, .link) }
        return CounterLabel(campaign: campaign?.text, slice.dimension, slice.value)
    }

    /// Whether the totals have checks: a check belongs to no campaign, source, browser or link before it matches.
    public var hasChecks: Bool { campaign == nil && (slice == nil || slice?.dimension == .platform) }
}

/// The counts that match a query.
public struct StatisticsReport: Equatable, Sendable {
    /// The counts of one value of a dimension.
    public struct Group: Equatable, Sendable {
        public var name: String
        public var counts: Counts
        /// The expected conversions of the group; nil for dimensions by which the store does not count them.
        public var expected: ExpectedConversions?
        /// The times from click to first launch; nil for dimensions by which the store does not count them.
        public var timeToInstall: TimeToInstallHistogram?
        public init(
            name: String,
            counts: Counts,
            expected: ExpectedConversions? = nil,
            timeToInstall: TimeToInstallHistogram? = nil
        ) {
            (self.name, self.counts) = (name, counts)
            (self.expected, self.timeToInstall) = (expected, timeToInstall)
        }
    }
    public struct Period: Equatable, Sendable {
        public var start: Timestamp
        public var counts: Counts
        public var expected: ExpectedConversions
        public init(start: Timestamp, counts: Counts, expected: ExpectedConversions = .zero) {
            self.start = start
            self.counts = counts
            self.expected = expected
        }
    }

    public var totals: Counts = [:]
    /// The counts by app; names are the texts of app ids.
    public var byApp: [Group] = []
    /// At most ``StatisticsQuery/groupLimit`` campaigns, those with the most clicks first; `other` has the counts
    /// of campaigns without counters of their own.
    public var byCampaign: [Group] = []
    /// The counts by link, limited and ordered as in ``byCampaign``; names are the ids of the links.
    public var byLink: [Group] = []
    public var bySource: [Group] = []
    public var byPlatform: [Group] = []
    public var byOSVersion: [Group] = []
    public var byBrowser: [Group] = []
    /// The counts by the hour of the query's days, `00` to `23`; omits hours without counts.
    public var byHour: [Group] = []
    /// The matches by method, in the order in which the methods are tried; omits methods without matches.
    public var byMethod: [Group] = []
    /// The matches by ``PlayFinding``; omits findings without matches.
    public var byPlayFinding: [Group] = []
    public var expected = ExpectedConversions.zero
    /// The calibration of all campaigns over the query's span, which is rounded outwards to whole days.
    public var calibration = CalibrationTable()
    /// The number of checks, of all apps and times, that were counted but not recorded because there were too
    /// many at once.
    public var unrecordedChecks: Int64 = 0
    /// The periods in ascending order; omits periods without counts.
    public var series: [Period] = []
    public var timeToInstall = TimeToInstallHistogram()
    /// The match rates of groups, and their alarms; empty for test traffic.
    ///
    /// Each rate is compared with the group's own past; the query's campaign and time have no effect.
    public var drift: [AppDrift] = []
    /// The checks and matches by the launch's platform and OS version, with ``DriftGroup/Part/all`` as the client.
    ///
    /// They cover the live traffic of the query's only app in the newest seven days, rounded outwards to six hours;
    /// the query's campaign and time have no effect.
    public var launchRates: [DriftGroup: DriftCount] = [:]
    /// The last counts of fingerprint sharing, of the first ``collisionLimit`` apps.
    ///
    /// They cover all stored clicks; the query's campaign and time have no effect.
    public var collisions: [AppCollisions] = []
    /// The number of live clicks; a click counts until the end of the second in which it expires.
    public var liveClicks: Int64 = 0
    public var databaseBytes: Int64 = 0
    public var writeAheadLogBytes: Int64 = 0

    public static let groupLimit = 100
    public static let collisionLimit = 20

    public init() {}

    /// The ``launchRates``, the most frequent systems first.
    public var rankedLaunchRates: [(system: DriftGroup, count: DriftCount)] {
        launchRates.sorted { ($1.value.trials, $0.key) < ($0.value.trials, $1.key) }
            .map { ($0.key, $0.value) }
    }
}

/// The store of counts.
public protocol StatsStore {
    /// Returns the statistics of a query, including everything recorded before the call.
    func statistics(_ query: StatisticsQuery, at now: Timestamp) async throws(StoreError) -> StatisticsReport

    /// Returns a page of the campaigns of a span, including everything recorded before the call.
    func campaigns(_ query: CampaignQuery) async throws(StoreError) -> CampaignPage

    /// Returns the daily counts of an app's groups of live launches and clicks, before they are pooled.
    ///
    /// - Parameters:
    ///   - app: the app.
    ///   - days: the number of days to read; the days before are empty.
    ///   - now: the time of the call; the newest day ends with the last complete span of six hours.
    /// - Returns: the counts; empty if there is no such app.
    /// - Throws: if the store cannot be read.
    func matchRates(of app: AppID, days: Int, at now: Timestamp) async throws(StoreError) -> DriftHistory

    /// Returns the servers that share the database; empty for a database that only one process writes to.
    func runningServers() async throws(StoreError) -> [RunningServer]

    /// Returns the last comparison of other windows and minimum confidences for an app's live traffic; nil if none is
    /// stored.
    func policyGrid(of app: AppID) async throws(StoreError) -> PolicyGrid?

    /// Returns whether a comparison was requested of this process and has not ended.
    func isPolicyGridRequested(of app: AppID) -> Bool

    /// Requests a comparison, which runs in the background.
    func requestPolicyGrid(of app: AppID)

    /// Counts the fingerprint sharing of an app's clicks; the time grows with the number of stored clicks.
    ///
    /// - Parameters:
    ///   - app: the app of the clicks and checks.
    ///   - isTest: whether to count test clicks and checks.
    ///   - window: the app's window.
    ///   - now: the start of the count.
    ///   - progress: called from time to time with the finished share, 0…1.
    /// - Returns: nil if there is no such app.
    /// - Throws: if the store cannot be read.
    func countCollisions(
        of app: AppID,
        isTest: Bool,
        window: AttributionWindow,
        at now: Timestamp,
        progress: (Double) -> Void
    ) async throws(StoreError) -> CollisionReport?
}

/// The times from click to first launch, in bins that widen with the time.
///
/// Bin 0 contains delays under a second. From one second on, there are eight bins for each doubling of the time. A
/// quantile from one second on is therefore exact to about 9 %.
public struct TimeToInstallHistogram: Equatable, Sendable {
    /// The number of delays in each bin that has any.
    public private(set) var counts: [Int: Int64] = [:]

    /// 2 to the power of 0/8, 1/8, … 8/8: the starts of the eight bins of a doubling, and its end.
    private static let steps = [
        1, 1.0905077326652577, 1.189207115002721, 1.2968395546510096, 1.4142135623730951, 1.5422108254079407,
        1.681792830507429, 1.8340080864093424, 2,
    ]

    public init() {}

    public mutating func add(_ count: Int64, inBin bin: Int) { counts[bin, default: 0] += count }

    public var total: Int64 { counts.values.reduce(0, +) }

    /// Returns the bin of a delay; a negative delay, of a launch after a clock was set back, counts as zero.
    public static func bin(forMilliseconds milliseconds: Int64) -> Int {
        guard milliseconds >= 1000 else { return 0 }
        let seconds = Double(milliseconds) / 1000
        let fraction = seconds.significand
        let step = steps.lastIndex { $0 <= fraction } ?? 0
        return 1 + Int(seconds.exponent) * 8 + min(step, 7)
    }

    /// Returns the delays of a bin, in milliseconds.
    public static func bounds(ofBin bin: Int) -> Range<Double> {
        guard bin > 0 else { return 0..<1000 }
        let (doublings, step) = (bin - 1).quotientAndRemainder(dividingBy: 8)
        let start = Double(sign: .plus, exponent: doublings, significand: 1000)
        return start * steps[step]..<start * steps[step + 1]
    }

    /// Returns the delay in milliseconds that a share (0…1) of all delays does not exceed; nil without delays.
    ///
    /// Assumes that delays are spread evenly within their bin.
    public func quantile(_ share: Double) -> Double? {
        let rank = min(max(share, 0), 1) * Double(total)
        var before: Double = 0
        for (bin, count) in counts.sorted(by: { $0.key < $1.key }) where count > 0 {
            let after = before + Double(count)
            if rank <= after {
                let bounds = Self.bounds(ofBin: bin)
                let position = (rank - before) / Double(count)
                return bounds.lowerBound + position * (bounds.upperBound - bounds.lowerBound)
            }
            before = after
        }
        return nil
    }
}
