public import Attribution

/// Plays a world and notes what the watch tells.
public struct DriftPlay: Sendable {
    /// Something that was told: after how many days, and what.
    public struct Told: Sendable {
        public let day: Double
        public let event: DriftEvent

        /// The alarm that began.
        public var alarm: DriftAlarm? { if case .began(let alarm) = event { alarm } else { nil } }
    }

    public private(set) var told: [Told] = []
    /// What the last look found.
    public private(set) var last = DriftDetector.Findings()

    /// Until `firstDay` the watch does not look, which saves time and tells nothing.
    public init(_ world: DriftWorld, days: Int, seed: UInt64, from firstDay: Int = 0) {
        let traffic = DriftTraffic(world, days: days, seed: seed)
        let spansPerDay = Int(86_400_000 / DriftHistory.periodMilliseconds)
        for span in max(1, firstDay * spansPerDay)...(days * spansPerDay) {
            last = DriftDetector.evaluate(traffic.history(after: span), alarms: last.alarms)
            for event in last.events {
                told.append(Told(day: Double(span) / Double(spansPerDay), event: event))
            }
        }
    }

    public var alarms: [Told] { told.filter { $0.alarm != nil } }

    /// How many days after `day` the first alarm began for a group; nil without any.
    public func delay(after day: Double, where isMeant: (DriftGroup) -> Bool) -> Double? {
        alarms.first { told in told.day > day && told.alarm.map { isMeant($0.group) } == true }
            .map { $0.day - day }
    }

    /// The group of a world's launches.
    public static func group(_ index: Int, of world: DriftWorld) -> DriftGroup {
        let launches = world.launches[index]
        return DriftGroup(
            launchOn: launches.platform,
            release: OSRelease(launches.system, on: launches.platform),
            sdk: SDKVersion(header: "sdk/" + launches.sdk)
        )
    }
}
