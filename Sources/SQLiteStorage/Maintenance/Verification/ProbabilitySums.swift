internal import Attribution
internal import SQLite
internal import Storage

/// Whether sums of probabilities that are kept for several spans agree with each other, and whether as many records of
/// checks are there as are counted.
///
/// Days are the finer record of the whole, and hours of days: what they add up to is right.
struct ProbabilitySums {
    private let connection: SQLiteConnection
    private let names: ScopeNames

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        self.connection = connection
        names = try ScopeNames(connection)
    }

    func check() throws(SQLiteError) -> VerificationReport.Check {
        var check = VerificationReport.Check(
            "probability_sums",
            "expected conversions and calibration of days add up to the whole, and hours to days, for all times;"
                + " as many checks are recorded as are counted"
        )
        for line in try differences() { check.add(line, Advice.repair) }
        return check
    }

    private func differences() throws(SQLiteError) -> [String] {
        var lines: [String] = []
        func add(_ what: String, _ sql: StaticString) throws(SQLiteError) {
            try connection.prepare(sql).forEach { row in
                lines.append(
                    "\(what) of \(names.scope(.integer(row.integer(0)))): \(row.integer(1)) and \(row.integer(2))"
                )
            }
        }
        try add("expected conversions in all and by the day, in millionths", Self.days)
        try add("expected conversions by the day and by the hour, in millionths", Self.hours)
        try add("launches of the calibration table in all and by the day", Self.bins)
        let kept = try connection.prepare(CheckSQL.kept).first { $0.integer(0) } ?? 0
        let there = try connection.integer("SELECT count(*) FROM checks")
        if kept != there { lines.append("records of checks: \(kept) counted, \(there) there") }
        return lines
    }

    /// Makes right what ``check()`` finds.
    ///
    /// - Returns: what was found.
    func repair() throws(SQLiteError) -> [String] {
        let lines = try differences()
        guard !lines.isEmpty else { return [] }
        for sql in [
            Self.removeDays, Self.addDays, Self.removeWhole, Self.addWhole, Self.removeBins, Self.addBins,
        ] {
            try connection.statement(sql).run()
        }
        try connection.statement(Self.countRecords).run()
        return lines
    }

    // Names of campaigns may have been added up within a span, so that their sum is compared; all of them together have
    // the name ''.
    private static let days: StaticString = """
        SELECT scope, sum(iif(granularity = 'all', conversions + variance, 0)) AS whole,
            sum(iif(granularity = 'day', conversions + variance, 0)) AS days
        FROM expected_conversions WHERE granularity <> 'hour'
        GROUP BY scope, campaign = '' HAVING whole <> days
        """
    private static let hours: StaticString = """
        SELECT scope, sum(iif(granularity = 'day', conversions + variance, 0)) AS days,
            sum(iif(granularity = 'hour', conversions + variance, 0)) AS hours
        FROM expected_conversions WHERE campaign = ''
        GROUP BY scope HAVING days <> hours
        """
    private static let bins: StaticString = """
        SELECT scope, sum(iif(granularity = 'all', launches + stated + expected + correct, 0)) AS whole,
            sum(iif(granularity = 'day', launches + stated + expected + correct, 0)) AS days
        FROM calibration GROUP BY scope, bin HAVING whole <> days
        """
    private static let removeDays: StaticString = """
        DELETE FROM expected_conversions WHERE campaign = '' AND granularity = 'day'
        """
    private static let addDays: StaticString = """
        INSERT INTO expected_conversions
        SELECT scope, '', 'day', period - (period % 86400000 + 86400000) % 86400000 AS day, sum(conversions),
            sum(variance)
        FROM expected_conversions WHERE campaign = '' AND granularity = 'hour' GROUP BY scope, day
        """
    private static let removeWhole: StaticString =
        "DELETE FROM expected_conversions WHERE granularity = 'all'"
    private static let addWhole: StaticString = """
        INSERT INTO expected_conversions
        SELECT scope, campaign, 'all', 0, sum(conversions), sum(variance)
        FROM expected_conversions WHERE granularity = 'day' GROUP BY scope, campaign
        """
    private static let removeBins: StaticString = "DELETE FROM calibration WHERE granularity = 'all'"
    private static let addBins: StaticString = """
        INSERT INTO calibration
        SELECT scope, 'all', 0, bin, sum(launches), sum(stated), sum(expected), sum(correct)
        FROM calibration WHERE granularity = 'day' GROUP BY scope, bin
        """
    private static let countRecords: StaticString = """
        INSERT INTO progress VALUES ('kept_checks', (SELECT count(*) FROM checks))
        ON CONFLICT DO UPDATE SET value = excluded.value
        """
}
