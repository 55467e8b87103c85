public import Attribution

/// A query for the counts of one dimension over consecutive spans.
public struct CountQuery: Sendable {
    public let scope: Scope
    /// Empty for all campaigns together.
    public let campaign: String
    public let dimension: Dimension
    public let spans: CountedSpans
}

/// The counts of one dimension, added up by value.
public struct CountSum: Sendable {
    private var sums: [String: [String: Int64]] = [:]

    public init() {}

    public mutating func add(_ count: Int64, _ metric: String, of value: String) {
        sums[value, default: [:]][metric, default: 0] += count
    }

    public mutating func add(_ other: CountSum) {
        for (value, counts) in other.sums { sums[value, default: [:]].merge(counts, uniquingKeysWith: +) }
    }

    /// Adds the totals of another sum under one value.
    public mutating func add(_ other: CountSum, as value: String) {
        sums[value, default: [:]].merge(other.sums[""] ?? [:], uniquingKeysWith: +)
    }

    public var values: Dictionary<String, [String: Int64]>.Keys { sums.keys }

    public subscript(_ value: String, _ metric: String) -> Int64 { sums[value]?[metric] ?? 0 }

    /// Returns the events of a value that are not zero.
    public func counts(of value: String = "") -> Counts {
        var counts: Counts = [:]
        for (name, count) in sums[value] ?? [:] where count != 0 {
            if let metric = Metric(name: name) { counts[metric] = count }
        }
        return counts
    }

    public func expected(of value: String = "") -> ExpectedConversions {
        let (sum, variance) = (self[value, CountWord.conversions], self[value, CountWord.variance])
        return ExpectedConversions(millionths: sum, varianceMillionths: variance)
    }

    /// A group for each of the most clicked values, ordered by clicks and then by name.
    public var groups: [StatisticsReport.Group] {
        let clicks = Metric.clicks.name
        let ranked = sums.keys.sorted { left, right in
            let (leftClicks, rightClicks) = (self[left, clicks], self[right, clicks])
            return leftClicks == rightClicks ? left < right : leftClicks > rightClicks
        }
        return ranked.prefix(StatisticsReport.campaignLimit).map { name in
            StatisticsReport.Group(name: name, counts: counts(of: name))
        }
    }

    /// The histogram, if the values are bins of delays.
    public var timeToInstall: TimeToInstallHistogram {
        var histogram = TimeToInstallHistogram()
        for value in values {
            if let bin = Int(value) { histogram.add(self[value, CountWord.launches], inBin: bin) }
        }
        return histogram
    }

    /// The table, if the values are bins of probabilities.
    public var calibration: CalibrationTable {
        var table = CalibrationTable()
        for value in values {
            guard let index = Int(value) else { continue }
            let bin = CalibrationTable.Bin(
                launches: self[value, CountWord.launches],
                statedMillionths: self[value, CountWord.stated],
                expectedMillionths: self[value, CountWord.expected],
                right: self[value, CountWord.correct]
            )
            table.add(bin, at: index)
        }
        return table
    }
}
