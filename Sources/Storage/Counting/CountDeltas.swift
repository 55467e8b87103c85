public import Attribution

/// The key of a count; in ``CountDeltas``, the key's span is the shortest one by which its metric is counted.
public struct CountKey: Hashable, Sendable {
    public let scope: Scope
    public let label: CounterLabel
    /// The name of a ``Metric``, or a word of ``CountWord``.
    public let metric: String
    public let granularity: Granularity
    /// The span's first millisecond.
    public let period: Timestamp

    public init(
        scope: Scope,
        label: CounterLabel,
        metric: String,
        granularity: Granularity,
        period: Timestamp
    ) {
        (self.scope, self.label, self.metric) = (scope, label, metric)
        (self.granularity, self.period) = (granularity, period)
    }

    /// Whether the campaign or link must have a count of clicks in the span, even if it is 0.
    ///
    /// Campaigns and links are ranked by their counts of clicks.
    public var namesCampaign: Bool {
        label.campaign != nil && label.dimension.naming != nil && metric != Metric.clicks.name
            && metric != CountWord.conversions && metric != CountWord.variance
    }
}

/// A row of `counts`.
public struct CountRecord: Record, Equatable, Sendable {
    public let scope: Scope
    /// Empty for all campaigns together; see ``CounterLabel/campaign``.
    public let campaign: String
    public let dimension: Dimension
    public let granularity: Granularity
    /// The span's first millisecond.
    public let period: Timestamp
    public let value: String
    public let metric: String
    public let count: Int64

    /// Creates the row of the key's span.
    public init(_ key: CountKey, _ count: Int64) {
        scope = key.scope
        campaign = key.label.campaign ?? ""
        dimension = key.label.dimension
        granularity = key.granularity
        period = key.period
        value = key.label.value
        metric = key.metric
        self.count = count
    }

    public static let columns: Columns = [
        "scope", "campaign", "dimension", "span", "period", "value", "metric", "count",
    ]

    public func write(to row: inout some RowWriter) {
        row.put("scope", scope.number)
        row.put("campaign", campaign)
        row.put("dimension", dimension)
        row.put("span", granularity)
        row.put("period", period)
        row.put("value", value)
        row.put("metric", metric)
        row.put("count", count)
    }

    public init?(_ row: inout some RowReader) {
        scope = Scope(number: row.get("scope"))
        campaign = row.get("campaign")
        let dimension: Dimension? = row.get("dimension")
        let granularity: Granularity? = row.get("span")
        period = row.get("period")
        value = row.get("value")
        metric = row.get("metric")
        count = row.get("count")
        guard let dimension, let granularity else { return nil }
        (self.dimension, self.granularity) = (dimension, granularity)
    }
}

/// The names of counts that are not events.
public enum CountWord {
    /// Sum of the probabilities that clicks led to launches, and the variance of the number of such launches; both in
    /// millionths.
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

/// The changes of counts in a transaction.
public struct CountDeltas: Equatable, Sendable {
    public struct ExpirySlot: Hashable, Sendable {
        public let scope: Scope
        /// Seconds since 1970 in ``live``, hours since 1970 in ``liveByHour``.
        public let time: Int64

        public init(scope: Scope, time: Int64) { (self.scope, self.time) = (scope, time) }
    }

    public private(set) var counts: [CountKey: Int64] = [:]
    /// Changes in the number of live clicks, by the second in which they expire.
    public private(set) var live: [ExpirySlot: Int64] = [:]
    /// The same changes, by the hour.
    public var liveByHour: [ExpirySlot: Int64] {
        live.reduce(into: [:]) { hours, change in
            let hour = LiveClicks.hour(ofSecond: change.key.time)
            hours[ExpirySlot(scope: change.key.scope, time: hour), default: 0] += change.value
        }
    }

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
        let period = granularity.start(of: time)
        let key = CountKey(
            scope: scope,
            label: label,
            metric: metric,
            granularity: granularity,
            period: period
        )
        add(count, to: key)
    }

    /// Adds an event of a click or a check under each of its labels, and under the hour of the day.
    public mutating func add(
        _ count: Int64,
        _ metric: Metric,
        to labels: [CounterLabel],
        of scope: Scope,
        at time: Timestamp
    ) {
        let name = metric.name
        for label in labels {
            add(count, name, to: label, of: scope, in: .hour, at: time)
            guard label == CounterLabel(.total) else { continue }
            let hour = CounterLabel(.hourOfDay, Self.hourOfDay(at: time))
            add(count, name, to: hour, of: scope, in: .day, at: time)
        }
    }

    /// Returns a time's hour of the day in UTC, `00` to `23`.
    public static func hourOfDay(at time: Timestamp) -> String {
        let hour =
            Granularity.hour.start(of: time).milliseconds(since: Granularity.day.start(of: time)) / 3_600_000
        return hour < 10 ? "0\(hour)" : "\(hour)"
    }

    /// Adds expected conversions; a nil `campaign` means all clicks, also those without a campaign key.
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

    /// Adds to the count of a watched group under its admitted name.
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
        addLive(change, in: ExpirySlot(scope: scope, time: LiveClicks.second(of: time)))
    }

    /// Adds changes of a count.
    public mutating func add(_ count: Int64, to key: CountKey) {
        guard count != 0 else { return }
        counts[key, default: 0].addClamped(count)
    }

    /// Adds changes in the number of live clicks that expire in a second.
    public mutating func addLive(_ change: Int64, in slot: ExpirySlot) { live[slot, default: 0] += change }

    public mutating func merge(_ other: CountDeltas) {
        counts.merge(other.counts, uniquingKeysWith: Int64.clampedSum)
        live.merge(other.live, uniquingKeysWith: +)
    }

    public mutating func removeAll() {
        counts.removeAll(keepingCapacity: true)
        live.removeAll(keepingCapacity: true)
    }
}

/// Counts of all names, before the names with separate counts are chosen.
extension CountDeltas {
    /// The rows to add to the stored counts: one for each count and each span in which it is stored.
    ///
    /// Each campaign and link has a row of clicks, which may be 0, because names are read from the rows of
    /// clicks, and ranked by them.
    public var rows: [CountRecord] {
        var rows: [CountKey: Int64] = [:]
        for (key, count) in counts {
            for granularity in key.granularity.kept {
                rows[key.row(key.label, key.metric, in: granularity), default: 0].addClamped(count)
                guard key.namesCampaign else { continue }
                let dimension = key.label.dimension.naming ?? key.label.dimension
                let label = CounterLabel(campaign: key.label.campaign, dimension)
                rows[key.row(label, Metric.clicks.name, in: granularity), default: 0] += 0
            }
        }
        return rows.map { CountRecord($0, $1) }
    }

    /// Returns the same changes under the names that have separate counts; changes under all other names are added up.
    ///
    /// - Parameters:
    ///   - names: the admitted names; new names for which there is room are added.
    ///   - read: returns the names of a dimension that already have counts in a scope's span; `period` is the span's
    ///     first millisecond.
    /// - Returns: the changes to add to the stored counts.
    /// - Throws: the failure of `read`.
    public func admitted<Failure: Error>(
        by names: inout AdmittedNames,
        read: (Dimension, Scope, _ period: Timestamp) throws(Failure) -> [String]
    ) throws(Failure) -> CountDeltas {
        var admitted = CountDeltas()
        admitted.live = live
        names.forgetOldSpans()
        // The counts come in the order of time, so that the first names of a span are admitted.
        for (key, count) in counts.sorted(by: { $0.key.period < $1.key.period }) {
            let label = try key.label.admitted { dimension, name throws(Failure) in
                try names.admit(name, dimension, of: key.scope, at: key.period) { period throws(Failure) in
                    try read(dimension, key.scope, period)
                }
            }
            admitted.add(count, to: key.labelled(label))
        }
        return admitted
    }
}

extension CountKey {
    /// Returns the key of a row in a longer span, or in the same one.
    fileprivate func row(_ label: CounterLabel, _ metric: String, in granularity: Granularity) -> CountKey {
        let start = granularity.start(of: period)
        return CountKey(scope: scope, label: label, metric: metric, granularity: granularity, period: start)
    }

    fileprivate func labelled(_ label: CounterLabel) -> CountKey {
        CountKey(scope: scope, label: label, metric: metric, granularity: granularity, period: period)
    }
}

extension CounterLabel {
    /// Returns the label with the names that `admit` returns, as ``CountedTraits/labels(admit:)`` does.
    fileprivate func admitted<Failure: Error>(_ admit: (Dimension, String) throws(Failure) -> String)
        throws(Failure) -> CounterLabel
    {
        // Within a campaign, only the names of events are free texts. The tokens of sources are a fixed set everywhere.
        if let campaign {
            let name = dimension.naming == .link ? Dimension.link : .campaign
            return CounterLabel(campaign: try admit(name, campaign), dimension, try admittedValue(admit))
        }
        if dimension.hasEvents { return CounterLabel(dimension, try admittedValue(admit)) }
        guard dimension != .source || SourceToken(rawValue: value) == nil else { return self }
        return CounterLabel(dimension, try admit(dimension, value))
    }

    /// Returns the value with the admitted name of its event; a value without an event is unchanged.
    private func admittedValue<Failure: Error>(_ admit: (Dimension, String) throws(Failure) -> String)
        throws(Failure) -> String
    {
        guard dimension.hasEvents else { return value }
        // In a value with a source or a cohort, a word of a fixed set comes before the event's name.
        let prefix = dimension == .eventSource || dimension == .cohort ? value.prefix { $0 != " " } + " " : ""
        let rest = value.dropFirst(prefix.count)
        let name = String(rest.prefix { $0 != " " })
        return "\(prefix)\(try admit(.event, name))\(rest.dropFirst(name.count))"
    }
}

extension Dimension {
    fileprivate var hasEvents: Bool {
        self == .event || self == .eventSource || self == .eventLink || self == .cohort
    }
}
