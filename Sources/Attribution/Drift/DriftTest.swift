internal import CMath

/// How far a rate has fallen below the expected one.
struct DriftDrop: Equatable {
    /// The rate of the newest days.
    let rate: Double
    /// The expected rate: the lower of the rates that the group's own past and the rest of its app suggest.
    let expected: Double
    /// The rate of the past on which both expectations are based.
    let usual: Double
    /// The significance of the drop in standard deviations; 0 or below if there is none.
    let score: Double
    /// The number of newest days that were compared.
    let days: Int
    /// The number of matches that the expected rate predicts for the newest days, minus their matches.
    let missing: Double
}

/// The change test: a generalised likelihood ratio of the newest days against the days before them.
///
/// Each of ``windows`` is a number of newest days. The test compares two likelihoods of the newest days' counts: one
/// with the rate of the days before, one with the newest days' own rate. The past has the weight of a number of trials:
/// the number that would make a rate as uncertain as the rate of the past. So a short past proves little. The test
/// divides the logarithm of the likelihood ratio by the dispersion: the factor by which past days differ more than by
/// chance (quasi-likelihood). So the usual variation within a week is not significant.
///
/// The rate is compared with two expectations, and the smaller significance counts. One is the group's own past,
/// lowered if the numbers of clicks explain a lower rate. The other is that past, changed as much as the rest of the
/// app has changed since.
///
/// Sources: Siegmund and Venkatraman: Using the generalized likelihood ratio statistic for sequential
/// detection of a change-point (1995), for an unknown baseline; Lai: Sequential changepoint detection in
/// quality control and dynamical systems (1995), for a limited number of window lengths; McCullagh and
/// Nelder: Generalized Linear Models (1989), 4.5, for the dispersion.
struct DriftTest {
    let series: DriftSeries

    /// The numbers of newest days in which a change is sought.
    static let windows = [1, 2, 3, 5, 7]
    /// The number of days before the newest ones that define the usual rate.
    static let baselineDays = 28
    /// The smallest number of days that a past needs: a week contains each weekday once.
    static let minimumBaselineDays = 7
    /// Returns the smallest significance that raises an alarm; higher for clicks, which lead to few matches
    /// and belong to different campaigns.
    ///
    /// The values come from simulations (see the tests), in which steady traffic raises an alarm far less
    /// often than once a month.
    static func threshold(of side: DriftSide) -> Double { side == .launch ? 4 : 4.5 }
    /// The smallest relative drop that raises an alarm, however significant it is.
    static let minimumRelativeDrop = 0.2
    /// The smallest ``DriftDrop/missing`` that raises an alarm.
    static let minimumMissingMatches = 10.0

    /// The weight, in days, of the assumption that days differ only by chance.
    private static let dispersionDays = 6.0
    /// The limit of one day's deviance: one outage must not mask drops for a month.
    private static let maximumDailyDeviance = 16.0
    /// The standard deviation of the difference between a group's change and the change of the rest of its
    /// app, as a share of the rest's change.
    private static let unevenness = 0.3

    /// Returns the most significant drop that raises an alarm; nil if none does.
    ///
    /// `threshold` is the smallest significance that raises an alarm.
    func drop(above threshold: Double) -> DriftDrop? {
        Self.windows.compactMap { compare(newest: $0, from: $0) }.filter { drop in
            drop.score >= threshold && drop.rate <= (1 - Self.minimumRelativeDrop) * drop.expected
                && drop.missing >= Self.minimumMissingMatches
        }
        .max { $0.score < $1.score }
    }

    /// Compares the newest `days` with up to ``baselineDays`` days that ended `offset` days ago.
    ///
    /// Nil if the earlier days are fewer than ``minimumBaselineDays``, if they overlap with the newest ones, or if the
    /// newest days have no trial.
    func compare(newest days: Int, from offset: Int) -> DriftDrop? {
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
                let restOdds = rest[day].logOdds
                return (odds.value + restOdds.value - usualRest.value, restOdds.variance)
            }
            score = min(score, Self.score(recent, relative, dispersion))
            if relative.rate < expected.rate { expected = relative }
        }
        return DriftDrop(
            rate: rate,
            expected: expected.rate,
            usual: usual.rate,
            score: score,
            days: days,
            missing: expected.rate * recent.bounded.trials - recent.bounded.matches
        )
    }

    /// Returns the square root of twice the log likelihood ratio divided by the dispersion; negative for a rise.
    private static func score(_ recent: DriftCount, _ expected: DriftExpectation, _ dispersion: Double)
        -> Double
    {
        let (trials, matches) = recent.bounded
        let rate = expected.rate
        // The number of trials whose rate would be as uncertain as the expected rate.
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

    /// Returns the dispersion of the past around its average or around the rates that its clicks suggest,
    /// whichever is smaller.
    private func dispersionOfPast(
        _ past: Range<Int>,
        _ odds: (value: Double, variance: Double),
        _ usual: DriftExpectation
    ) -> Double {
        let plain = dispersion(past) { _ in (odds.value, 0) }
        guard plain > 1, series.clicksToACheck(past, against: past) != nil else { return plain }
        let explained = dispersion(past) { day in
            guard let supply = series.clicksToACheck(day..<day + 1, against: past)
            else { return (odds.value, 0) }
            let rate = min(max(usual.rate * supply, 1e-6), 0.99)
            return (cmath_log(rate / (1 - rate)), 0)
        }
        return min(plain, explained)
    }

    /// Returns the factor by which the days differ more than by chance from the expected log odds; at least 1.
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

/// The daily counts by which a group's rate is judged, the newest day first.
struct DriftSeries {
    /// The numbers of clicks that a group's matches come from; a change of these numbers can explain a lower rate.
    enum Supply {
        /// The daily clicks and checks of a launch group's platform: with fewer clicks per check, fewer
        /// checks can match.
        case clicks([Int64], checks: [Int64])
        /// The group's own clicks: more clicks without more matches mean an ineffective campaign, not a fault.
        case ownTrials
        /// The number of clicks does not matter.
        case steady
    }

    let own: [DriftCount]
    /// The counts of all other groups of the side; nil for the group of all launches.
    let rest: [DriftCount]?
    var supply = Supply.steady

    /// The number of days since the first day with a trial, including that day.
    var knownDays: Int { (own.lastIndex { $0.trials > 0 } ?? -1) + 1 }

    /// Returns the factor, at most 1, by which a change of the supply lowers the rate, and the variance of its
    /// logarithm.
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

    /// Returns the recent number of clicks per check as a multiple of the past number; nil without clicks in
    /// the past, and for a supply other than `clicks`.
    func clicksToACheck(_ recent: Range<Int>, against past: Range<Int>) -> Double? {
        // An app whose clicks are recorded elsewhere has no clicks to compare.
        guard case .clicks(let clicks, let checks) = supply, Self.sum(clicks, past) > 0 else { return nil }
        return Self.ratio(Self.sum(clicks, recent), Self.sum(checks, recent))
            * Self.ratio(Self.sum(checks, past), Self.sum(clicks, past))
    }

    private static func sum(_ counts: [Int64], _ days: Range<Int>) -> Int64 { counts[days].reduce(0, +) }

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

/// An expected rate, and how uncertain it is.
struct DriftExpectation {
    let rate: Double
    /// The variance of the log odds.
    let variance: Double

    /// Creates a rate from its log odds, which are clamped so that it is neither 0 nor 1.
    init(logOdds: Double, variance: Double) {
        let odds = cmath_exp(min(max(logOdds, -12), 12))
        rate = odds / (1 + odds)
        self.variance = variance
    }

    /// Creates the usual rate, lowered by a shortage.
    init(_ usual: DriftExpectation, shortage: (ratio: Double, variance: Double)) {
        rate = usual.rate * shortage.ratio
        let slope = 1 - rate
        variance = usual.variance + shortage.variance / (slope * slope)
    }
}

/// The daily counts of each group up to one time: the input of the detector.
///
/// A day consists of 24 hours, and the last day ends at that time. So every day contains each hour once.
public struct DriftHistory: Sendable {
    /// The length of the spans for which counts are stored, six hours; the detector runs at the end of each.
    public static let periodMilliseconds: Int64 = 21_600_000
    /// The number of days that are read: an alarm may last ``DriftDetector/maximumAlarmDays`` days, and is
    /// judged by the days before it.
    public static let retainedDays = DriftDetector.maximumAlarmDays + DriftTest.baselineDays

    /// The end of the last complete span.
    public let end: Timestamp
    /// The days of each group that has any count, the newest first.
    public private(set) var days: [DriftGroup: [DriftCount]] = [:]

    private static let day: Int64 = 86_400_000

    /// - Parameter end: the end of the last complete span, from ``end(at:)``.
    public init(end: Timestamp) { self.end = end }

    /// Returns the end of the last complete span at a time, which is the start of the span that contains the time.
    public static func end(at time: Timestamp) -> Timestamp { Granularity.quarter.start(of: time) }

    /// Returns the start of the first span that is read if the last complete one ended at `end`.
    public static func start(before end: Timestamp) -> Timestamp {
        end.advanced(byMilliseconds: -Int64(retainedDays) * day)
    }

    /// Adds the count of the span that starts at `period`; ignores a span older than ``retainedDays``, and
    /// one that starts at ``end`` or later.
    public mutating func add(_ count: DriftCount, of group: DriftGroup, in period: Timestamp) {
        let age = end.milliseconds(since: period)
        guard age > 0, age <= Int64(Self.retainedDays) * Self.day else { return }
        days[group, default: Array(repeating: DriftCount(), count: Self.retainedDays)][
            Int((age - 1) / Self.day)
        ] += count
    }

    /// Returns the days of each watched group, the newest first; each list includes the days of the groups that the
    /// watched group pools.
    public func days(of watched: Set<DriftGroup>) -> [DriftGroup: [DriftCount]] {
        var sums: [DriftGroup: [DriftCount]] = [:]
        for (group, counts) in days {
            let pools = DriftPooling.ancestry(of: group)
            guard let owner = pools.first(where: watched.contains) else { continue }
            sums[owner] = sums[owner].map { DriftPooling.sum($0, counts) } ?? counts
        }
        for group in watched where group.isWhole { sums[group] = sum(group.side) }
        return sums
    }

    /// Returns the daily sums over all groups of one side that fulfil a condition, the newest day first.
    func sum(_ side: DriftSide, where isIncluded: (DriftGroup) -> Bool = { _ in true }) -> [DriftCount] {
        var sum = Array(repeating: DriftCount(), count: Self.retainedDays)
        for (group, days) in days where group.side == side && isIncluded(group) {
            for index in sum.indices { sum[index] += days[index] }
        }
        return sum
    }
}

/// Pools groups that have too few matches to be judged by themselves.
///
/// Each group of a side becomes part of exactly one watched group: itself, the others of its OS version (for
/// a click: of its browser), the others of its platform, or all others.
struct DriftPooling {
    private typealias Days = [DriftGroup: [DriftCount]]

    /// The watched groups with their days, the newest first.
    private(set) var groups: [DriftGroup: [DriftCount]] = [:]

    /// A group with fewer matches a day than this on average is pooled, unless it has an alarm.
    static let minimumDailyMatches = 4.0
    /// The largest number of groups of one side that are not pooled; groups with an alarm may exceed it.
    static let maximumGroups = 40
    /// The number of newest days over which the size of a group is measured.
    private static let sizedDays = DriftTest.baselineDays + 7

    /// - Parameters:
    ///   - history: the counts of all groups.
    ///   - side: the side to pool.
    ///   - kept: groups that are never pooled, because they have an alarm.
    init(_ history: DriftHistory, side: DriftSide, keeping kept: Set<DriftGroup>) {
        var pending = history.days.filter { $0.key.side == side }
        for level in 0..<3 {
            let large = pending.filter {
                kept.contains($0.key) || Self.size($0.value) >= Self.minimumDailyMatches
            }
            // Equal sizes are ordered by name, so that the choice is always the same.
            let ordered = large.keys.sorted { left, right in
                let sizes = (Self.size(large[left] ?? []), Self.size(large[right] ?? []))
                return sizes.0 == sizes.1 ? left < right : sizes.0 > sizes.1
            }
            let room = max(0, Self.maximumGroups - groups.count)
            for group in ordered.prefix(room) + ordered.dropFirst(room).filter(kept.contains) {
                groups[group] = pending.removeValue(forKey: group)
            }
            pending = Self.pooled(pending, level)
        }
        groups.merge(pending, uniquingKeysWith: Self.sum)
    }

    /// Returns the average number of matches a day in the newest ``sizedDays`` days, or since the group's
    /// first day if that is later.
    private static func size(_ days: [DriftCount]) -> Double {
        let recent = days.prefix(sizedDays)
        guard let oldest = recent.lastIndex(where: { $0.trials > 0 }) else { return 0 }
        return Double(recent.sum.matches) / Double(oldest + 1)
    }

    private static func pooled(_ groups: Days, _ level: Int) -> Days {
        Dictionary(groups.map { (parent(of: $0.key, level), $0.value) }, uniquingKeysWith: sum)
    }

    /// Returns a group, and then the groups that it may become a part of, the smallest first.
    fileprivate static func ancestry(of group: DriftGroup) -> [DriftGroup] {
        (0..<3).reduce(into: [group]) { $0.append(parent(of: $0[$0.count - 1], $1)) }
    }

    private static func parent(of group: DriftGroup, _ level: Int) -> DriftGroup {
        let isClick = group.side == .click
        return switch level {
        case 0:
            DriftGroup(
                group.side,
                platform: group.platform,
                osVersion: isClick ? .others : group.osVersion,
                client: isClick ? group.client : .others
            )
        case 1: DriftGroup(group.side, platform: group.platform, osVersion: .others, client: .others)
        default: DriftGroup(group.side, platform: .others, osVersion: .others, client: .others)
        }
    }

    fileprivate static func sum(_ left: [DriftCount], _ right: [DriftCount]) -> [DriftCount] {
        zip(left, right).map { $0 + $1 }
    }
}
