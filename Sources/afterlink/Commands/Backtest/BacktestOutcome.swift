internal import Attribution
internal import Server

/// How a backtest went, as tables for people and as JSON for programs.
struct BacktestOutcome {
    private let backtest: Backtest
    private let options: BacktestOptions
    private let began: Timestamp

    init(_ backtest: Backtest, _ options: BacktestOptions, began: Timestamp) {
        self.backtest = backtest
        self.options = options
        self.began = began
    }

    private var plans: [(plan: ReplayPlan, score: ReplayScore)] {
        [(options.present, backtest.present.score)]
            + [options.asked].compactMap { plan in
                backtest.asked.flatMap { replay in plan.map { ($0, replay.score) } }
            }
    }

    // MARK: - Text

    var text: String {
        var parts = [
            "Clicks: \(backtest.clicks), launches: \(backtest.launches), from \(began.iso8601) to"
                + " \(backtest.latest.iso8601)\(warmUp).",
            BacktestTables.figures(plans),
        ]
        if options.asked != nil { parts.append(BacktestTables.changes(backtest.changes, hasTruth: hasTruth)) }
        if hasTruth { parts.append(BacktestTables.calibration(plans.map(\.score))) }
        return parts.joined(separator: "\n\n")
    }

    private var warmUp: String {
        options.present.warmUpDays == 0 ? "" : "; the first \(days) taught and were not counted"
    }

    private var days: String {
        options.present.warmUpDays == 1 ? "24 hours" : "\(options.present.warmUpDays) days"
    }

    private var hasTruth: Bool { backtest.present.score.knownLaunches > 0 }

    /// What the figures do not tell by themselves.
    var warnings: [String] {
        let score = backtest.present.score
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
            json.member("warm_up_days", options.present.warmUpDays)
            for (name, entry) in zip(["present", "asked"], plans) {
                json.member(name) { BacktestJSON.write(entry.plan, entry.score, to: &$0) }
            }
            guard options.asked != nil else { return }
            json.member("changes") { BacktestJSON.write(backtest.changes, hasTruth: hasTruth, to: &$0) }
        }
        return json.text
    }
}
