internal import Attribution
internal import SQLite
internal import Storage

/// Adds to rows that are there, which all but the first of a span are.
///
/// An insert that turns into an update makes SQLite check the row's values first, by a table of its own for
/// `granularity`, and write all columns. What nearly all traffic brings has statements that touch no other column,
/// and no index over one.
enum CounterIncrement {
    /// Nothing but clicks.
    case clicks
    /// Nothing but matches, and the checks that they were.
    case matches

    /// Nil where there is more to add.
    init?(_ counts: MetricCounts) {
        if counts.isZero(except: .clicks, .clicks) {
            self = .clicks
        } else if counts.isZero(except: .matches, .checks) {
            self = .matches
        } else {
            return nil
        }
    }

    /// The statement, with all bound that the spans of a label share.
    func statement(for counts: MetricCounts, of slot: CounterBatch.Slot, on connection: SQLiteConnection)
        throws(SQLiteError) -> Statement
    {
        let (scope, label) = (slot.scope.number, slot.label)
        let (campaign, dimension) = (label.campaign ?? "", label.dimension.rawValue)
        let (granularity, period) = (Granularity.all.rawValue, 0 as Int64)
        switch self {
        case .clicks:
            let statement = try connection.statement(Self.addClicks)
            let clicks = counts[.clicks]
            try statement.bind(scope, campaign, dimension, granularity, period, label.value, clicks)
            return statement
        case .matches:
            let statement = try connection.statement(Self.addMatches)
            let (checks, matches) = (counts[.checks], counts[.matches])
            try statement.bind(scope, campaign, dimension, granularity, period, label.value, checks, matches)
            return statement
        }
    }

    /// Runs the statement for one span.
    ///
    /// - Returns: false when there is no such row yet.
    static func run(
        _ statement: Statement,
        _ granularity: Granularity,
        _ period: Timestamp,
        on connection: SQLiteConnection
    ) throws(SQLiteError) -> Bool {
        try statement.bindText(granularity.rawValue, at: granularityParameter)
        try statement.bindInteger(period.milliseconds, at: periodParameter)
        while try statement.step() {}
        statement.reset()
        return connection.changeCount > 0
    }

    private static let granularityParameter: Int32 = 4
    private static let periodParameter: Int32 = 5

    static let addClicks: StaticString = """
        UPDATE counters SET clicks = clicks + ?7
        WHERE scope = ?1 AND campaign = ?2 AND dimension = ?3 AND granularity = ?4 AND period = ?5 AND value = ?6
        """
    static let addMatches: StaticString = """
        UPDATE counters SET checks = checks + ?7, matches = matches + ?8
        WHERE scope = ?1 AND campaign = ?2 AND dimension = ?3 AND granularity = ?4 AND period = ?5 AND value = ?6
        """
}

extension MetricCounts {
    /// Whether all but these two are zero.
    fileprivate func isZero(except one: Metric, _ other: Metric) -> Bool {
        Metric.allCases.allSatisfy { $0 == one || $0 == other || self[$0] == 0 }
    }
}
