internal import CMath

/// The counts that a group's rate is judged by, a day each, the newest first.
struct DriftSeries {
    /// What a group's matches come from, now and before.
    enum Supply {
        /// Clicks and checks of a launch's platform: with fewer clicks per check, fewer checks can match.
        case clicks([Int64], checks: [Int64])
        /// The group's own clicks: more clicks than usual without more matches mean an ineffective campaign,
        /// not a fault.
        case ownTrials
        case steady
    }

    let own: [DriftCount]
    /// The counts of all other groups of the side; nil for the whole.
    let rest: [DriftCount]?
    let supply: Supply

    /// The number of days from the first one with a trial.
    var knownDays: Int { (own.lastIndex { $0.trials > 0 } ?? -1) + 1 }

    init(own: [DriftCount], rest: [DriftCount]?, supply: Supply = .steady) {
        self.own = own
        self.rest = rest
        self.supply = supply
    }

    /// Returns the factor, at most 1, by which a smaller supply makes matches rarer, and the variance of its
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

    /// Returns the clicks per check as a multiple of the past ones; nil without clicks in the past.
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

/// An expected rate, and how well it is known.
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

/// Counts by group of the days before one time: the input of the detector.
///
/// A day is the 24 hours that end at that time or a whole number of days before it, so that every day
/// contains each hour once.
public struct DriftHistory: Sendable {
    /// The length of the spans for which counts are stored: the detector runs at the end of each.
    public static let periodMilliseconds: Int64 = 21_600_000
    /// The number of days that are read: an alarm may last ``DriftDetector/maximumAlarmDays`` days, and is
    /// judged by the days before it.
    public static let retainedDays = DriftDetector.maximumAlarmDays + DriftTest.baselineDays

    /// The end of the last complete span.
    public let end: Timestamp
    /// The days of each group that has any count, the newest first.
    public private(set) var days: [DriftGroup: [DriftCount]] = [:]

    private static let day: Int64 = 86_400_000

    /// - Parameter end: see ``end(at:)``.
    public init(end: Timestamp) { self.end = end }

    /// Returns the start of the span that contains a time: everything before it is complete.
    public static func end(at moment: Timestamp) -> Timestamp {
        let remainder = moment.milliseconds % periodMilliseconds
        return moment.advanced(byMilliseconds: remainder < 0 ? -remainder - periodMilliseconds : -remainder)
    }

    /// Returns the start of the first span that is read when the last one ended at `end`.
    public static func start(before end: Timestamp) -> Timestamp {
        end.advanced(byMilliseconds: -Int64(retainedDays) * day)
    }

    /// Adds the count of the span that starts at `period`; ignores one that is too old or not over yet.
    public mutating func add(_ count: DriftCount, of group: DriftGroup, in period: Timestamp) {
        let age = end.milliseconds(since: period)
        guard age > 0, age <= Int64(Self.retainedDays) * Self.day else { return }
        days[group, default: Array(repeating: DriftCount(), count: Self.retainedDays)][
            Int((age - 1) / Self.day)
        ] += count
    }

    /// Sets all days of a group at once, the newest first.
    public mutating func set(_ days: [DriftCount], of group: DriftGroup) {
        let missing = max(0, Self.retainedDays - days.count)
        self.days[group] = days.prefix(Self.retainedDays) + Array(repeating: DriftCount(), count: missing)
    }

    /// Returns the sums of all groups of one side that fulfil a condition.
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
    /// The watched groups with their days, the newest first.
    private(set) var groups: [DriftGroup: [DriftCount]] = [:]

    /// The smallest average number of matches a day of a group that is not pooled.
    static let minimumDailyMatches = 4.0
    /// The largest number of groups of one side that are not pooled.
    static let maximumGroups = 40
    /// The number of days over which the size of a group is measured.
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

    /// Returns the matches a day since the group was first seen.
    private static func size(_ days: [DriftCount]) -> Double {
        let recent = days.prefix(sizedDays)
        guard let oldest = recent.lastIndex(where: { $0.trials > 0 }) else { return 0 }
        return Double(recent.sum.matches) / Double(oldest + 1)
    }

    private static func pooled(_ groups: [DriftGroup: [DriftCount]], _ level: Int) -> [DriftGroup:
        [DriftCount]]
    {
        Dictionary(groups.map { (parent(of: $0.key, level), $0.value) }, uniquingKeysWith: sum)
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

    private static func sum(_ left: [DriftCount], _ right: [DriftCount]) -> [DriftCount] {
        zip(left, right).map { $0 + $1 }
    }
}
