internal import Attribution
internal import SQLite
internal import Storage

/// Counts of one label in one hour, by metric.
struct MetricCounts: Sendable {
    private var counts = InlineArray<16, Int64>(repeating: 0)

    subscript(_ metric: Metric) -> Int64 {
        get { counts[metric.column] }
        set { counts[metric.column] = newValue }
    }
}

extension Metric {
    /// The metric's place among the columns of `counters`.
    var column: Int {
        switch self {
        case .clicks: 0
        case .duplicates: 1
        case .robots: 2
        case .checks: 3
        case .matches: 4
        case .replays: 5
        case .noMatchNoClick: 6
        case .noMatchExpired: 7
        case .noMatchAlreadyClaimed: 8
        case .noMatchRobotClick: 9
        case .noMatchBelowThreshold: 10
        case .noMatchAmbiguous: 11
        case .noMatchOtherApp: 12
        case .noMatchTokenInvalid: 13
        case .noMatchTokenUsed: 14
        case .noMatchFingerprintDisabled: 15
        }
    }
}

/// What a transaction has to add to the counters: gathered in memory, written once before the commit.
struct CounterBatch: Sendable {
    struct Slot: Hashable, Sendable {
        let scope: Scope
        /// The hour's first millisecond.
        let hour: Timestamp
        let label: CounterLabel
    }
    struct DelaySlot: Hashable, Sendable {
        let scope: Scope
        let day: Timestamp
        /// Nil: all campaigns together.
        let campaign: String?
        let bin: Int
    }
    struct ExpirySlot: Hashable, Sendable {
        let scope: Scope
        /// Seconds since 1970.
        let second: Int64
    }

    private(set) var counts: [Slot: MetricCounts] = [:]
    private(set) var delays: [DelaySlot: Int64] = [:]
    /// Live clicks gained or lost, by when they expire.
    private(set) var live: [ExpirySlot: Int64] = [:]
    /// Expected conversions and calibration.
    var probabilities = ProbabilityBatch()

    var isEmpty: Bool { counts.isEmpty && delays.isEmpty && live.isEmpty && probabilities.isEmpty }

    mutating func add(
        _ count: Int64,
        _ metric: Metric,
        to labels: [CounterLabel],
        of scope: Scope,
        in hour: Timestamp
    ) {
        for label in labels {
            counts[Slot(scope: scope, hour: hour, label: label), default: MetricCounts()][metric] += count
        }
    }

    /// An event of a click, under the names that its day admits.
    ///
    /// - Returns: the name that the click's campaign is counted under.
    @discardableResult
    mutating func add(
        _ count: Int64,
        _ metric: Metric,
        of traits: CountedTraits,
        _ scope: Scope,
        at moment: Timestamp,
        admittedBy register: inout AdmittedNames,
        on connection: SQLiteConnection
    ) throws(SQLiteError) -> String? {
        let day = Granularity.day.start(of: moment)
        var campaign: String?
        let labels = try traits.labels { (dimension, value) throws(SQLiteError) in
            let admitted = try register.admit(value, dimension, of: scope, on: day, connection: connection)
            if dimension == .campaign { campaign = admitted }
            return admitted
        }
        add(count, metric, to: labels, of: scope, in: Granularity.hour.start(of: moment))
        return campaign
    }

    /// How a match was recognised; the campaign as it is counted.
    mutating func addMatch(
        by method: AttributionMethod,
        of scope: Scope,
        campaign: String?,
        at moment: Timestamp
    ) {
        var labels = [CounterLabel(.method, method.rawValue)]
        if let campaign { labels.append(CounterLabel(campaign: campaign, .method, method.rawValue)) }
        add(1, .matches, to: labels, of: scope, in: Granularity.hour.start(of: moment))
    }

    /// The delay of a match, under the name that its campaign is counted under.
    mutating func addDelay(_ milliseconds: Int64, of scope: Scope, campaign: String?, on day: Timestamp) {
        let bin = TimeToInstallHistogram.bin(forMilliseconds: milliseconds)
        delays[DelaySlot(scope: scope, day: day, campaign: nil, bin: bin), default: 0] += 1
        guard let campaign else { return }
        delays[DelaySlot(scope: scope, day: day, campaign: campaign, bin: bin), default: 0] += 1
    }

    mutating func addLive(_ change: Int64, of scope: Scope, expiringAt moment: Timestamp) {
        let second = LiveClicks.second(of: moment)
        live[ExpirySlot(scope: scope, second: second), default: 0] += change
    }

    mutating func removeAll() {
        counts.removeAll(keepingCapacity: true)
        delays.removeAll(keepingCapacity: true)
        live.removeAll(keepingCapacity: true)
        probabilities = ProbabilityBatch()
    }
}
