internal import Attribution
internal import JSON
internal import Storage

/// How a backtest went, as tables for people and as JSON for programs.
struct BacktestOutcome {
    private let backtest: Backtest
    private let plans: BacktestPlans
    private let began: Timestamp
    private let gaps: BacktestGaps?

    init(_ backtest: Backtest, _ plans: BacktestPlans, began: Timestamp, _ gaps: BacktestGaps?) {
        self.backtest = backtest
        self.plans = plans
        self.began = began
        self.gaps = gaps
    }

    /// The recorded responses, if they are known, and the played plans.
    private var columns: [BacktestColumn] {
        var columns: [BacktestColumn] = []
        if let recorded = backtest.recorded { columns.append(BacktestColumn("recorded", nil, recorded)) }
        columns.append(BacktestColumn("current", plans.current, backtest.current.score))
        if let plan = plans.proposed, let proposed = backtest.proposed {
            columns.append(BacktestColumn("proposed", plan, proposed.score))
        }
        return columns
    }

    // MARK: - Text

    var text: String {
        var parts = [
            "Clicks: \(backtest.clicks), launches: \(backtest.launches), from \(began.iso8601) to"
                + " \(backtest.latest.iso8601)\(warmUp).",
            BacktestTables.figures(columns),
        ]
        if plans.proposed != nil {
            parts.append(BacktestTables.changes(backtest.changes, hasTruth: hasTruth))
        }
        if hasTruth {
            parts.append(BacktestTables.calibration(columns.filter { $0.plan != nil }, \.calibration))
        }
        if hasTokens {
            parts.append(
                "What fingerprints alone say of launches that a token or an id recognised, by what they state:"
            )
            parts.append(
                BacktestTables.calibration(columns.filter { $0.plan != nil }, \.besideTokens.calibration)
            )
        }
        if backtest.recorded != nil { parts.append(fidelity) }
        let lines = gaps?.lines(current: plans.current, proposed: plans.proposed) ?? []
        if !lines.isEmpty {
            parts.append(
                "What the records do not contain:\n" + lines.map { "- \($0)" }.joined(separator: "\n")
            )
        }
        if backtest.recorded != nil, !hasTruth {
            parts.append(
                "False attribution is not known: no record says that a launch came from no click. How many matches are"
                    + " expected to be right is what their probabilities add up to."
            )
        }
        return parts.joined(separator: "\n\n")
    }

    /// How true the replay is: what it gives under the present settings beside what was really given.
    private var fidelity: String {
        let found = backtest.fidelity
        let share = found.compared > 0 ? Double(found.same) / Double(found.compared) : nil
        let others = [
            (found.gained, "get a match that they were not given"),
            (found.lost, "get none where they were given one"), (found.redirected, "get another link"),
            (found.repeatedInOne, "count as a repetition in one of the two alone"),
            (found.otherClick, "get the same link by another click"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let detail = others.isEmpty ? "." : ": \(others.joined(separator: ", "))."
        let unknown =
            found.unknown > 0 ? " \(found.unknown) were given a click that is not held any more." : ""
        return
            "Played again under the present settings, \(found.same) of \(found.compared) launches"
            + " (\(Table.percent(share))) get what they were really given\(detail)\(unknown)"
    }

    private var warmUp: String {
        plans.current.warmUpDays == 0 ? "" : "; the first \(days) taught and were not counted"
    }

    private var days: String {
        plans.current.warmUpDays == 1 ? "24 hours" : "\(plans.current.warmUpDays) days"
    }

    private var hasTruth: Bool { backtest.current.score.knownLaunches > 0 }

    private var hasTokens: Bool { columns.contains { $0.score.besideTokens.matches > 0 } }

    /// Warnings that the figures do not show by themselves.
    var warnings: [String] {
        let score = backtest.current.score
        var warnings: [String] = []
        if score.launches == 0, backtest.launches > 0 {
            warnings.append(
                "Warning: all launches lie in the first \(days), which teach and are not counted. --warm-up-days 0"
                    + " counts them."
            )
        }
        if score.unknownClicks > 0 {
            warnings.append(
                "Warning: the truth of \(score.unknownClicks) launches names a click that is not in the trace; they"
                    + " count as wrong where they match, and as nothing to be found."
            )
        }
        return warnings
    }

    // MARK: - JSON

    var json: String {
        var json = JSONWriter()
        json.object { json in
            json.member("clicks", backtest.clicks)
            json.member("launches", backtest.launches)
            json.member("from", began.iso8601)
            json.member("to", backtest.latest.iso8601)
            json.member("warm_up_days", plans.current.warmUpDays)
            for column in columns {
                json.member(column.name) { BacktestJSON.write(column, to: &$0) }
            }
            if plans.proposed != nil {
                json.member("changes") { BacktestJSON.write(backtest.changes, hasTruth: hasTruth, to: &$0) }
            }
            if backtest.recorded != nil {
                json.member("fidelity") { BacktestJSON.write(backtest.fidelity, hasTruth: false, to: &$0) }
            }
            if let gaps { json.member("unknown") { BacktestJSON.write(gaps, to: &$0) } }
        }
        return json.text
    }
}

/// One way in which launches were answered.
struct BacktestColumn {
    let name: String
    /// Nil for what was really answered.
    let plan: ReplayPlan?
    let score: ReplayScore

    init(_ name: String, _ plan: ReplayPlan?, _ score: ReplayScore) {
        self.name = name
        self.plan = plan
        self.score = score
    }
}
