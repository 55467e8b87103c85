public import Attribution

/// Plays a simulated world, and records the events of the drift detector, which raises alarms on match rates.
public struct DriftPlay: Sendable {
    /// An event of the alarm, with the number of days from the world's start.
    public struct TimedEvent: Sendable {
        public let day: Double
        public let event: DriftEvent

        /// The alarm that this event starts; nil for an event of another kind.
        public var alarm: DriftAlarm? { if case .began(let alarm) = event { alarm } else { nil } }
    }

    public private(set) var events: [TimedEvent] = []
    /// The findings of the last evaluation.
    public private(set) var last = DriftDetector.Findings()

    /// Plays the world; the days before `firstDay` are not evaluated, to save time.
    public init(_ world: DriftWorld, days: Int, seed: UInt64, from firstDay: Int = 0) {
        let traffic = DriftTraffic(world, days: days, seed: seed)
        let spansPerDay = Int(86_400_000 / DriftHistory.periodMilliseconds)
        for span in max(1, firstDay * spansPerDay)...(days * spansPerDay) {
            last = DriftDetector.evaluate(traffic.history(after: span), alarms: last.alarms)
            let day = Double(span) / Double(spansPerDay)
            events += last.events.map { TimedEvent(day: day, event: $0) }
        }
    }

    public var alarms: [TimedEvent] { events.filter { $0.alarm != nil } }

    /// Returns how many days after `day` the first alarm started for a group that `isMeant` accepts; nil without any.
    public func delay(after day: Double, where isMeant: (DriftGroup) -> Bool) -> Double? {
        alarms.first { $0.day > day && $0.alarm.map { isMeant($0.group) } == true }.map { $0.day - day }
    }

    /// Returns the group in which the drift detector counts the launches with this index.
    public static func group(_ index: Int, of world: DriftWorld) -> DriftGroup {
        let launches = world.launches[index]
        return DriftGroup(
            launchOn: launches.platform,
            release: OSRelease(launches.system, on: launches.platform),
            sdk: SDKVersion(header: "sdk/" + launches.sdk)
        )
    }
}
