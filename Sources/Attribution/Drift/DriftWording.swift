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
