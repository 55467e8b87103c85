internal import CMath

/// How far a rate has fallen below what was to be expected of it.
struct DriftFall: Equatable {
    /// The rate of the newest days.
    let rate: Double
    /// The lower of the rates that the group's own past and the rest of its app let expect.
    let expected: Double
    /// The rate of the past that both come from.
    let usual: Double
    /// How surprising the fall is, in standard deviations; 0 or below where there is none.
    let score: Double
    /// How many days the newest ones are.
    let days: Int
    /// Matches that are missing.
    let missing: Double
}

/// The change test: a generalised likelihood ratio of the newest days against the days before them.
///
/// For each of several lengths of the newest days, the likelihood of their counts at one rate with the days before is
/// compared with that at a rate of their own. How well the past is known enters as the number of trials that it is
/// worth, so that a short past makes nobody sure. Both are divided by how much more than chance the days of the past
/// differ among themselves (quasi-likelihood): what a group does every week surprises nobody.
///
/// Two expectations must be missed, and the one that is missed by less counts: the group's own past, made rarer where
/// there are fewer clicks to bring matches; and that past moved by as much as the rest of the app has moved since.
///
/// Sources: Siegmund and Venkatraman: Using the generalized likelihood ratio statistic for sequential detection of a
/// change-point (1995), for an unknown baseline; Lai: Sequential changepoint detection in quality control and
/// dynamical systems (1995), for a limited number of window lengths; McCullagh and Nelder: Generalized Linear Models
/// (1989), 4.5, for the dispersion.
struct DriftTest {
    let series: DriftSeries

    /// Days that a change is sought in.
    static let windows = [1, 2, 3, 5, 7]
    /// Days before them that say what is usual.
    static let baselineDays = 28
    /// Fewer days say nothing: a week holds each of its days once.
    static let fewestDays = 7
    /// A fall that is this surprising is told; one of clicks, which lead to few matches, of different campaigns, only
    /// if it is more so.
    ///
    /// Simulated, see the tests: with these, steady traffic alarms far more seldom than once a month.
    static func threshold(of side: DriftSide) -> Double { side == .launch ? 4 : 4.5 }
    /// A rate that is less than this share below what was expected is nobody's worry, however sure it is.
    static let smallestShare = 0.2
    /// Nor is a fall that has cost fewer matches.
    static let fewestMissing = 10.0

    /// Days that the dispersion is taken to have been seen for with nothing but chance.
    private static let dispersionDays = 6.0
    /// No single day says more of the dispersion: a day without service must not make a month blind.
    private static let largestSurprise = 16.0
    /// When the rest of an app moves, its parts do not all move alike.
    private static let unevenness = 0.3

    /// The most surprising fall that is worth telling, if any is; `threshold` is how surprising it must be at least.
    func fall(above threshold: Double) -> DriftFall? {
        Self.windows.compactMap { compare(newest: $0, from: $0) }.filter { fall in
            fall.score >= threshold && fall.rate <= (1 - Self.smallestShare) * fall.expected
                && fall.missing >= Self.fewestMissing
        }
        .max { $0.score < $1.score }
    }

    /// The newest `days` against the days from `offset` on; nil where the past is too short or the days are empty.
    func compare(newest days: Int, from offset: Int) -> DriftFall? {
        guard days <= offset, offset + Self.fewestDays <= series.knownDays else { return nil }
        let past = offset..<min(offset + Self.baselineDays, series.knownDays)
        let recent = series.own[0..<days].sum
        guard let rate = recent.rate else { return nil }
        let odds = series.own[past].sum.logOdds
        let usual = DriftExpectation(logOdds: odds.value, variance: odds.variance)
        let own = DriftExpectation(usual, shortage: series.shortage(0..<days, against: past))
        var expected = own
        var score = Self.score(recent, own, dispersionOfPast(past, odds, usual))
        if let rest = series.rest {
            let usualRest = rest[past].sum.logOdds
            let now = rest[0..<days].sum.logOdds
            let moved = now.value - usualRest.value
            let relative = DriftExpectation(
                logOdds: odds.value + moved,
                variance: odds.variance + now.variance + usualRest.variance
                    + Self.unevenness * Self.unevenness * moved * moved
            )
            let dispersion = dispersion(past) { day in
                let that = rest[day].logOdds
                return (odds.value + that.value - usualRest.value, that.variance)
            }
            score = min(score, Self.score(recent, relative, dispersion))
            if relative.rate < expected.rate { expected = relative }
        }
        return DriftFall(
            rate: rate,
            expected: expected.rate,
            usual: usual.rate,
            score: score,
            days: days,
            missing: expected.rate * recent.bounded.trials - recent.bounded.matches
        )
    }

    /// The signed root of the likelihood ratio, divided by the root of the dispersion.
    private static func score(_ recent: DriftCount, _ expected: DriftExpectation, _ dispersion: Double)
        -> Double
    {
        let (trials, matches) = recent.bounded
        let rate = expected.rate
        // Trials that would leave the rate as uncertain as it is.
        let worth = 1 / (expected.variance * rate * (1 - rate))
        let apart = likelihood(matches, trials) + likelihood(worth * rate, worth)
        let together = likelihood(matches + worth * rate, trials + worth)
        let root = (2 * max(0, apart - together) / dispersion).squareRoot()
        return matches < rate * trials ? root : -root
    }

    /// The logarithm of the largest likelihood of so many matches.
    private static func likelihood(_ matches: Double, _ trials: Double) -> Double {
        term(matches, trials) + term(trials - matches, trials)
    }

    private static func term(_ count: Double, _ trials: Double) -> Double {
        count > 0 ? count * cmath_log(count / trials) : 0
    }

    /// How much the days differ from their own average, or, where that explains them better, from what their clicks
    /// let expect.
    private func dispersionOfPast(
        _ past: Range<Int>,
        _ odds: (value: Double, variance: Double),
        _ usual: DriftExpectation
    ) -> Double {
        let plain = dispersion(past) { _ in (odds.value, 0) }
        guard plain > 1, series.clicksToACheck(past, against: past) != nil else { return plain }
        let explained = dispersion(past) { day in
            guard let supply = series.clicksToACheck(day..<day + 1, against: past) else {
                return (odds.value, 0)
            }
            let rate = min(max(usual.rate * supply, 1e-6), 0.99)
            return (cmath_log(rate / (1 - rate)), 0)
        }
        return min(plain, explained)
    }

    /// How much more than chance the days differ from what each of them let expect; 1 for nothing more.
    private func dispersion(
        _ days: Range<Int>,
        expecting: (_ day: Int) -> (value: Double, variance: Double)
    ) -> Double {
        var surprise = 0.0
        var count = 0.0
        for day in days where series.own[day].trials > 0 {
            let (trials, matches) = series.own[day].bounded
            let expected = expecting(day)
            let rate = DriftExpectation(logOdds: expected.value, variance: 0).rate
            let spread = trials * rate * (1 - rate)
            let difference = matches - trials * rate
            let variance = spread * (1 + spread * expected.variance)
            surprise += min(Self.largestSurprise, difference * difference / variance)
            count += 1
        }
        return max(1, (Self.dispersionDays + surprise) / (Self.dispersionDays + max(0, count - 1)))
    }
}
