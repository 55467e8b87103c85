public import Attribution

/// The parameters of simulated traffic with known match rates, which tests the alarms on match rates.
public struct DriftWorld: Sendable {
    /// Launches with one platform, system and SDK.
    public struct Launches: Sendable {
        public var platform: Platform
        public var system: OSVersion
        public var sdk: String
        public var checksPerDay: Double
        /// The share of checks (first launches' requests) that match.
        public var rate: Double
    }

    /// A change of the traffic from one day until another.
    public struct Incident: Sendable {
        public enum Kind: Sendable {
            /// The launches of these groups match less often, by this factor.
            case launches([Int], Double)
            /// Clicks of this browser lead to matches less often, by this factor.
            case browser(BrowserFamily, Double)
            /// Clicks and the launches from them become more or fewer by this factor, on one platform or on all.
            case clicks(Platform?, Double)
            /// Organic launches become more or fewer by this factor, on one platform or on all.
            case organic(Platform?, Double)
            /// Clicks of this browser become more by this factor, without more launches.
            case idleClicks(BrowserFamily, Double)
            /// Within this number of days, all launches of one group move to another group.
            case adoption(from: Int, to: Int, days: Double)
            /// The number of organic launches in these groups rises to this multiple within four weeks.
            case trend([Int], Double)
        }
        public var kind: Kind
        public var day: Double
        public var end = Double.infinity
    }

    public var name: String
    public var launches: [Launches]
    public var browsers: [(platform: Platform, family: BrowserFamily, share: Double)] = [
        (.ios, .safari, 0.55), (.ios, .instagram, 0.25), (.ios, .chrome, 0.12), (.ios, .facebook, 0.08),
        (.android, .chrome, 0.6), (.android, .instagram, 0.25), (.android, .samsung, 0.15),
    ]
    /// The share of clicks that become launches.
    public var conversion = 0.15
    /// The share of launches from a click that match.
    public var found = 0.95
    /// The share by which organic launches rise at the weekend; clicks drop by half of this share.
    ///
    /// On Android both changes are half as large.
    public var weekend = 0.0
    /// The share by which traffic at 15:00 is above the mean, and at 3:00 below it.
    public var diurnal = 0.5
    /// The standard deviation of the logarithm of a day's clicks.
    public var campaigns = 0.0
    /// The standard deviation of the logarithm of each group's organic launches in a day.
    public var moods = 0.0
    public var incidents: [Incident] = []

    public init(name: String, launches: [Launches] = DriftWorld.thousandChecks) {
        (self.name, self.launches) = (name, launches)
    }

    /// Groups with 1,000 checks a day together; the fourth group has 100 of them, of which 70 % match.
    public static let thousandChecks: [Launches] = {
        let rows: [(Platform, Int, Int, String, Double, Double)] = [
            (.ios, 26, 1, "1.8.9", 230, 0.70), (.ios, 18, 6, "1.8.9", 130, 0.74),
            (.android, 15, 0, "1.8.9", 140, 0.62), (.ios, 26, 1, "1.8.8", 100, 0.70),
            (.android, 14, 0, "1.8.9", 110, 0.66), (.android, 13, 0, "1.8.9", 80, 0.58),
            (.ios, 18, 6, "1.8.8", 60, 0.72), (.ios, 18, 5, "1.8.9", 45, 0.68),
            (.android, 15, 0, "1.8.7", 35, 0.50), (.ios, 17, 6, "1.8.9", 25, 0.66),
            (.android, 12, 0, "1.8.9", 20, 0.60), (.ios, 17, 6, "1.8.8", 10, 0.7),
            (.ios, 16, 7, "1.8.8", 6, 0.7), (.android, 11, 0, "1.8.7", 5, 0.55),
            (.ios, 15, 8, "1.8.7", 4, 0.6),
        ]
        return rows.map { platform, major, minor, sdk, checks, rate in
            let system = OSVersion(major: major, minor: minor)
            return Launches(platform: platform, system: system, sdk: sdk, checksPerDay: checks, rate: rate)
        }
    }()

    /// The index of the group with 100 checks a day.
    public static let watched = 3
}

extension DriftWorld: CustomStringConvertible {
    public var description: String { name }
}

/// Worlds without and with a fault in matching.
public enum DriftWorlds {
    /// Random changes only.
    public static let steady = DriftWorld(name: "steady")

    /// Weekends, campaigns of different strength, and groups with good and bad days.
    public static var lively: DriftWorld {
        var world = DriftWorld(name: "lively")
        world.weekend = 0.35
        world.campaigns = 0.25
        world.moods = 0.15
        return world
    }

    /// Lively traffic with a change on day 40 that does not affect matching.
    public static var harmless: [DriftWorld] {
        typealias Kind = DriftWorld.Incident.Kind
        let incidents: [(String, Kind, Double)] = [
            ("marketing stops", .clicks(nil, 0.15), .infinity), ("… on iOS", .clicks(.ios, 0.15), .infinity),
            ("marketing begins on Android", .clicks(.android, 4), .infinity),
            ("featured in a store", .organic(.ios, 4), 50), ("idle clicks", .idleClicks(.instagram, 6), 50),
            ("a release spreads", .adoption(from: 1, to: 0, days: 20), .infinity),
            ("a slow trend", .trend([0, 1, 6], 1.5), .infinity),
        ]
        return incidents.map { name, kind, end in
            var world = lively
            world.name = name
            world.incidents = [DriftWorld.Incident(kind: kind, day: 40, end: end)]
            return world
        }
    }

    /// Returns a world in which the match rate of a group with 100 checks a day falls from 70 % to 40 %.
    public static func fall(of world: DriftWorld, at moment: Double = 40) -> DriftWorld {
        broken(world, "one group falls", .launches([DriftWorld.watched], 0.4 / 0.7), at: moment)
    }

    /// Worlds with other faults.
    public static var broken: [DriftWorld] {
        [
            broken(lively, "a browser halves", .browser(.instagram, 0.5), at: 40),
            broken(lively, "all are broken", .launches(Array(0..<15), 0.4 / 0.7), at: 40),
            broken(lively, "small groups fall", .launches([9, 10, 11, 12, 13, 14], 0.3), at: 40),
        ]
    }

    private static func broken(
        _ world: DriftWorld,
        _ name: String,
        _ kind: DriftWorld.Incident.Kind,
        at moment: Double
    ) -> DriftWorld {
        var world = world
        world.name = name + (world.name == "steady" ? "" : ", lively")
        world.incidents.append(DriftWorld.Incident(kind: kind, day: moment))
        return world
    }
}
