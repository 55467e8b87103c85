internal import Attribution
internal import Storage

/// The tables of a backtest, with a column for each policy.
enum BacktestTables {
    static func figures(_ columns: [BacktestColumn]) -> String {
        var table = Table([("", .left)] + columns.map { ($0.name.uppercased(), .right) })
        func row(_ name: String, _ cell: (BacktestColumn) -> String) {
            table.add([name] + columns.map(cell))
        }
        func planned(_ name: String, _ value: (ReplayPlan) -> String) {
            row(name) { $0.plan.map(value) ?? "–" }
        }
        func count(_ name: String, _ value: (ReplayScore) -> Int) {
            row(name) { String(value($0.score)) }
        }
        planned("rule") { $0.policy.rule.rawValue }
        planned("minimum confidence") { decimal($0.policy.minimumConfidence, digits: 2) }
        planned("on ambiguity") { $0.policy.onAmbiguity.rawValue }
        row("window") { $0.plan?.window.map { "\($0.seconds) s" } ?? "as recorded" }
        count("launches", \.launches)
        count("matches", \.matches)
        row("match rate") { Table.percent($0.score.matchRate) }
        count("by token", \.tokenMatches)
        count("campaign only", \.campaignMatches)
        for reason in Verdict.Reason.allCases where reason != .fingerprintDisabled {
            count("no match: " + reason.rawValue.map { $0 == "_" ? " " : String($0) }.joined()) {
                $0.reasons[reason] ?? 0
            }
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
        row("by token, calibration error") {
            $0.matches > 0 ? decimal($0.calibration.error, digits: 3) : "–"
        }
    }

    static func changes(_ changes: Backtest.Changes, hasTruth: Bool) -> String {
        var table = Table([("LAUNCHES THAT", .left), ("", .right)] + (hasTruth ? [("RIGHT", .right)] : []))
        for (name, count, right) in [
            ("gain a match", changes.gained, changes.gainedRight),
            ("lose their match", changes.lost, changes.lostRight),
            ("get another link", changes.redirected, changes.redirectedRight),
        ] {
            table.add([name, String(count)] + (hasTruth ? [String(right)] : []))
        }
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
