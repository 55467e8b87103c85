/// How many conversions a click leads to through one lane, and which share of its platform's that is.
struct PlatformFormShare: Equatable, Sendable {
    /// k · s: conversions through the lane's fingerprints, for each click that has one.
    let conversions: Double
    /// s: the lane's share of its platform's conversions.
    let share: Double

    /// Conversions for each click before any were seen.
    static let prior = 0.15
    /// The clicks that the prior counts as.
    private static let priorClicks = 100.0

    static func all(_ counters: ModelCounters, exposed: Double) -> [UInt64: PlatformFormShare] {
        let clicks = counters.all(.clicks)
        let conversions = counters.all(.conversions)
        var byPlatform: [UInt64: Double] = [:]
        for (lane, count) in conversions { byPlatform[lane >> 8, default: 0] += max(0, count) }
        var result: [UInt64: PlatformFormShare] = [:]
        for lane in Set(clicks.keys).union(conversions.keys) {
            let converted = max(0, conversions[lane] ?? 0)
            let seen = (clicks[lane] ?? 0) * exposed
            let share = (converted + priorClicks * prior) / (seen + priorClicks)
            let platform = byPlatform[lane >> 8] ?? 0
            result[lane] = PlatformFormShare(
                conversions: min(max(share, 1e-5), 1),
                share: min(1, (converted + 10) / (platform + 10))
            )
        }
        return result
    }
}
