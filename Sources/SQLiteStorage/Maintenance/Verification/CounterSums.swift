internal import Attribution
internal import SQLite
internal import Storage

/// Whether counters that are kept for several spans and by several things agree with each other.
///
/// Each count stands in an hour, in a day and in the whole: where two of the three sums agree, the third is wrong.
/// This holds for all times, and for what leaves no fact behind, but for what was thinned out: of that, what is left
/// is compared, and little is proved.
struct CounterSums {
    private let connection: SQLiteConnection
    private let names: ScopeNames
    private let thinned: ThinnedSpans

    init(_ connection: SQLiteConnection, _ thinned: ThinnedSpans) throws(SQLiteError) {
        self.connection = connection
        self.thinned = thinned
        names = try ScopeNames(connection)
    }

    /// A span whose count is the odd one out.
    struct Difference {
        /// `scope, campaign, dimension, value`.
        let key: [RowKeyPart]
        let metric: Metric
        /// Nil where no two of the three agree, or hours are wrong, of which it is not known which.
        var wrong: Granularity?
        /// Hours and days before it are not to be compared.
        let start: Timestamp
        let text: String
    }

    func check() throws(SQLiteError) -> VerificationReport.Check {
        var check = VerificationReport.Check("counter_sums", scope)
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

    private var scope: String {
        "hours add up to days, days to the whole, platforms and sources to totals, outcomes to checks, for all times"
            + (thinned.isAny
                ? "; by names from outside, hours and days from \(thinned.end.iso8601) on, earlier ones being thinned"
                    + " out, and days and the whole in sums that thinning keeps" : "")
    }

    func forEachDifference(_ body: (Difference) throws(SQLiteError) -> Void) throws(SQLiteError) {
        let statement = try connection.prepare(Self.sums)
        defer { statement.reset() }
        try statement.bind(thinned.end.milliseconds)
        var current: LabelSums?
        var folded = FoldedSums()
        while try statement.step() {
            let key: [RowKeyPart] = [
                .integer(statement.integer(0)), .text(statement.bytes(1)), .text(statement.bytes(2)),
                .text(statement.bytes(3)),
            ]
            if let current, current.key != key { try compare(current, &folded, body) }
            var sums = current.flatMap { $0.key == key ? $0 : nil } ?? label(key)
            guard let granularity = Granularity(rawValue: statement.text(4)) else {
                throw .damaged("adding up counters")
            }
            sums.add(statement, granularity, isEarly: statement.integer(5) != 0)
            current = sums
        }
        if let current { try compare(current, &folded, body) }
        for difference in folded.differences(describe) { try body(difference) }
    }

    private func label(_ key: [RowKeyPart]) -> LabelSums {
        let isKept = !thinned.isAny || thinned.isKept(campaign: key[1], dimension: key[2])
        return LabelSums(key: key, start: isKept ? Timestamp(milliseconds: .min) : thinned.end)
    }

    private func compare(
        _ label: LabelSums,
        _ folded: inout FoldedSums,
        _ body: (Difference) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        let key = label.key
        guard thinned.isApart(scope: key[0], campaign: key[1], dimension: key[2], value: key[3]) else {
            folded.add(
                label,
                to: thinned.overflow(scope: key[0], campaign: key[1], dimension: key[2], value: key[3])
            )
            return
        }
        for metric in Metric.allCases {
            let (late, days, hours) = (label.late(metric), label.days[metric], label.hours[metric])
            guard late != days || days != hours else { continue }
            // Where earlier days are without hours, the whole and those days cannot be told apart.
            let odd: Granularity? = label.isThinned ? nil : .all
            let wrong = days == hours ? odd : late == hours ? .day : nil
            try body(
                Difference(
                    key: key,
                    metric: metric,
                    wrong: wrong,
                    start: label.start,
                    text: describe(label, metric, isFolded: false)
                )
            )
        }
    }

    private func describe(_ label: LabelSums, _ metric: Metric, isFolded: Bool) -> String {
        let key = label.key
        var text = names.label(scope: key[0], campaign: key[1], dimension: key[2], value: key[3])
        if isFolded { text += " and all that may be added to it" }
        let (days, hours) = (label.days[metric], label.hours[metric])
        text += ": \(metric.rawValue) \(label.all[metric]) in all, "
        guard label.isThinned else { return text + "\(days) in the days, \(hours) in the hours" }
        return text + "\(label.earlyDays[metric] + days) in the days; since \(label.start.iso8601), "
            + "\(days) in the days, \(hours) in the hours"
    }

    private static let sums: StaticString = """
        SELECT scope, campaign, dimension, value, granularity, period < ?1 AS early, sum(clicks), sum(duplicates),
            sum(robots), sum(checks), sum(matches), sum(replays), sum(no_match_no_click), sum(no_match_expired),
            sum(no_match_already_claimed), sum(no_match_robot_click),
            sum(no_match_below_threshold), sum(no_match_ambiguous), sum(no_match_other_app),
            sum(no_match_token_invalid), sum(no_match_token_used), sum(no_match_fingerprint_disabled)
        FROM counters GROUP BY scope, campaign, dimension, value, granularity, early
        ORDER BY scope, campaign, dimension, value
        """
}
