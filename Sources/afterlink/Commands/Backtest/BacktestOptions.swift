internal import Attribution
internal import Storage

/// The options that say how events are played.
struct BacktestOptions {
    private let warmUpDays: Int?
    private let window: AttributionWindow?
    private let minimumConfidence: Double?
    private let rule: MatchPolicy.Rule?
    private let onAmbiguity: MatchPolicy.Ambiguity?

    init(_ arguments: Arguments) throws {
        warmUpDays = try arguments.read("warm-up-days", "must be a whole number from 0 to 365") {
            Int($0).flatMap { (0...365).contains($0) ? $0 : nil }
        }
        let allowed = AttributionWindow.allowedSeconds
        window = try arguments.read(
            "window",
            "must be whole seconds from \(allowed.lowerBound) to \(allowed.upperBound)",
            { Int64($0).flatMap { AttributionWindow(seconds: $0) } }
        )
        minimumConfidence = try arguments.read("minimum-confidence", "must be a number from 0 to 1") {
            Double($0).flatMap { (0...1).contains($0) ? $0 : nil }
        }
        rule = try arguments.read("rule", "must be newest or probability") { MatchPolicy.Rule(rawValue: $0) }
        onAmbiguity = try arguments.read("on-ambiguity", "must be noMatch, newest or campaignOnly") {
            MatchPolicy.Ambiguity(rawValue: $0)
        }
    }

    /// - Parameters:
    ///   - policy: how launches are answered now.
    ///   - replayGrace: as in ``ReplayPlan/replayGrace``.
    ///   - usualWarmUp: the days that teach where nothing is said.
    /// - Returns: the present way, and the one that the options ask for.
    func plans(
        policy: MatchPolicy = MatchPolicy(),
        replayGrace: Int64 = 60_000,
        usualWarmUp: Int = 1
    ) -> BacktestPlans {
        let current = ReplayPlan(
            policy: policy,
            replayGrace: replayGrace,
            warmUpDays: warmUpDays ?? usualWarmUp
        )
        var proposed = current
        proposed.window = window
        proposed.policy.minimumConfidence = minimumConfidence ?? policy.minimumConfidence
        proposed.policy.rule = rule ?? policy.rule
        proposed.policy.onAmbiguity = onAmbiguity ?? policy.onAmbiguity
        let proposesChange = window != nil || minimumConfidence != nil || rule != nil || onAmbiguity != nil
        return BacktestPlans(current: current, proposed: proposesChange ? proposed : nil)
    }
}

/// The two ways in which events are played.
struct BacktestPlans {
    let current: ReplayPlan
    /// Nil where nothing is to be compared.
    let proposed: ReplayPlan?
}
