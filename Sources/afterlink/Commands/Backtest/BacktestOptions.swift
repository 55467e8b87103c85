internal import Attribution

/// What is played, and how, as told on the command line.
struct BacktestOptions {
    let trace: String
    let present: ReplayPlan
    /// Nil where nothing is to be compared.
    let asked: ReplayPlan?

    private static let mostWarmUpDays = 365

    init(_ arguments: Arguments) throws(CommandFailure) {
        guard let trace = arguments.value("trace"), !trace.isEmpty else {
            throw CommandFailure(
                .wrongUse,
                "`afterlink backtest` needs events to play.",
                advice: "Give --trace FILE; `afterlink help backtest` says what stands in it."
            )
        }
        self.trace = trace
        present = ReplayPlan(warmUpDays: try Self.warmUpDays(arguments))
        var asked = present
        asked.window = try Self.window(arguments)
        asked.policy = try Self.policy(arguments)
        let changes = ["window", "minimum-confidence", "rule", "on-ambiguity"]
        self.asked = changes.contains { arguments.has($0) } ? asked : nil
    }

    private static func warmUpDays(_ arguments: Arguments) throws(CommandFailure) -> Int {
        guard let text = arguments.value("warm-up-days") else { return 1 }
        guard let days = Int(text), (0...mostWarmUpDays).contains(days) else {
            throw .wrongValue("warm-up-days", text, "must be a whole number from 0 to \(mostWarmUpDays)")
        }
        return days
    }

    private static func window(_ arguments: Arguments) throws(CommandFailure) -> AttributionWindow? {
        guard let text = arguments.value("window") else { return nil }
        guard let window = Int64(text).flatMap({ AttributionWindow(seconds: $0) }) else {
            let allowed = AttributionWindow.allowedSeconds
            throw .wrongValue(
                "window",
                text,
                "must be whole seconds from \(allowed.lowerBound) to \(allowed.upperBound)"
            )
        }
        return window
    }

    private static func policy(_ arguments: Arguments) throws(CommandFailure) -> MatchPolicy {
        var policy = MatchPolicy()
        if let text = arguments.value("minimum-confidence") {
            guard let minimum = Double(text), (0...1).contains(minimum) else {
                throw .wrongValue("minimum-confidence", text, "must be a number from 0 to 1")
            }
            policy.minimumConfidence = minimum
        }
        if let text = arguments.value("rule") {
            guard let rule = MatchPolicy.Rule(rawValue: text) else {
                throw .wrongValue("rule", text, "must be newest or probability")
            }
            policy.rule = rule
        }
        if let text = arguments.value("on-ambiguity") {
            guard let ambiguity = MatchPolicy.Ambiguity(rawValue: text) else {
                throw .wrongValue("on-ambiguity", text, "must be noMatch, newest or campaignOnly")
            }
            policy.onAmbiguity = ambiguity
        }
        return policy
    }
}
