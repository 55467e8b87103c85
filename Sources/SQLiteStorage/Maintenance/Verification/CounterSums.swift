internal import Attribution
internal import SQLite

/// Whether counters that are kept for several spans and by several things agree with each other.
///
/// Each count stands in an hour, in a day and in the whole: where two of the three sums agree, the third is wrong.
/// This holds for all times, and for what leaves no fact behind.
struct CounterSums {
    private let connection: Connection
    private let names: ScopeNames

    init(_ connection: Connection) throws(SQLiteError) {
        self.connection = connection
        names = try ScopeNames(connection)
    }

    /// The sums of one label, by span.
    private struct Label {
        let scope, campaign, dimension, value: RowKeyPart
        var sums: [Granularity: [Int64]] = [:]

        func isSame(_ other: Label) -> Bool {
            (scope, campaign, dimension, value) == (other.scope, other.campaign, other.dimension, other.value)
        }

        var key: [RowKeyPart] { [scope, campaign, dimension, value] }
    }

    /// A span whose count is the odd one out.
    struct Difference {
        /// `scope, campaign, dimension, value`.
        let key: [RowKeyPart]
        let metric: Metric
        /// Nil where no two of the three agree, or hours are wrong, of which it is not known which.
        let wrong: Granularity?
        let text: String
    }

    func check() throws(SQLiteError) -> VerificationReport.Check {
        var check = VerificationReport.Check(
            "counter_sums",
            "hours add up to days, days to the whole, platforms and sources to totals, outcomes to checks, for all times"
        )
        try forEachDifference { difference in
            check.add(difference.text, difference.wrong == nil ? Advice.undecidable : Advice.repair)
        }
        // What is wrong in one label would show again in what it is part of.
        if check.findings.isEmpty {
            for text in try CounterParts(connection, names).differences() {
                check.add(text, Advice.undecidable)
            }
        }
        return check
    }

    func forEachDifference(_ body: (Difference) throws(SQLiteError) -> Void) throws(SQLiteError) {
        let statement = try connection.prepare(Self.sums)
        defer { statement.reset() }
        var current: Label?
        while try statement.step() {
            var label = Label(
                scope: .integer(statement.integer(0)),
                campaign: .text(statement.bytes(1)),
                dimension: .text(statement.bytes(2)),
                value: .text(statement.bytes(3))
            )
            if let current, current.isSame(label) {
                label = current
            } else if let current {
                try compare(current, body)
            }
            guard let granularity = Granularity(rawValue: statement.text(4)) else {
                throw .damaged("adding up counters")
            }
            label.sums[granularity] = Metric.allCases.map { statement.integer(5 + Int32($0.column)) }
            current = label
        }
        if let current { try compare(current, body) }
    }

    private func compare(_ label: Label, _ body: (Difference) throws(SQLiteError) -> Void) throws(SQLiteError)
    {
        let none = Metric.allCases.map { _ in Int64(0) }
        let (all, days, hours) = (
            label.sums[.all] ?? none, label.sums[.day] ?? none, label.sums[.hour] ?? none
        )
        for (index, metric) in Metric.allCases.enumerated() {
            let (all, days, hours) = (all[index], days[index], hours[index])
            guard all != days || days != hours else { continue }
            let wrong: Granularity? = days == hours ? .all : all == hours ? .day : nil
            let name = names.label(
                scope: label.scope,
                campaign: label.campaign,
                dimension: label.dimension,
                value: label.value
            )
            let text = "\(name): \(metric.rawValue) \(all) in all, \(days) in the days, \(hours) in the hours"
            try body(Difference(key: label.key, metric: metric, wrong: wrong, text: text))
        }
    }

    private static let sums: StaticString = """
        SELECT scope, campaign, dimension, value, granularity, sum(clicks), sum(duplicates), sum(robots), sum(checks),
            sum(matches), sum(replays), sum(no_match_no_click), sum(no_match_expired), sum(no_match_already_claimed),
            sum(no_match_robot_click)
        FROM counters GROUP BY scope, campaign, dimension, value, granularity
        ORDER BY scope, campaign, dimension, value
        """
}
