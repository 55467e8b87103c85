/// The worlds in which the model is tested.
public enum Worlds {
    public static func turkey(_ clicks: Int = 10_000) -> World { World(name: "turkey", clicksPerDay: clicks) }

    public static func world(_ clicks: Int = 10_000) -> World {
        var world = World(name: "world", clicksPerDay: clicks)
        world.locales = .world
        world.networks.homes = 40_000_000
        world.networks.carrierAddresses = 30_000
        world.networks.offices = 300_000
        return world
    }

    public static func venue(_ clicks: Int = 10_000) -> World {
        var world = World(name: "venue", clicksPerDay: clicks)
        world.isEvent = true
        world.networks.venueAddresses = 6
        world.networks.venueShare = 0.35
        world.networks.carrierAddresses = 300
        world.networks.homeShare = 0.2
        world.conversionShare = 0.25
        world.organicPerConversion = 0.6
        world.delays = [
            World.Delay(share: 0.85, median: 240, sigma: 0.8),
            World.Delay(share: 0.15, median: 14_400, sigma: 1.3),
        ]
        world.campaigns = 5
        return world
    }

    public static var all: [World] {
        var list = [turkey(1000), turkey(), turkey(100_000), world(), venue()]
        func variant(_ name: String, _ change: (inout World) -> Void) {
            var world = turkey()
            world.name = name
            change(&world)
            list.append(world)
        }
        variant("organic-95") { $0.organicPerConversion = 19 }
        variant("organic-10") { $0.organicPerConversion = 0.1 }
        variant("never-agree") { $0.networks.neverAgree = true }
        variant("five-addresses") {
            $0.networks.venueAddresses = 5
            $0.networks.venueShare = 1
            $0.networks.homeShare = 0
            $0.networks.carrierShare = 0
            $0.networks.officeShare = 0
        }
        variant("no-address") { $0.networks.unknown = true }
        variant("burst") { $0.bursts = [36] }
        variant("diurnal") { $0.diurnal = 0.95 }
        variant("slow") { $0.delays = [World.Delay(share: 1, median: 86_400, sigma: 1.2)] }
        variant("fast") { $0.delays = [World.Delay(share: 1, median: 120, sigma: 0.6)] }
        variant("low-k") {
            $0.conversionShare = 0.03; $0.organicPerConversion = 2
        }
        variant("high-k") { $0.conversionShare = 0.5 }
        variant("roaming") { $0.networks.stays = [0.5, 0.4, 0.3, 0.25, 0.2] }
        variant("sticky") {
            $0.networks.stays = [0.97, 0.95, 0.9, 0.85, 0.8]; $0.networks.homeShare = 0.8
        }
        variant("carriers") {
            $0.networks.homeShare = 0.15; $0.networks.carrierShare = 0.8; $0.networks.carrierAddresses = 800
        }
        variant("tokens-85") { $0.tokens = 0.85 }
        variant("signals") { $0.client = .signals }
        variant("signals-tokens") {
            $0.client = .signals
            $0.tokens = 0.85
            $0.appleTokens = 0.5
        }
        variant("personal") { $0.personalLinks = 1 }
        variant("one-link") {
            $0.personalLinks = 0; $0.campaigns = 1
        }
        return list
    }
}
