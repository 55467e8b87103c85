internal import Attribution

/// The tables of a backtest, with a column for each policy.
enum BacktestTables {
    typealias Played = (plan: ReplayPlan, score: ReplayScore)

    static func figures(_ plans: [Played]) -> String {
        var table = Table([("", .left)] + zip(["PRESENT", "ASKED"], plans).map { ($0.0, .right) })
        func row(_ name: String, _ cell: (Played) -> String) {
            table.add([name] + plans.map(cell))
        }
        func count(_ name: String, _ value: (ReplayScore) -> Int) {
            row(name) { String(value($0.score)) }
        }
        row("rule") { $0.plan.policy.rule.rawValue }
        row("minimum confidence") { decimal($0.plan.policy.minimumConfidence, digits: 2) }
        row("on ambiguity") { $0.plan.policy.onAmbiguity.rawValue }
        row("window") { $0.plan.window.map { "\($0.seconds) s" } ?? "as recorded" }
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
        guard plans.contains(where: { $0.score.knownLaunches > 0 }) else { return table.text }
        count("launches whose truth is known", \.knownLaunches)
        count("true conversions in the window", \.conversions)
        count("true conversions after it", \.lateConversions)
        count("right matches", \.rightLink)
        row("precision") { Table.percent($0.score.precision) }
        row("found") { Table.percent($0.score.found) }
        row("false attribution") { Table.percent($0.score.falseAttribution) }
        row("reinstalls matched again") { Table.percent($0.score.rematched) }
        row("calibration error") {
            $0.score.knownMatches > 0 ? decimal($0.score.calibration.error, digits: 3) : "–"
        }
        return table.text
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

    /// Of the stated confidence, for each tenth in which there is a match.
    static func calibration(_ scores: [ReplayScore]) -> String {
        let names = scores.count > 1 ? ["PRESENT ", "ASKED "] : [""]
        var table = Table(
            [("STATED", .left)]
                + names.flatMap { [($0 + "MATCHES", .right), ("MEAN", .right), ("RIGHT", .right)] }
        )
        for bin in 0..<10 where scores.contains(where: { $0.calibration.bins[bin].count > 0 }) {
            let cells = scores.flatMap { score in
                let bin = score.calibration.bins[bin]
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
