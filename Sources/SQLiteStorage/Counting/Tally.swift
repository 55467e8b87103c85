internal import Attribution
internal import SQLite

/// Counts by metric while a report is put together.
struct Tally {
    private var metrics = MetricCounts()

    init() {}

    init(sumOf counts: [Counts]) {
        for counts in counts {
            for (metric, count) in counts { metrics[metric] += count }
        }
    }

    subscript(_ metric: Metric) -> Int64 { metrics[metric] }

    /// Adds the ten columns of `counters` that begin with this one.
    mutating func add(_ row: Statement, from column: Int32) {
        for metric in Metric.allCases { metrics[metric] += row.integer(column + Int32(metric.column)) }
    }

    /// Those that are not zero.
    var counts: Counts {
        var counts: Counts = [:]
        for metric in Metric.allCases where metrics[metric] != 0 { counts[metric] = metrics[metric] }
        return counts
    }

    static func + (left: Tally, right: Tally) -> Tally {
        var sum = left
        for metric in Metric.allCases { sum.metrics[metric] += right.metrics[metric] }
        return sum
    }

    /// The most clicked first, equal ones by name.
    static func sorted(_ groups: [String: Tally]) -> [StatisticsReport.Group] {
        groups
            .sorted { left, right in
                let (leftClicks, rightClicks) = (left.value.metrics[.clicks], right.value.metrics[.clicks])
                return leftClicks == rightClicks ? left.key < right.key : leftClicks > rightClicks
            }
            .prefix(StatisticsReport.campaignLimit)
            .map { StatisticsReport.Group(name: $0.key, counts: $0.value.counts) }
    }
}
