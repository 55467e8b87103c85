internal import Attribution
internal import JSON
internal import Storage

/// How a backtest went, as tables for people and as JSON for programs.
struct BacktestOutcome {
    let backtest: Backtest
    let plans: BacktestPlans
    let began: Timestamp
    let gaps: BacktestGaps?

    /// The recorded responses, if they are known, and the played plans.
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
        JSONWriter.text { json in
            json.member("clicks", backtest.clicks)
            json.member("launches", backtest.launches)
            json.member("from", began.iso8601)
            json.member("to", backtest.latest.iso8601)
            json.member("warm_up_days", plans.current.warmUpDays)
            for column in columns { json.member(column.name) { BacktestJSON.write(column, to: &$0) } }
            if plans.proposed != nil {
                json.member("changes") { BacktestJSON.write(backtest.changes, hasTruth: hasTruth, to: &$0) }
            }
            if backtest.recorded != nil {
                json.member("fidelity") { BacktestJSON.write(backtest.fidelity, hasTruth: false, to: &$0) }
            }
            if let gaps { json.member("unknown") { BacktestJSON.write(gaps, to: &$0) } }
        }
    }
}

/// One way in which launches were answered.
struct BacktestColumn {
    let name: String
    /// Nil for what was really answered.
    let plan: ReplayPlan?
    let score: ReplayScore
}

/// The tables of a backtest, with a column for each policy.
enum BacktestTables {
    static func figures(_ columns: [BacktestColumn]) -> String {
        var table = Table([("", .left)] + columns.map { ($0.name.uppercased(), .right) })
        func row(_ name: String, _ cell: (BacktestColumn) -> String) { table.add([name] + columns.map(cell)) }
        func planned(_ name: String, _ value: (ReplayPlan) -> String) {
            row(name) { $0.plan.map(value) ?? "–" }
        }
        func count(_ name: String, _ value: (ReplayScore) -> Int) { row(name) { String(value($0.score)) } }
        planned("rule") { $0.policy.rule.rawValue }
        planned("minimum confidence") { decimal($0.policy.minimumConfidence, digits: 2) }
        planned("on ambiguity") { $0.policy.onAmbiguity.rawValue }
        row("window") { $0.plan?.window.map { "\($0.seconds) s" } ?? "as recorded" }
        count("launches", \.launches)
        count("matches", \.matches)
        row("match rate") { Table.percent($0.score.matchRate) }
        count("by token", \.tokenMatches)
        count("campaign only", \.campaignMatches)
        count("no match: no candidate") { $0.reasons[nil] ?? 0 }
        for reason in NoMatchReason.ofVerdicts where reason != .fingerprintDisabled {
            count("no match: " + reason.name) { $0.reasons[reason] ?? 0 }
        }
        count("repeated answers", \.replays)
        row("expected conversions") {
            "\(Int($0.score.expectedConversions.rounded())) ± \(Int($0.score.spread.rounded()))"
        }
        row("matches expected to be right") {
            String(Int(($0.score.expectedRight + Double($0.score.tokenMatches)).rounded()))
        }
        addTrials(columns, to: &table)
        addTruth(columns, to: &table)
        return table.text
    }

    /// Adds the rows about the truth in a trace.
    private static func addTruth(_ columns: [BacktestColumn], to table: inout Table) {
        guard columns.contains(where: { $0.score.knownLaunches > 0 }) else { return }
        func row(_ name: String, _ value: (ReplayScore) -> String) {
            table.add([name] + columns.map { value($0.score) })
        }
        row("launches whose truth is known") { String($0.knownLaunches) }
        row("true conversions in the window") { String($0.conversions) }
        row("true conversions after it") { String($0.lateConversions) }
        row("right matches") { String($0.rightLink) }
        row("precision") { Table.percent($0.precision) }
        row("found") { Table.percent($0.found) }
        row("false attribution") { Table.percent($0.falseAttribution) }
        row("reinstalls matched again") { Table.percent($0.rematched) }
        row("calibration error") { $0.knownMatches > 0 ? decimal($0.calibration.error, digits: 3) : "–" }
    }

    /// The matches that fingerprints alone give if a token or an id states the truth.
    private static func addTrials(_ columns: [BacktestColumn], to table: inout Table) {
        guard columns.contains(where: { $0.score.besideTokens.launches > 0 }) else { return }
        func row(_ name: String, _ value: (TokenTrials) -> String) {
            // Of what was really answered, only the surer way's word is known.
            table.add([name] + columns.map { $0.plan == nil ? "–" : value($0.score.besideTokens) })
        }
        row("by token, the fingerprint alone gives") { String($0.matches) }
        row("by token, of these right") { String($0.right) }
        row("by token, precision of the fingerprint") { Table.percent($0.precision) }
        row("by token, found by the fingerprint") { Table.percent($0.found) }
        row("by token, calibration error") { $0.matches > 0 ? decimal($0.calibration.error, digits: 3) : "–" }
    }

    static func changes(_ changes: Backtest.Changes, hasTruth: Bool) -> String {
        var table = Table([("LAUNCHES THAT", .left), ("", .right)] + (hasTruth ? [("RIGHT", .right)] : []))
        for (name, count, right) in [
            ("gain a match", changes.gained, changes.gainedRight),
            ("lose their match", changes.lost, changes.lostRight),
            ("get another link", changes.redirected, changes.redirectedRight),
        ] { table.add([name, String(count)] + (hasTruth ? [String(right)] : [])) }
        return table.text
    }

    /// Returns the calibration of the stated confidence, for each tenth with a match.
    static func calibration(_ columns: [BacktestColumn], _ calibration: (ReplayScore) -> Calibration)
        -> String
    {
        let names = columns.count > 1 ? columns.map { $0.name.uppercased() + " " } : [""]
        let all = columns.map { calibration($0.score) }
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

    private static func decimal(_ number: Double, digits: Int) -> String {
        var unit = 1
        for _ in 0..<digits { unit *= 10 }
        let parts = Int((number * Double(unit)).rounded())
        let fraction = String(parts % unit)
        return "\(parts / unit)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
