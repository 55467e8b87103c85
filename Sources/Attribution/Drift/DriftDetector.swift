/// Evaluates at the end of each span of ``DriftHistory`` whether the match rate of any group has fallen, and
/// whether fallen rates have recovered.
///
/// The only state between two evaluations is the list of current alarms.
public struct DriftDetector {
    /// The result of an evaluation.
    public struct Findings: Equatable, Sendable {
        /// Every watched group, including the whole of the launches, ordered by name.
        public var readings: [DriftReading] = []
        /// The alarms that started or ended.
        public var events: [DriftEvent] = []

        public init() {}

        /// The current alarms.
        public var alarms: [DriftAlarm] { readings.compactMap(\.alarm) }
    }

    /// The number of days after which a lower rate is the usual one.
    public static let maximumAlarmDays = 35

    private let history: DriftHistory
    private let checks: [DriftCount]
    private let clicks: [DriftCount]
    private var findings = Findings()

    private static let day: Int64 = 86_400_000
    /// The number of days in which a recovered rate is measured.
    private static let recoveryDays = 2
    /// The relative drop below which an alarm ends.
    private static let recoveredShare = DriftTest.minimumRelativeDrop / 2
    /// The number of days after which a drop of the whole app raises an alarm: a group's alarm comes sooner
    /// and is more specific.
    private static let wholeDays = 2
    private static let goneDays = 7

    private init(_ history: DriftHistory) {
        self.history = history
        checks = history.sum(.launch)
        clicks = history.sum(.click)
    }

    /// Compares every group with its past.
    ///
    /// - Parameters:
    ///   - history: the counts up to the end of a span.
    ///   - alarms: the alarms of the previous evaluation, in any order.
    /// - Returns: the state of all groups, and what has changed.
    public static func evaluate(_ history: DriftHistory, alarms: [DriftAlarm]) -> Findings {
        var detector = DriftDetector(history)
        for side in DriftSide.allCases { detector.evaluate(side, alarms.filter { $0.group.side == side }) }
        detector.findings.readings.sort { $0.group < $1.group }
        return detector.findings
    }

    private mutating func evaluate(_ side: DriftSide, _ alarms: [DriftAlarm]) {
        let alarms = Dictionary(alarms.map { ($0.group, $0) }) { first, _ in first }
        let pooling = DriftPooling(history, side: side, keeping: Set(alarms.keys))
        let total = side == .launch ? checks : clicks
        for (group, days) in pooling.groups.sorted(by: { $0.key < $1.key }) {
            let rest = zip(total, days).map { $0 - $1 }
            evaluate(group, DriftSeries(own: days, rest: rest, supply: supply(of: group)), alarms[group])
        }
        // Only launches describe the whole app: the match rate of clicks depends on a campaign's audience.
        let whole = DriftGroup.whole(side)
        if side == .launch, total.contains(where: { $0.trials > 0 }) {
            evaluate(whole, DriftSeries(own: total, rest: nil, supply: supply(of: whole)), alarms[whole])
        }
        let watched = Set(findings.readings.map(\.group))
        for (group, alarm) in alarms.sorted(by: { $0.key < $1.key }) where !watched.contains(group) {
            findings.events.append(.ended(alarm, .gone))
        }
    }

    private mutating func evaluate(_ group: DriftGroup, _ series: DriftSeries, _ alarm: DriftAlarm?) {
        let test = DriftTest(series: series)
        var current = alarm
        if let alarm, let ending = ending(of: alarm, test) {
            findings.events.append(.ended(alarm, ending))
            current = nil
        } else if alarm == nil, let fall = test.fall(above: DriftTest.threshold(of: group.side)),
            raisesAlarm(fall, for: group)
        {
            let new = DriftAlarm(
                group: group,
                since: history.end.advanced(byMilliseconds: -Int64(fall.days) * Self.day),
                began: history.end,
                usualRate: fall.usual,
                rate: fall.rate
            )
            findings.events.append(.began(new))
            current = new
        }
        let newest = min(
            DriftTest.minimumBaselineDays,
            max(1, series.knownDays - DriftTest.minimumBaselineDays)
        )
        findings.readings.append(
            DriftReading(
                group: group,
                recent: series.own[0..<DriftTest.minimumBaselineDays].sum,
                usualRate: test.compare(newest: newest, from: newest)?.usual,
                alarm: current
            )
        )
    }

    /// Returns whether a drop raises an alarm.
    ///
    /// The app-wide rate stays silent while one of its groups has an alarm.
    private func raisesAlarm(_ fall: DriftFall, for group: DriftGroup) -> Bool {
        guard group.isWhole else { return true }
        return fall.days >= Self.wholeDays && !findings.alarms.contains { $0.group.side == group.side }
    }

    /// Returns why an alarm ends; nil while it continues.
    ///
    /// The rate is always compared with the days before the alarm.
    private func ending(of alarm: DriftAlarm, _ test: DriftTest) -> DriftEnding? {
        let age = Int(history.end.milliseconds(since: alarm.since) / Self.day)
        if age >= Self.maximumAlarmDays { return .lasting }
        if test.series.own[0..<Self.goneDays].sum.trials == 0 { return .gone }
        guard age >= Self.recoveryDays else { return nil }
        guard let fall = test.compare(newest: Self.recoveryDays, from: age) else { return nil }
        return fall.rate >= (1 - Self.recoveredShare) * fall.expected ? .recovered : nil
    }

    /// Returns the supply of a group: the clicks or trials that its matches come from.
    private func supply(of group: DriftGroup) -> DriftSeries.Supply {
        guard group.side == .launch else { return .ownTrials }
        guard case .value = group.platform else {
            return .clicks(clicks.map(\.trials), checks: checks.map(\.trials))
        }
        let onPlatform = { (other: DriftGroup) in other.platform == group.platform }
        return .clicks(
            history.sum(.click, where: onPlatform).map(\.trials),
            checks: history.sum(.launch, where: onPlatform).map(\.trials)
        )
    }
}
