internal import CMath

/// How far a rate has fallen below the expected one.
struct DriftFall: Equatable {
    /// The rate of the newest days.
    let rate: Double
    /// The lower of the rates that the group's own past and the rest of its app suggest.
    let expected: Double
    /// The rate of the past on which both are based.
    let usual: Double
    /// The significance of the drop in standard deviations; 0 or below if there is none.
    let score: Double
    /// The number of the newest days.
    let days: Int
    /// The number of missing matches.
    let missing: Double
}

/// The change test: a generalised likelihood ratio of the newest days against the days before them.
///
/// For each of several lengths of the newest days, the likelihood of their counts at one rate with the days
/// before is compared with that at a rate of their own. The uncertainty of the past enters as the number of
/// trials that it is worth, so that a short past proves little. Both are divided by how much more than chance
/// the days of the past differ among themselves (quasi-likelihood): what a group does every week is not
/// significant.
///
/// The rate must miss two expectations, and the one that it misses by less counts: the group's own past, made
/// rarer if there are fewer clicks to bring matches; and that past changed by as much as the rest of the app
/// has changed since.
///
/// Sources: Siegmund and Venkatraman: Using the generalized likelihood ratio statistic for sequential
/// detection of a change-point (1995), for an unknown baseline; Lai: Sequential changepoint detection in
/// quality control and dynamical systems (1995), for a limited number of window lengths; McCullagh and
/// Nelder: Generalized Linear Models (1989), 4.5, for the dispersion.
struct DriftTest {
    let series: DriftSeries

    /// The numbers of newest days in which a change is sought.
    static let windows = [1, 2, 3, 5, 7]
    /// The number of days before them that define the usual rate.
    static let baselineDays = 28
    /// The smallest number of days of a past: a week contains each of its days once.
    static let minimumBaselineDays = 7
    /// Returns the significance from which on a drop raises an alarm; higher for clicks, which lead to few
    /// matches and belong to different campaigns.
    ///
    /// Simulated, see the tests: with these, steady traffic alarms far more seldom than once a month.
    static func threshold(of side: DriftSide) -> Double { side == .launch ? 4 : 4.5 }
    /// The smallest relative drop that raises an alarm, however significant it is.
    static let minimumRelativeDrop = 0.2
    /// The smallest number of missing matches that raises an alarm.
    static let minimumMissingMatches = 10.0

    /// The days without more than chance that count as a prior of the dispersion.
    private static let dispersionDays = 6.0
    /// The largest deviance of one day: an outage must not mask drops for a month.
    private static let maximumDailyDeviance = 16.0
    /// How unevenly the parts of an app move when the rest of it moves.
    private static let unevenness = 0.3

    /// Returns the most significant drop that raises an alarm, if any; `threshold` is the smallest
    /// significance.
    func fall(above threshold: Double) -> DriftFall? {
        Self.windows.compactMap { compare(newest: $0, from: $0) }.filter { fall in
            fall.score >= threshold && fall.rate <= (1 - Self.minimumRelativeDrop) * fall.expected
                && fall.missing >= Self.minimumMissingMatches
        }
        .max { $0.score < $1.score }
    }

    /// Compares the newest `days` with the days from `offset` on; nil if the past is too short or the days
    /// are empty.
    func compare(newest days: Int, from offset: Int) -> DriftFall? {
        guard days <= offset, offset + Self.minimumBaselineDays <= series.knownDays else { return nil }
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

    /// Returns the signed root of the likelihood ratio, divided by the root of the dispersion.
    private static func score(_ recent: DriftCount, _ expected: DriftExpectation, _ dispersion: Double)
        -> Double
    {
        let (trials, matches) = recent.bounded
        let rate = expected.rate
        // The number of trials that would leave the rate as uncertain as it is.
        let worth = 1 / (expected.variance * rate * (1 - rate))
        let apart = likelihood(matches, trials) + likelihood(worth * rate, worth)
        let together = likelihood(matches + worth * rate, trials + worth)
        let root = (2 * max(0, apart - together) / dispersion).squareRoot()
        return matches < rate * trials ? root : -root
    }

    /// Returns the logarithm of the largest likelihood of this number of matches.
    private static func likelihood(_ matches: Double, _ trials: Double) -> Double {
        term(matches, trials) + term(trials - matches, trials)
    }

    private static func term(_ count: Double, _ trials: Double) -> Double {
        count > 0 ? count * cmath_log(count / trials) : 0
    }

    /// Returns how much the days differ from their own average, or, if that explains them better, from what
    /// their clicks suggest.
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

    /// Returns how much more than by chance the days differ from what each of them suggests; 1 for no more.
    private func dispersion(
        _ days: Range<Int>,
        expecting: (_ day: Int) -> (value: Double, variance: Double)
    ) -> Double {
        var deviance = 0.0
        var count = 0.0
        for day in days where series.own[day].trials > 0 {
            let (trials, matches) = series.own[day].bounded
            let expected = expecting(day)
            let rate = DriftExpectation(logOdds: expected.value, variance: 0).rate
            let spread = trials * rate * (1 - rate)
            let difference = matches - trials * rate
            let variance = spread * (1 + spread * expected.variance)
            deviance += min(Self.maximumDailyDeviance, difference * difference / variance)
            count += 1
        }
        return max(1, (Self.dispersionDays + deviance) / (Self.dispersionDays + max(0, count - 1)))
    }
}
