internal import CMath

/// What a group's rate is judged by, day by day, the newest first.
struct DriftSeries {
    /// How many trials there are for what brings matches, and how it was before.
    enum Supply {
        /// Clicks and checks of a launch's platform: with fewer clicks to each check, fewer checks can match.
        case clicks([Int64], checks: [Int64])
        /// A click's own: more clicks than usual that bring no more matches are a campaign that nobody needs.
        case ownTrials
        case steady
    }

    let own: [DriftCount]
    /// Everything else of the side; nil for the whole.
    let rest: [DriftCount]?
    let supply: Supply

    /// Days from the first with a trial on.
    var knownDays: Int { (own.lastIndex { $0.trials > 0 } ?? -1) + 1 }

    init(own: [DriftCount], rest: [DriftCount]?, supply: Supply = .steady) {
        self.own = own
        self.rest = rest
        self.supply = supply
    }

    /// By how much matches had to become rarer because there is less that brings them, at most 1, and the variance of
    /// its logarithm.
    func shortage(_ recent: Range<Int>, against past: Range<Int>) -> (ratio: Double, variance: Double) {
        switch supply {
        case .steady: return (1, 0)
        case .clicks(let clicks, let checks):
            guard let ratio = clicksToACheck(recent, against: past) else { return (1, 0) }
            let counts = [clicks, checks].flatMap { [Self.sum($0, recent), Self.sum($0, past)] }
            return Self.limited(ratio, counts)
        case .ownTrials:
            let (now, before) = (own[recent].sum.trials, own[past].sum.trials)
            let ratio = Self.ratio(before, now) * Double(recent.count) / Double(past.count)
            return Self.limited(ratio, [before, now])
        }
    }

    /// How many clicks there are to a check, as a multiple of what there were; nil where that says nothing.
    func clicksToACheck(_ recent: Range<Int>, against past: Range<Int>) -> Double? {
        // An app whose clicks are recorded elsewhere says nothing of them.
        guard case .clicks(let clicks, let checks) = supply, Self.sum(clicks, past) > 0 else { return nil }
        return Self.ratio(Self.sum(clicks, recent), Self.sum(checks, recent))
            * Self.ratio(Self.sum(checks, past), Self.sum(clicks, past))
    }

    private static func sum(_ counts: [Int64], _ days: Range<Int>) -> Int64 {
        counts[days].reduce(0, +)
    }

    private static func limited(_ ratio: Double, _ counts: [Int64]) -> (ratio: Double, variance: Double) {
        guard ratio < 1 else { return (1, 0) }
        var variance = 0.0
        for count in counts { variance += 1 / (Double(count) + 0.5) }
        return (ratio, variance)
    }

    private static func ratio(_ left: Int64, _ right: Int64) -> Double {
        (Double(left) + 0.5) / (Double(right) + 0.5)
    }
}

/// A rate that was to be expected, and how well it is known.
struct DriftExpectation {
    let rate: Double
    /// The variance of its log odds.
    let variance: Double

    /// The log odds are held where the rate is neither 0 nor 1.
    init(logOdds: Double, variance: Double) {
        let odds = cmath_exp(min(max(logOdds, -12), 12))
        rate = odds / (1 + odds)
        self.variance = variance
    }

    /// The usual rate, made rarer by a shortage.
    init(_ usual: DriftExpectation, shortage: (ratio: Double, variance: Double)) {
        rate = usual.rate * shortage.ratio
        let slope = 1 - rate
        variance = usual.variance + shortage.variance / (slope * slope)
    }
}
