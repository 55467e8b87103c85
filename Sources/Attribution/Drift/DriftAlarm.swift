/// A match rate that has fallen, from the time it was detected until it has recovered.
public struct DriftAlarm: Equatable, Sendable {
    public let group: DriftGroup
    /// The approximate time of the drop: the start of the days for which it is most significant.
    public let since: Timestamp
    /// When the drop was detected.
    public let began: Timestamp
    /// The rate of the four weeks before ``since``, 0…1.
    public let usualRate: Double
    /// The rate from ``since`` until the drop was detected, 0…1.
    public let rate: Double

    public init(group: DriftGroup, since: Timestamp, began: Timestamp, usualRate: Double, rate: Double) {
        self.group = group
        self.since = since
        self.began = began
        self.usualRate = usualRate
        self.rate = rate
    }
}

/// Why an alarm ended.
///
/// The raw value is the word in the log.
public enum DriftEnding: String, Sendable {
    /// The rate is as expected again.
    case recovered
    /// The rate has been low for ``DriftDetector/maximumAlarmDays`` days and is now the usual one.
    case lasting
    /// The group has had no checks or clicks for a week.
    case gone
}

public enum DriftEvent: Equatable, Sendable {
    case began(DriftAlarm)
    case ended(DriftAlarm, DriftEnding)
}

/// The state of a watched group.
public struct DriftReading: Equatable, Sendable {
    /// The raw value is the word in the database and in the JSON.
    public enum Status: String, CaseIterable, Sendable {
        /// There is less than a week of history to compare with.
        case learning
        case steady
        case falling
    }

    public let group: DriftGroup
    /// The checks or clicks of the newest seven days.
    public let recent: DriftCount
    /// The share that matched before; nil while ``Status/learning``.
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
    /// Groups with an alarm first, then by name.
    public var readings: [DriftReading]

    /// The number of groups in a report, over all its apps, beyond which only those with an alarm are listed.
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
                + " \(Self.percent(alarm.rate)) since about \(alarm.since.iso8601), against what its own past and"
                + " the rest of the app let expect: a release of the SDK, a system or a browser may tell other"
                + " signals than before"
        case .ended(let alarm, .recovered):
            "the match rate of \(alarm.group.title) is back near its usual \(Self.percent(alarm.usualRate))"
        case .ended(let alarm, .lasting):
            "the match rate of \(alarm.group.title) has stayed low for \(DriftDetector.maximumAlarmDays) days and is taken"
                + " for the usual one from now on"
        case .ended(let alarm, .gone):
            "there are no more \(alarm.group.title), whose match rate had fallen"
        }
    }

    private static func percent(_ rate: Double) -> String {
        let tenths = Int(min(max(rate, 0), 1) * 1000 + 0.5)
        return "\(tenths / 10).\(tenths % 10) %"
    }
}
