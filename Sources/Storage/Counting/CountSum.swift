public import Attribution

/// A query for the counts of one dimension in the traffic of several apps, over spans of several lengths.
public struct CountQuery: Sendable {
    public let scopes: [Scope]
    /// The spellings of one campaign, or a link; an empty text stands for all campaigns together.
    public var campaigns = [""]
    public let dimension: Dimension
    public let spans: [CountedSpans]

    /// Each scope with each of the spans.
    public var parts: [(scope: Scope, spans: CountedSpans)] {
        scopes.flatMap { scope in spans.map { (scope, $0) } }
    }
}

/// The counts of one dimension, added up by value.
public struct CountSum: Sendable {
    private struct Row {
        let value: String
        /// At most a dozen metrics, so a linear search costs less than hashing.
        var counts: [(metric: String, count: Int64)] = []

        mutating func add(_ count: Int64, _ metric: String) {
            if let index = counts.firstIndex(where: { $0.metric == metric }) {
                counts[index].count.addClamped(count)
            } else {
                counts.append((metric, count))
            }
        }
    }

    private var rows: [Row] = []
    private var places: [String: Int] = [:]
    /// The index of the value that was added last.
    private var last = 0

    public init() {}

    public mutating func add(_ count: Int64, _ metric: String, of value: String) {
        last = place(of: value)
        rows[last].add(count, metric)
    }

    /// Returns the index of a value; consecutive spans have the same values in the same order, so two indices are tried
    /// first.
    private mutating func place(of value: String) -> Int {
        if last < rows.count, rows[last].value == value { return last }
        if last + 1 < rows.count, rows[last + 1].value == value { return last + 1 }
        if let place = places[value] { return place }
        places[value] = rows.count
        rows.append(Row(value: value))
        return rows.count - 1
    }

    public mutating func add(_ other: CountSum) {
        for row in other.rows { for (metric, count) in row.counts { add(count, metric, of: row.value) } }
    }

    /// Adds the totals of another sum under one value, including its counts of ``CountWord``.
    public mutating func add(_ other: CountSum, as value: String) {
        for (metric, count) in other.counts(at: "") { add(count, metric, of: value) }
    }

    public var values: [String] { rows.map(\.value) }

    public subscript(_ value: String, _ metric: String) -> Int64 {
        counts(at: value).first { $0.metric == metric }?.count ?? 0
    }

    func counts(at value: String) -> [(metric: String, count: Int64)] {
        places[value].map { rows[$0].counts } ?? []
    }

    /// Returns the counts of a value by metric, without zeros and without counts of ``CountWord``.
    public func counts(of value: String = "") -> Counts {
        var counts: Counts = [:]
        for (name, count) in self.counts(at: value) where count != 0 {
            if let metric = Metric(name: name) { counts[metric] = count }
        }
        return counts
    }

    public func expected(of value: String = "") -> ExpectedConversions {
        let (sum, variance) = (self[value, CountWord.conversions], self[value, CountWord.variance])
        return ExpectedConversions(millionths: sum, varianceMillionths: variance)
    }

    /// Returns a group for each of the most clicked values, ordered by clicks and then by name.
    public func groups(atMost limit: Int) -> [StatisticsReport.Group] {
        let clicks = Metric.clicks.name
        let ranked = values.map { ($0, self[$0, clicks]) }.sorted { ($0.1, $1.0) > ($1.1, $0.0) }
        return ranked.prefix(limit).map { name, _ in
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
