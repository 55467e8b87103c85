/// Looks at the end of each span of ``DriftHistory`` whether the match rate of any group has fallen, and whether
/// those that had have recovered.
///
/// All that it remembers from one look to the next are the alarms that are on.
public struct DriftDetector {
    /// What a look has found.
    public struct Findings: Equatable, Sendable {
        /// Every watched group, the whole of the launches among them, in the order of their names.
        public var readings: [DriftReading] = []
        /// What has changed about alarms.
        public var events: [DriftEvent] = []

        public init() {}

        /// Those that are on now.
        public var alarms: [DriftAlarm] { readings.compactMap(\.alarm) }
    }

    /// After so many days a lower rate is the usual one.
    public static let longestAlarm = 35

    private let history: DriftHistory
    private let checks: [DriftCount]
    private let clicks: [DriftCount]
    private var findings = Findings()

    private static let day: Int64 = 86_400_000
    /// Days that a recovered rate is seen in.
    private static let recoveryDays = 2
    /// How much of a fall may be left when it is over.
    private static let recoveredShare = DriftTest.smallestShare / 2
    /// A fall of the whole app is told when it has lasted so long: one group's is told sooner, and tells more.
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
    ///   - alarms: those that were on after the look before, in any order.
    /// - Returns: how all groups are, and what has changed.
    public static func look(at history: DriftHistory, alarms: [DriftAlarm]) -> Findings {
        var watch = DriftDetector(history)
        for side in DriftSide.allCases { watch.look(at: side, alarms.filter { $0.group.side == side }) }
        watch.findings.readings.sort { $0.group < $1.group }
        return watch.findings
    }

    private mutating func look(at side: DriftSide, _ alarms: [DriftAlarm]) {
        let alarms = Dictionary(alarms.map { ($0.group, $0) }) { first, _ in first }
        let pooling = DriftPooling(history, side: side, keeping: Set(alarms.keys))
        let total = side == .launch ? checks : clicks
        for (group, days) in pooling.groups.sorted(by: { $0.key < $1.key }) {
            let rest = zip(total, days).map { $0 - $1 }
            look(at: group, DriftSeries(own: days, rest: rest, supply: supply(of: group)), alarms[group])
        }
        // What clicks lead to depends on who sees them: only launches tell of the whole.
        let whole = DriftGroup.whole(side)
        if side == .launch, total.contains(where: { $0.trials > 0 }) {
            look(at: whole, DriftSeries(own: total, rest: nil, supply: supply(of: whole)), alarms[whole])
        }
        let watched = Set(findings.readings.map(\.group))
        for (group, alarm) in alarms.sorted(by: { $0.key < $1.key }) where !watched.contains(group) {
            findings.events.append(.ended(alarm, .gone))
        }
    }

    private mutating func look(at group: DriftGroup, _ series: DriftSeries, _ alarm: DriftAlarm?) {
        let test = DriftTest(series: series)
        var current = alarm
        if let alarm, let ending = ending(of: alarm, test) {
            findings.events.append(.ended(alarm, ending))
            current = nil
        } else if alarm == nil, let fall = test.fall(above: DriftTest.threshold(of: group.side)),
            isTold(fall, of: group)
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
        let newest = min(DriftTest.fewestDays, max(1, series.knownDays - DriftTest.fewestDays))
        findings.readings.append(
            DriftReading(
                group: group,
                recent: series.own[0..<DriftTest.fewestDays].sum,
                usualRate: test.compare(newest: newest, from: newest)?.usual,
                alarm: current
            )
        )
    }

    /// One group's fall takes the whole down with it, and is told of the group alone.
    private func isTold(_ fall: DriftFall, of group: DriftGroup) -> Bool {
        guard group.isWhole else { return true }
        return fall.days >= Self.wholeDays
            && !findings.alarms.contains { $0.group.side == group.side }
    }

    /// Why an alarm is over; nil while it is not.
    ///
    /// The days before it began stay what it is judged by.
    private func ending(of alarm: DriftAlarm, _ test: DriftTest) -> DriftEnding? {
        let age = Int(history.end.milliseconds(since: alarm.since) / Self.day)
        if age >= Self.longestAlarm { return .lasting }
        if test.series.own[0..<Self.goneDays].sum.trials == 0 { return .gone }
        guard age >= Self.recoveryDays else { return nil }
        guard let fall = test.compare(newest: Self.recoveryDays, from: age) else { return nil }
        return fall.rate >= (1 - Self.recoveredShare) * fall.expected ? .recovered : nil
    }

    /// What brings matches to a group.
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
