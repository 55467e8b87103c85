/// The effect that other windows and minimum confidences would have had on an app's recent launches, by a backtest.
public struct PolicyGrid: Equatable, Sendable {
    /// A window and a minimum confidence.
    public struct Setting: Hashable, Sendable {
        /// Nil for the current windows of the clicks and the app.
        public let window: AttributionWindow?
        public let minimumConfidence: Double

        public init(window: AttributionWindow?, minimumConfidence: Double) {
            (self.window, self.minimumConfidence) = (window, minimumConfidence)
        }
    }

    /// The answers under a setting, compared with the answers under the app's current settings.
    public struct Result: Equatable, Sendable {
        public var matches = 0
        /// Launches that get a match that they do not get now.
        public var gained = 0
        /// Launches that no longer get a match.
        public var lost = 0
        /// Launches that get another link or campaign.
        public var redirected = 0
        /// The number of matches that are expected to be wrong: the sum of one minus the probability of each match.
        public var expectedWrong = 0.0

        public init() {}
    }

    public var computedAt: Timestamp
    /// The time of the first launch that counts, and the time of the last event.
    public var from: Timestamp
    public var to: Timestamp
    /// The number of clicks that were replayed.
    public var clicks = 0
    /// The number of launches that count.
    public var launches = 0
    /// Whether older events were left out because there were more than ``eventLimit``.
    public var isLimited = false
    /// Whether some settings have no result, because the replays of the others took ``timeLimitSeconds``.
    public var isUnfinished = false
    /// The app's current setting.
    public var current: Setting
    public var results: [Setting: Result] = [:]

    /// The maximum number of clicks and launches that a comparison of one app replays.
    public static let eventLimit = 100_000
    /// The maximum time of all replays for one app, in seconds, so that an app with much traffic delays no other app.
    public static let timeLimitSeconds: UInt64 = 300
    /// The maximum age of the replayed clicks and launches.
    public static let maximumDays: Int64 = 14

    /// - Parameters:
    ///   - computedAt: when the backtest ended.
    ///   - span: the time of the first launch that counts, and the time of the last event.
    ///   - current: the app's current setting.
    public init(computedAt: Timestamp, span: (from: Timestamp, to: Timestamp), current: Setting) {
        (self.computedAt, from, to, self.current) = (computedAt, span.from, span.to, current)
    }

    /// The windows, the app's current ones first, and then by length.
    public var windows: [AttributionWindow?] {
        Set(results.keys.map(\.window)).sorted { ($0?.seconds ?? 0) < ($1?.seconds ?? 0) }
    }

    /// The minimum confidences in their order.
    public var minimums: [Double] { Set(results.keys.map(\.minimumConfidence)).sorted() }
}

/// The stored form: figures with names.
extension PolicyGrid {
    /// Creates a grid from its stored figures; nil if they are damaged.
    public init?(figures: [String: Double]) {
        func whole(_ name: String) -> Int64? { figures[name].flatMap { Int64(exactly: $0) } }
        func time(_ name: String) -> Timestamp? { whole(name).map { Timestamp(milliseconds: $0) } }
        guard let computedAt = time("computed_at"), let from = time("from"), let to = time("to"),
            let minimum = figures["minimum_confidence"]
        else { return nil }
        let current = Setting(window: nil, minimumConfidence: minimum)
        self.init(computedAt: computedAt, span: (from, to), current: current)
        (clicks, launches) = (Int(whole("clicks") ?? 0), Int(whole("launches") ?? 0))
        isLimited = figures["is_limited"] == 1
        isUnfinished = figures["is_unfinished"] == 1
        for (name, value) in figures {
            let parts = name.split(separator: "/")
            guard parts.count == 4, parts[0] == "cell" else { continue }
            guard let seconds = Int64(parts[1]), let minimum = Double(parts[2]) else { return nil }
            let window = AttributionWindow(seconds: seconds)
            guard window != nil || seconds == 0 else { return nil }
            let setting = Setting(window: window, minimumConfidence: minimum)
            results[setting, default: Result()].set(String(parts[3]), to: value)
        }
    }

    /// The grid under the names that ``init(figures:)`` reads.
    public var figures: [(name: String, value: Double)] {
        var figures: [(name: String, value: Double)] = [
            ("computed_at", Double(computedAt.milliseconds)), ("from", Double(from.milliseconds)),
            ("to", Double(to.milliseconds)), ("clicks", Double(clicks)), ("launches", Double(launches)),
            ("is_limited", isLimited ? 1 : 0), ("is_unfinished", isUnfinished ? 1 : 0),
            ("minimum_confidence", current.minimumConfidence),
        ]
        for (setting, result) in results {
            let prefix = "cell/\(setting.window?.seconds ?? 0)/\(setting.minimumConfidence)"
            figures += result.figures.map { ("\(prefix)/\($0.name)", $0.value) }
        }
        return figures
    }
}

extension PolicyGrid.Result {
    fileprivate var figures: [(name: String, value: Double)] {
        [
            ("matches", Double(matches)), ("gained", Double(gained)), ("lost", Double(lost)),
            ("redirected", Double(redirected)), ("expected_wrong", expectedWrong),
        ]
    }

    fileprivate mutating func set(_ name: String, to value: Double) {
        let count = Int(exactly: value) ?? 0
        switch name {
        case "matches": matches = count
        case "gained": gained = count
        case "lost": lost = count
        case "redirected": redirected = count
        case "expected_wrong": expectedWrong = value
        default: break
        }
    }
}
