public import Attribution

/// What one number of the counts stands for, in the finest span of time that it is kept in.
public struct CountKey: Hashable, Sendable {
    public let scope: Scope
    public let label: CounterLabel
    /// What is counted: the name of a ``Metric``, or a word of ``CountWord``.
    public let metric: String
    public let granularity: Granularity
    /// The span's first millisecond.
    public let period: Timestamp

    /// Whether the number makes its campaign one of those that a span knows and ranks by clicks.
    ///
    /// Such a campaign always has a number of clicks, 0 too.
    public var namesCampaign: Bool {
        label.campaign != nil && label.dimension == .total && metric != Metric.clicks.name
            && metric != CountWord.conversions && metric != CountWord.variance
    }
}

/// What is counted besides events.
public enum CountWord {
    /// Sum of the probabilities that clicks led to launches, and the variance of their number, in millionths.
    public static let conversions = "conversions"
    public static let variance = "variance"
    /// Launches in a bin of delays or of probabilities.
    public static let launches = "launches"
    /// Sums of probabilities in millionths, and how many were right; see ``CalibrationTable/Bin``.
    public static let stated = "stated"
    public static let expected = "expected"
    public static let correct = "correct"
    /// Checks or clicks of a watched group; see ``DriftCount``.
    public static let trials = "trials"
}

/// What a transaction adds to the counts: gathered in memory, written once before the commit.
public struct CountDeltas: Sendable {
    public struct ExpirySlot: Hashable, Sendable {
        public let scope: Scope
        /// Seconds since 1970.
        public let second: Int64

        public init(scope: Scope, second: Int64) {
            self.scope = scope
            self.second = second
        }
    }

    public private(set) var counts: [CountKey: Int64] = [:]
    /// Live clicks gained or lost, by when they expire.
    public private(set) var live: [ExpirySlot: Int64] = [:]

    public init() {}

    public var isEmpty: Bool { counts.isEmpty && live.isEmpty }

    public mutating func add(
        _ count: Int64,
        _ metric: String,
        to label: CounterLabel,
        of scope: Scope,
        in granularity: Granularity,
        at time: Timestamp
    ) {
        guard count != 0 else { return }
        let key = CountKey(
            scope: scope,
            label: label,
            metric: metric,
            granularity: granularity,
            period: granularity.start(of: time)
        )
        counts[key, default: 0] += count
    }

    /// Adds an event of a click or a check under each of its labels.
    public mutating func add(
        _ count: Int64,
        _ metric: Metric,
        to labels: [CounterLabel],
        of scope: Scope,
        at time: Timestamp
    ) {
        let name = metric.name
        for label in labels { add(count, name, to: label, of: scope, in: .hour, at: time) }
    }

    /// Adds how a match was recognised and how long it took from the click, for all campaigns together and for the
    /// campaign as it is counted.
    public mutating func addMatch(
        by method: AttributionMethod,
        after milliseconds: Int64,
        of scope: Scope,
        campaign: String?,
        at time: Timestamp
    ) {
        let bin = String(TimeToInstallHistogram.bin(forMilliseconds: milliseconds))
        for campaign in campaign.map({ [nil, $0] }) ?? [nil] {
            let label = CounterLabel(campaign: campaign, .method, method.rawValue)
            add(1, .matches, to: [label], of: scope, at: time)
            let delay = CounterLabel(campaign: campaign, .timeToInstall, bin)
            add(1, CountWord.launches, to: delay, of: scope, in: .day, at: time)
        }
    }

    /// Adds expected conversions; no campaign: all of them together, also clicks without a campaign key.
    public mutating func addExpected(
        _ sum: ExpectedConversions,
        of scope: Scope,
        campaign: String?,
        at time: Timestamp
    ) {
        let label = CounterLabel(campaign: campaign, .total)
        add(sum.millionths, CountWord.conversions, to: label, of: scope, in: .hour, at: time)
        add(sum.varianceMillionths, CountWord.variance, to: label, of: scope, in: .hour, at: time)
    }

    public mutating func addCalibration(
        _ bin: CalibrationTable.Bin,
        at index: Int,
        of scope: Scope,
        on day: Timestamp
    ) {
        let label = CounterLabel(.calibration, String(index))
        for (count, word) in [
            (bin.launches, CountWord.launches), (bin.statedMillionths, CountWord.stated),
            (bin.expectedMillionths, CountWord.expected), (bin.right, CountWord.correct),
        ] { add(count, word, to: label, of: scope, in: .day, at: day) }
    }

    /// Adds to a watched group, under the name that its span admits.
    public mutating func addDrift(
        _ count: DriftCount,
        to side: DriftSide,
        _ name: String,
        of scope: Scope,
        at time: Timestamp
    ) {
        let label = CounterLabel(side.dimension, name)
        add(count.trials, CountWord.trials, to: label, of: scope, in: .quarter, at: time)
        add(count.matches, Metric.matches.name, to: label, of: scope, in: .quarter, at: time)
    }

    public mutating func addLive(_ change: Int64, of scope: Scope, expiringAt time: Timestamp) {
        live[ExpirySlot(scope: scope, second: LiveClicks.second(of: time)), default: 0] += change
    }

    public mutating func removeAll() {
        counts.removeAll(keepingCapacity: true)
        live.removeAll(keepingCapacity: true)
    }
}
