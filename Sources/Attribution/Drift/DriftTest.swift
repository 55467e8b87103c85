internal import CMath

/// How far a rate has fallen below the expected one.
struct DriftFall: Equatable {
    /// The rate of the newest days.
    let rate: Double
    /// The rate to expect: the lower of those that the group's own past and the rest of its app suggest.
    let expected: Double
    /// The rate of the past on which both expectations are based.
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
/// For several numbers of newest days, the test compares two likelihoods of their counts: with the rate of
/// the days before, and with a rate of their own. The past counts as the number of trials that would leave
/// its rate as uncertain, so that a short past proves little. Both likelihoods are divided by the dispersion
/// of the past, by which its days differ more than by chance (quasi-likelihood), so that weekly variation is
/// not significant.
///
/// The rate is compared with two expectations, and the smaller significance counts. One is the group's own
/// past, lowered if fewer clicks can lead to matches. The other is that past, changed as much as the rest of
/// the app has changed since.
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
    /// The smallest number of days of a past: a week contains each weekday once.
    static let minimumBaselineDays = 7
    /// Returns the smallest significance that raises an alarm; higher for clicks, which lead to few matches
    /// and belong to different campaigns.
    ///
    /// The values are from simulations, see the tests: steady traffic raises an alarm far less often than
    /// once a month.
    static func threshold(of side: DriftSide) -> Double { side == .launch ? 4 : 4.5 }
    /// The smallest relative drop that raises an alarm, however significant it is.
    static let minimumRelativeDrop = 0.2
    /// The smallest number of missing matches that raises an alarm.
    static let minimumMissingMatches = 10.0

    /// The prior of the dispersion: this number of days that differ only by chance.
    private static let dispersionDays = 6.0
    /// The largest deviance of one day: an outage must not mask drops for a month.
    private static let maximumDailyDeviance = 16.0
    /// The relative spread of a group's change when the rest of its app changes.
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

    /// Compares the newest `days` with those from `offset` on; nil if the past is too short or the newest
    /// days are empty.
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

    /// Returns the dispersion of the past around its average, or around the rates that its clicks suggest if
    /// that is smaller.
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

    /// Returns by which factor the days differ more than by chance from the expected log odds; at least 1.
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
