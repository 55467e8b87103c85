/// Detects which groups' match rates have fallen or recovered.
///
/// A group is the launches of one platform, OS version and SDK version, or the clicks of one platform, OS
/// version and browser. The detector runs at the end of each six-hour span of ``DriftHistory``. The only
/// state between two runs is the list of current alarms.
public struct DriftDetector {
    /// The result of an evaluation.
    public struct Findings: Equatable, Sendable {
        /// Every watched group, including all launches as one group, in the order of ``DriftGroup``s.
        public var readings: [DriftReading] = []
        /// The alarms that started or ended.
        public var events: [DriftEvent] = []

        public init() {}

        public var alarms: [DriftAlarm] { readings.compactMap(\.alarm) }
    }

    /// An alarm ends this many days after the drop, because the lower rate then counts as the usual one.
    public static let maximumAlarmDays = 35

    private let history: DriftHistory
    private let checks: [DriftCount]
    private let clicks: [DriftCount]
    private var findings = Findings()

    private static let day: Int64 = 86_400_000
    /// The number of newest days over which a recovery is measured.
    private static let recoveryDays = 2
    /// If the relative drop is at most this large, the alarm ends.
    private static let recoveredShare = DriftTest.minimumRelativeDrop / 2
    /// An app-wide drop raises an alarm only if it covers at least this many days.
    ///
    /// A group's alarm, which is more specific, may come after one day.
    private static let wholeDays = 2
    /// If a group has had no checks or clicks for this many days, its alarm ends.
    private static let goneDays = 7

    private init(_ history: DriftHistory) {
        self.history = history
        checks = history.sum(.launch)
        clicks = history.sum(.click)
    }

    /// Compares every group with its past and with the rest of the app.
    ///
    /// - Parameters:
    ///   - history: the counts up to the end of a span.
    ///   - alarms: the alarms of the previous evaluation, in any order.
    /// - Returns: the state of all groups, and the alarms that started or ended.
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
        } else if alarm == nil, let drop = test.drop(above: DriftTest.threshold(of: group.side)),
            raisesAlarm(drop, for: group)
        {
            let new = DriftAlarm(
                group: group,
                since: history.end.advanced(byMilliseconds: -Int64(drop.days) * Self.day),
                began: history.end,
                usualRate: drop.usual,
                rate: drop.rate
            )
            findings.events.append(.began(new))
            current = new
        }
        let baseline = DriftTest.minimumBaselineDays
        let newest = min(baseline, max(1, series.knownDays - baseline))
        findings.readings.append(
            DriftReading(
                group: group,
                recent: series.own[0..<baseline].sum,
                usualRate: test.compare(newest: newest, from: newest)?.usual,
                alarm: current
            )
        )
    }

    /// Returns whether a significant drop of a group raises an alarm.
    ///
    /// The app-wide rate raises none while a group of the side has an alarm, or while the drop covers fewer
    /// than ``wholeDays`` days.
    private func raisesAlarm(_ drop: DriftDrop, for group: DriftGroup) -> Bool {
        guard group.isWhole else { return true }
        return drop.days >= Self.wholeDays && !findings.alarms.contains { $0.group.side == group.side }
    }

    /// Returns why an alarm ends; nil while it continues.
    ///
    /// The rate is always compared with the days before ``DriftAlarm/since``.
    private func ending(of alarm: DriftAlarm, _ test: DriftTest) -> DriftEnding? {
        let age = Int(history.end.milliseconds(since: alarm.since) / Self.day)
        if age >= Self.maximumAlarmDays { return .lasting }
        if test.series.own[0..<Self.goneDays].sum.trials == 0 { return .gone }
        guard age >= Self.recoveryDays else { return nil }
        guard let drop = test.compare(newest: Self.recoveryDays, from: age) else { return nil }
        return drop.rate >= (1 - Self.recoveredShare) * drop.expected ? .recovered : nil
    }

    /// Returns the daily numbers of clicks that can lead to a group's matches.
    private func supply(of group: DriftGroup) -> DriftSeries.Supply {
        guard group.side == .launch else { return .ownTrials }
        guard case .value = group.platform
        else { return .clicks(clicks.map(\.trials), checks: checks.map(\.trials)) }
        let onPlatform = { (other: DriftGroup) in other.platform == group.platform }
        return .clicks(
            history.sum(.click, where: onPlatform).map(\.trials),
            checks: history.sum(.launch, where: onPlatform).map(\.trials)
        )
    }
}

/// A match rate that has fallen, from the time the drop was detected until a ``DriftEnding``.
public struct DriftAlarm: Equatable, Sendable {
    public let group: DriftGroup
    /// The approximate time of the drop: the start of the newest days over which the drop is most significant.
    public let since: Timestamp
    /// When the drop was detected.
    public let began: Timestamp
    /// The rate over at most four weeks before ``since``, 0…1.
    public let usualRate: Double
    /// The rate from ``since`` until the drop was detected, 0…1.
    public let rate: Double

    public init(group: DriftGroup, since: Timestamp, began: Timestamp, usualRate: Double, rate: Double) {
        (self.group, self.since, self.began) = (group, since, began)
        (self.usualRate, self.rate) = (usualRate, rate)
    }
}

/// Why an alarm ended.
///
/// The raw value is the word in the log.
public enum DriftEnding: String, Sendable {
    /// The rate of the newest two days is near the expected one again.
    case recovered
    /// The rate has been low for ``DriftDetector/maximumAlarmDays`` days and is now the usual one.
    case lasting
    /// The group has had no checks or clicks for a week.
    case gone
}

/// The start or the end of an alarm.
public enum DriftEvent: Equatable, Sendable {
    case began(DriftAlarm)
    case ended(DriftAlarm, DriftEnding)
}

/// The state of a watched group.
public struct DriftReading: Equatable, Sendable {
    /// The raw value is the word in the database and in the JSON.
    public enum Status: String, CaseIterable, Sendable {
        /// There is less than a week of earlier days to compare with, or the newest days have no checks or clicks.
        case learning
        case steady
        case falling
    }

    public let group: DriftGroup
    /// The checks or clicks of the newest seven days, and their matches.
    public let recent: DriftCount
    /// The share that matched before the alarm's ``DriftAlarm/since``; without an alarm, before the newest days.
    ///
    /// Nil if the status is ``Status/learning``.
    ///
    /// The newest days are the seven days of ``recent``, or fewer days if the counts cover less than two weeks.
    public let usualRate: Double?
    /// The current alarm; nil unless ``Status/falling``.
    public let alarm: DriftAlarm?

    public init(group: DriftGroup, recent: DriftCount, usualRate: Double?, alarm: DriftAlarm? = nil) {
        self.group = group
        self.recent = recent
        self.usualRate = alarm?.usualRate ?? usualRate
        self.alarm = alarm
    }

    public var status: Status { alarm != nil ? .falling : usualRate == nil ? .learning : .steady }
}

/// The state of the match rates of an app's groups.
public struct AppDrift: Equatable, Sendable {
    public let app: AppID
    /// The groups with an alarm, then the others, both in the order of ``DriftGroup``s.
    public var readings: [DriftReading]

    /// The usual maximum of groups in a report of all apps; every further group that has an alarm is listed, too.
    public static let groupLimit = 500

    public init(app: AppID, readings: [DriftReading]) {
        self.app = app
        self.readings = readings
    }
}

extension DriftGroup {
    /// The group's name for people: `launches on iOS 26.1 with SDK 1.8.9`.
    public var title: String {
        let events = side == .launch ? "launches" : "clicks"
        guard !isWhole else { return "all \(events)" }
        guard platform != .others else { return "all other \(events)" }
        return "\(events) on \(system)\(program)"
    }

    private var system: String {
        guard case .value(let text) = platform else { return "unknown systems" }
        let name =
            [Platform.ios.rawValue: "iOS", Platform.android.rawValue: "Android"][text] ?? "other systems"
        return switch osVersion {
        case .value(let version): "\(name) \(version)"
        case .unknown: "\(name) of unknown version"
        case .others, .all: name
        }
    }

    private var program: String {
        switch (side, client) {
        case (_, .all): ""
        case (.launch, .value(let version)): " with SDK \(version)"
        case (.launch, .unknown): " with an unknown SDK"
        case (.launch, .others): osVersion == .others ? " (other versions and SDKs)" : " with other SDKs"
        case (.click, .value(let browser)): " in \(browser)\(osVersion == .others ? " (other versions)" : "")"
        case (.click, .unknown): " in an unknown browser"
        case (.click, .others): " in other browsers"
        }
    }
}

extension DriftEvent {
    /// The event in one sentence, for a log.
    public var sentence: String {
        switch self {
        case .began(let alarm):
            "the match rate of \(alarm.group.title) fell from \(Self.percent(alarm.usualRate)) to"
                + " \(Self.percent(alarm.rate)) since about \(alarm.since.iso8601), below the rate that its past"
                + " and the rest of the app suggest. A release of the SDK, a system or a browser may send other"
                + " signals than before"
        case .ended(let alarm, .recovered):
            "the match rate of \(alarm.group.title) is back near its usual \(Self.percent(alarm.usualRate))"
        case .ended(let alarm, .lasting):
            "the match rate of \(alarm.group.title) has stayed low for \(DriftDetector.maximumAlarmDays) days"
                + " and counts as the usual one from now on"
        case .ended(let alarm, .gone): "there are no more \(alarm.group.title), whose match rate had fallen"
        }
    }

    private static func percent(_ rate: Double) -> String {
        let tenths = Int(min(max(rate, 0), 1) * 1000 + 0.5)
        return "\(tenths / 10).\(tenths % 10) %"
    }
}
