/// A match rate that has fallen, from when it was told until it has recovered.
public struct DriftAlarm: Equatable, Sendable {
    public let group: DriftGroup
    /// About when the rate fell: the beginning of the days in which the fall is the most surprising.
    public let since: Timestamp
    /// When it was told.
    public let began: Timestamp
    /// The rate of the four weeks before ``since``, 0…1.
    public let usualRate: Double
    /// The rate from ``since`` until it was told, 0…1.
    public let rate: Double

    public init(group: DriftGroup, since: Timestamp, began: Timestamp, usualRate: Double, rate: Double) {
        self.group = group
        self.since = since
        self.began = began
        self.usualRate = usualRate
        self.rate = rate
    }
}

/// Why an alarm is over.
///
/// The raw value is the word in the log.
public enum DriftEnding: String, Sendable {
    /// The rate is what is to be expected again.
    case recovered
    /// It has stayed so long that it is what is usual now.
    case lasting
    /// There are no such checks or clicks any more.
    case gone
}

public enum DriftEvent: Equatable, Sendable {
    case began(DriftAlarm)
    case ended(DriftAlarm, DriftEnding)
}

/// How a watched group is.
public struct DriftReading: Equatable, Sendable {
    /// The raw value is the word in the database and in the JSON.
    public enum Status: String, CaseIterable, Sendable {
        /// There is no week of a past to compare with yet.
        case learning
        case steady
        case falling
    }

    public let group: DriftGroup
    /// Checks or clicks of the newest seven days.
    public let recent: DriftCount
    /// The share that matched before; nil while ``Status/learning``.
    public let usualRate: Double?
    /// The alarm that is on; nil unless ``Status/falling``.
    public let alarm: DriftAlarm?

    public init(group: DriftGroup, recent: DriftCount, usualRate: Double?, alarm: DriftAlarm? = nil) {
        self.group = group
        self.recent = recent
        self.usualRate = alarm?.usualRate ?? usualRate
        self.alarm = alarm
    }

    public var status: Status {
        alarm != nil ? .falling : usualRate == nil ? .learning : .steady
    }
}

/// How the match rates of an app's groups are.
public struct AppDrift: Equatable, Sendable {
    public let app: AppID
    /// Those that have fallen first, then by name.
    public var readings: [DriftReading]

    /// Groups of a report, over all its apps, beyond which only those are told that have fallen.
    public static let groupLimit = 500

    public init(app: AppID, readings: [DriftReading]) {
        self.app = app
        self.readings = readings
    }
}

extension DriftGroup {
    /// The group as a person would call it: `launches on iOS 26.1 with SDK 1.8.9`.
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
        case (.click, .value(let browser)):
            " in \(browser)\(osVersion == .others ? " (other versions)" : "")"
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
            "the match rate of \(alarm.group.title) has stayed low for \(DriftDetector.longestAlarm) days and is taken"
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
