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
