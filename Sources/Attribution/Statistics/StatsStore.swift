/// What is counted.
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

    /// The metric of a ``name``; nil for what is none.
    public init?(name: String) {
        guard let metric = Self.byName[name] else { return nil }
        self = metric
    }

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name, $0) })
}

/// By what counts are kept apart.
///
/// The raw value is the word in the database.
public enum Dimension: String, CaseIterable, Sendable {
    case total
    case campaign
    case source
    case platform
    case osVersion = "os_version"
    /// How launches were recognised; of matches alone.
    case method
    /// The bin of ``TimeToInstallHistogram``; of matches alone.
    case timeToInstall = "time_to_install"
    /// The bin of ``CalibrationTable``.
    case calibration
    /// The group of a launch whose match rate is watched; see ``DriftSide``.
    case launch
    /// The group of a click whose match rate is watched.
    case click
}

/// Numbers by metric; a metric that is missing is zero.
public typealias Counts = [Metric: Int64]

/// Which statistics are asked for.
public struct StatisticsQuery: Equatable, Sendable {
    public enum Interval: String, CaseIterable, Sendable { case hour, day }

    /// Nil: all apps together.
    public var app: AppID?
    /// Test clicks and checks instead of live ones.
    public var isTest: Bool
    public var campaign: CampaignKey?
    /// First moment counted, rounded down to the interval; nil: since the beginning.
    public var from: Timestamp?
    /// First moment no longer counted, rounded up to the interval; nil: until now.
    public var to: Timestamp?
    public var interval: Interval

    public init(
        app: AppID? = nil,
        isTest: Bool = false,
        campaign: CampaignKey? = nil,
        from: Timestamp? = nil,
        to: Timestamp? = nil,
        interval: Interval = .day
    ) {
        self.app = app
        self.isTest = isTest
        self.campaign = campaign
        self.from = from
        self.to = to
        self.interval = interval
    }
}

/// What was counted, as far as the query asks.
public struct StatisticsReport: Equatable, Sendable {
    public struct Group: Equatable, Sendable {
        public var name: String
        public var counts: Counts
        /// Nil where it is not kept.
        public var expected: ExpectedConversions?
        public init(name: String, counts: Counts, expected: ExpectedConversions? = nil) {
            self.name = name
            self.counts = counts
            self.expected = expected
        }
    }
    public struct Period: Equatable, Sendable {
        public var start: Timestamp
        public var counts: Counts
        public init(start: Timestamp, counts: Counts) {
            self.start = start
            self.counts = counts
        }
    }

    public var totals: Counts = [:]
    /// Names are the app ids' texts.
    public var byApp: [Group] = []
    /// The most clicked first, at most ``campaignLimit``; `other` holds campaigns that have no counters of their own.
    public var byCampaign: [Group] = []
    public var bySource: [Group] = []
    public var byPlatform: [Group] = []
    public var byOSVersion: [Group] = []
    /// Matches alone, in the order in which the methods are tried; those without any left out.
    public var byMethod: [Group] = []
    public var expected = ExpectedConversions.zero
    /// Over whole days.
    public var calibration = CalibrationTable()
    /// Checks that were counted and not recorded, because there were too many at once; since the beginning.
    public var unrecordedChecks: Int64 = 0
    /// Ascending; periods without any count are left out.
    public var series: [Period] = []
    public var timeToInstall = TimeToInstallHistogram()
    /// How the match rates of groups are, and which have fallen.
    ///
    /// They are judged by their own past, whatever the query's campaign and time are. None for test traffic.
    public var drift: [AppDrift] = []
    /// How many people share fingerprints, as it was counted last; of the first ``collisionLimit`` apps.
    ///
    /// It is of all that is held, whatever the query's campaign and time are.
    public var collisions: [AppCollisions] = []
    /// Clicks that could still be matched now, to the second.
    public var liveClicks: Int64 = 0
    public var databaseBytes: Int64 = 0
    public var writeAheadLogBytes: Int64 = 0

    public static let campaignLimit = 100
    public static let collisionLimit = 20

    public init() {}
}

public protocol StatsStore {
    /// Everything that was noted before the call is in the answer.
    func statistics(_ query: StatisticsQuery, at now: Timestamp) async throws(StoreError) -> StatisticsReport

    /// Counts anew how many people share the fingerprints of an app's clicks: takes the longer the more is stored.
    ///
    /// - Parameters:
    ///   - app: whose clicks and checks.
    ///   - isTest: the test ones.
    ///   - window: the app's window.
    ///   - now: when the count began.
    ///   - progress: told now and then how much is done, 0…1.
    /// - Returns: nil where there is no such app.
    /// - Throws: where the store cannot be read.
    func countCollisions(
        of app: AppID,
        isTest: Bool,
        window: AttributionWindow,
        at now: Timestamp,
        progress: (Double) -> Void
    ) async throws(StoreError) -> CollisionReport?
}
