internal import Attribution
internal import JSON
internal import Storage

/// The result of a backtest, as tables for people and as JSON for programs.
struct BacktestOutcome {
    let backtest: Backtest
    let plans: BacktestPlans
    let began: Timestamp
    let gaps: BacktestGaps

    /// A column for the recorded responses, if they are counted, and one for each replayed plan.
    private var columns: [BacktestColumn] {
        var columns: [BacktestColumn] = []
        if let recorded = backtest.recorded {
            columns.append(BacktestColumn(name: "recorded", plan: nil, score: recorded))
        }
        columns.append(BacktestColumn(name: "current", plan: plans.current, score: backtest.current.score))
        if let plan = plans.proposed, let proposed = backtest.proposed {
            columns.append(BacktestColumn(name: "proposed", plan: plan, score: proposed.score))
        }
        return columns
    }

    // MARK: - Text

    var text: String {
        let warmUp =
            plans.current.warmUpDays == 0
            ? "" : "; the first \(days) warmed up the model and were not counted"
        var parts = [
            "Clicks: \(backtest.clicks), launches: \(backtest.launches), from \(began.iso8601) to"
                + " \(backtest.latest.iso8601)\(warmUp).",
            figures,
        ]
        if plans.proposed != nil {
            let changes = backtest.changes
            parts.append(
                [
                    ("gain a match", changes.gained), ("lose their match", changes.lost),
                    ("get another link", changes.redirected),
                ].table([.left("LAUNCHES THAT", \.0), .right("") { String($0.1) }])
            )
        }
        if columns.contains(where: { $0.score.besideTokens.matches > 0 }) {
            parts.append(
                "Matches by the fingerprint alone, for launches that a token or an id recognised, by stated confidence:"
            )
            parts.append(calibration)
        }
        if backtest.recorded != nil { parts.append(fidelity) }
        let lines = gaps.lines(current: plans.current, proposed: plans.proposed)
        if !lines.isEmpty {
            parts.append("The records do not contain:\n" + lines.map { "- \($0)" }.joined(separator: "\n"))
        }
        if backtest.recorded != nil {
            parts.append(
                "False attribution is not known, because no record shows that a launch came from no click. The matches"
                    + " expected to be right are the sum of their probabilities."
            )
        }
        return parts.joined(separator: "\n\n")
    }

    /// A table with a row for each figure and a column for each policy.
    private var figures: String {
        let columns = columns
        var table = Table([("", .left)] + columns.map { ($0.name.uppercased(), .right) })
        func row(_ name: String, _ cell: (BacktestColumn) -> String) { table.add([name] + columns.map(cell)) }
        row("rule") { $0.plan?.policy.rule.rawValue ?? "–" }
        row("minimum confidence") { $0.plan.map { $0.policy.minimumConfidence.text(digits: 2) } ?? "–" }
        row("on ambiguity") { $0.plan?.policy.onAmbiguity.rawValue ?? "–" }
        row("window") { $0.plan?.window.map { "\($0.seconds) s" } ?? "as recorded" }
        for (name, window) in [
            ("fingerprint window", \MethodWindows.fingerprint),
            ("deterministic window", \MethodWindows.deterministic),
        ] where columns.contains(where: { $0.plan?.policy.windows[keyPath: window] != nil }) {
            row(name) { $0.plan?.policy.windows[keyPath: window].map { "\($0.seconds) s" } ?? "–" }
        }
        for (index, figure) in ReplayScore().figures.enumerated() {
            row(figure.label) { $0.score.figures[index].cell }
        }
        guard columns.contains(where: { $0.score.besideTokens.launches > 0 }) else { return table.text }
        for (index, figure) in TokenTrials().figures.enumerated() {
            // No record contains what the fingerprint alone would have returned.
            row("by token, \(figure.label)") {
                $0.plan == nil ? "–" : $0.score.besideTokens.figures[index].cell
            }
        }
        return table.text
    }

    /// A table, by stated confidence, of the matches that the fingerprint alone would have made.
    ///
    /// It counts only launches that a token or an id recognised.
    private var calibration: String {
        let columns = columns.filter { $0.plan != nil }
        let names = columns.count > 1 ? columns.map { $0.name.uppercased() + " " } : [""]
        let all = columns.map(\.score.besideTokens.calibration)
        var table = Table(
            [("STATED", .left)]
                + names.flatMap { [($0 + "MATCHES", .right), ("MEAN", .right), ("RIGHT", .right)] }
        )
        for bin in 0..<10 where all.contains(where: { $0.bins[bin].count > 0 }) {
            let cells = all.flatMap { calibration in
                let bin = calibration.bins[bin]
                guard bin.count > 0 else { return ["0", "–", "–"] }
                return [String(bin.count), Table.percent(bin.stated), Table.percent(bin.right)]
            }
            table.add(["\(bin * 10)–\(bin * 10 + 10) %"] + cells)
        }
        return table.text
    }

    /// The accuracy of the replay: its answers under the current settings, compared with the recorded responses.
    private var fidelity: String {
        let found = backtest.fidelity
        let share = found.compared > 0 ? Double(found.same) / Double(found.compared) : nil
        let others = [
            (found.gained, "get a match that is not recorded"),
            (found.lost, "do not get their recorded match"),
            (found.redirected, "get another link"),
            (found.repeatedInOne, "repeat an earlier response in only one of the two"),
            (found.otherClick, "get the same link by another click"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let detail = others.isEmpty ? "." : ": \(others.joined(separator: ", "))."
        let unknown =
            found.unknown > 0 ? " The click of \(found.unknown) recorded responses is no longer stored." : ""
        return "Replayed under the current settings, \(found.same) of \(found.compared) launches"
            + " (\(Table.percent(share))) get their recorded response\(detail)\(unknown)"
    }

    private var days: String {
        plans.current.warmUpDays == 1 ? "24 hours" : "\(plans.current.warmUpDays) days"
    }

    /// A warning if the warm-up contains all launches; nil if a launch is counted, or if there are no launches.
    var warning: String? {
        guard backtest.current.score.launches == 0, backtest.launches > 0 else { return nil }
        return "Warning: all launches are in the first \(days), which warm up the model and are not counted."
            + " --warm-up-days 0 counts them."
    }

    // MARK: - JSON

    var json: String {
        JSONWriter.text { json in
            json.member("clicks", backtest.clicks)
            json.member("launches", backtest.launches)
            json.member("from", began.iso8601)
            json.member("to", backtest.latest.iso8601)
            json.member("warm_up_days", plans.current.warmUpDays)
            for column in columns { json.object(column.name, column.write) }
            if plans.proposed != nil { json.object("changes") { backtest.changes.write(to: &$0) } }
            if backtest.recorded != nil { json.object("fidelity") { backtest.fidelity.write(to: &$0) } }
            json.object("unknown", gaps.write)
        }
    }
}

/// The counts of the answers to the launches: under one plan, or as recorded.
private struct BacktestColumn {
    let name: String
    /// Nil for the recorded responses.
    let plan: ReplayPlan?
    let score: ReplayScore

    func write(to json: inout JSONWriter) {
        if let plan {
            json.member("rule", plan.policy.rule.rawValue)
            json.member("minimum_confidence", plan.policy.minimumConfidence)
            json.member("on_ambiguity", plan.policy.onAmbiguity.rawValue)
            json.member("window", plan.window?.seconds)
            json.member("fingerprint_window", plan.policy.windows.fingerprint?.seconds)
            json.member("deterministic_window", plan.policy.windows.deterministic?.seconds)
        }
        for figure in score.figures { figure.write(to: &json) }
        json.object("no_match") { json in
            json.member("no_candidate", score.reasons[nil] ?? 0)
            for reason in NoMatchReason.ofVerdicts {
                json.member(reason.rawValue, score.reasons[reason] ?? 0)
            }
        }
        let trials = score.besideTokens
        guard trials.launches > 0 else { return }
        json.object("beside_tokens") { json in
            json.member("launches", trials.launches)
            for figure in trials.figures { figure.write(to: &json) }
            json.objects("calibration", trials.calibration.bins.enumerated()) { json, entry in
                let (index, bin) = entry
                json.member("from", Double(index) / 10)
                json.member("matches", bin.count)
                json.member("stated", bin.count > 0 ? bin.stated : nil)
                json.member("right", bin.count > 0 ? bin.right : nil)
            }
        }
    }
}

/// A number that describes a replay: a row of the table and a member of the JSON.
private struct BacktestFigure {
    enum Value {
        case count(Int)
        /// A sum of probabilities, rounded in the table, with its standard deviation if known.
        case sum(Double, spread: Double? = nil)
        case share(Double?)
        /// A calibration error, 0…1.
        case error(Double?)
    }

    let label: String
    /// Nil if the JSON has the number elsewhere.
    let member: String?
    let value: Value

    init(_ label: String, _ member: String?, _ value: Value) {
        (self.label, self.member, self.value) = (label, member, value)
    }

    var cell: String {
        func whole(_ number: Double) -> String { String(Int(number.rounded())) }
        return switch value {
        case .count(let count): String(count)
        case .sum(let sum, let spread): whole(sum) + (spread.map { " ± \(whole($0))" } ?? "")
        case .share(let share): Table.percent(share)
        case .error(let error): error.map { $0.text(digits: 3) } ?? "–"
        }
    }

    func write(to json: inout JSONWriter) {
        guard let member else { return }
        switch value {
        case .count(let count): json.member(member, count)
        case .sum(let sum, let spread):
            json.member(member, sum)
            json.member("spread", spread)
        case .share(let number), .error(let number): json.member(member, number)
        }
    }
}

extension ReplayScore {
    fileprivate var figures: [BacktestFigure] {
        let head: [BacktestFigure] = [
            .init("launches", "launches", .count(launches)),
            .init("matches", "matches", .count(matches)),
            .init("match rate", "match_rate", .share(matchRate)),
            .init("by token", "by_token", .count(tokenMatches)),
            .init("campaign only", "campaign_only", .count(campaignMatches)),
            .init("no match: no candidate", nil, .count(reasons[nil] ?? 0)),
        ]
        let verdicts = NoMatchReason.ofVerdicts.filter { $0 != .fingerprintDisabled }.map { reason in
            BacktestFigure("no match: \(reason.name)", nil, .count(reasons[reason] ?? 0))
        }
        let right = expectedRight + Double(tokenMatches)
        return head + verdicts + [
            .init("repeated answers", "replays", .count(replays)),
            .init("expected conversions", "expected_conversions", .sum(expectedConversions, spread: spread)),
            .init("matches expected to be right", "expected_right", .sum(right)),
        ]
    }
}

extension TokenTrials {
    fileprivate var figures: [BacktestFigure] {
        [
            .init("the fingerprint alone gives", "matches", .count(matches)),
            .init("of these right", "right", .count(right)),
            .init("precision of the fingerprint", "precision", .share(precision)),
            .init("found by the fingerprint", "found", .share(found)),
            .init("calibration error", "calibration_error", .error(matches > 0 ? calibration.error : nil)),
        ]
    }
}

extension Backtest.Changes {
    fileprivate func write(to json: inout JSONWriter) {
        json.member("gained", gained)
        json.member("lost", lost)
        json.member("redirected", redirected)
        json.member("same", same)
        json.member("same_link_by_another_click", otherClick)
        json.member("repeated_in_one", repeatedInOne)
        json.member("unknown", unknown)
    }
}

extension Double {
    /// Returns the number with `digits` digits after the decimal point; `digits` is at least 1.
    func text(digits: Int) -> String {
        let unit = (0..<digits).reduce(1) { number, _ in number * 10 }
        let parts = Int((self * Double(unit)).rounded())
        let fraction = String(parts % unit)
        return "\(parts / unit)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
