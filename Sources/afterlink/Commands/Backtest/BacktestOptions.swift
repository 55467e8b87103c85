internal import Attribution
internal import Storage

/// The options that say how events are played.
struct BacktestOptions {
    private let warmUpDays: Int?
    private let window: AttributionWindow?
    private let minimumConfidence: Double?
    private let rule: MatchPolicy.Rule?
    private let onAmbiguity: MatchPolicy.Ambiguity?

    private static let mostWarmUpDays = 365

    init(_ arguments: Arguments) throws {
        warmUpDays = try Self.warmUpDays(arguments)
        window = try Self.window(arguments)
        minimumConfidence = try Self.minimumConfidence(arguments)
        rule = try arguments.value("rule").map { text in
            guard let rule = MatchPolicy.Rule(rawValue: text) else {
                throw CommandFailure.wrongValue("rule", text, "must be newest or probability")
            }
            return rule
        }
        onAmbiguity = try arguments.value("on-ambiguity").map { text in
            guard let ambiguity = MatchPolicy.Ambiguity(rawValue: text) else {
                throw CommandFailure.wrongValue(
                    "on-ambiguity",
                    text,
                    "must be noMatch, newest or campaignOnly"
                )
            }
            return ambiguity
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
        let proposesChange =
            window != nil || minimumConfidence != nil || rule != nil || onAmbiguity != nil
        return BacktestPlans(current: current, proposed: proposesChange ? proposed : nil)
    }

    private static func warmUpDays(_ arguments: Arguments) throws -> Int? {
        guard let text = arguments.value("warm-up-days") else { return nil }
        guard let days = Int(text), (0...mostWarmUpDays).contains(days) else {
            throw CommandFailure.wrongValue(
                "warm-up-days",
                text,
                "must be a whole number from 0 to \(mostWarmUpDays)"
            )
        }
        return days
    }

    private static func window(_ arguments: Arguments) throws -> AttributionWindow? {
        guard let text = arguments.value("window") else { return nil }
        guard let window = Int64(text).flatMap({ AttributionWindow(seconds: $0) }) else {
            let allowed = AttributionWindow.allowedSeconds
            throw CommandFailure.wrongValue(
                "window",
                text,
                "must be whole seconds from \(allowed.lowerBound) to \(allowed.upperBound)"
            )
        }
        return window
    }

    private static func minimumConfidence(_ arguments: Arguments) throws -> Double? {
        guard let text = arguments.value("minimum-confidence") else { return nil }
        guard let minimum = Double(text), (0...1).contains(minimum) else {
            throw CommandFailure.wrongValue("minimum-confidence", text, "must be a number from 0 to 1")
        }
        return minimum
    }
}

/// The two ways in which events are played.
struct BacktestPlans {
    let current: ReplayPlan
    /// Nil where nothing is to be compared.
    let proposed: ReplayPlan?
}
