import Attribution
import Foundation

/// Prints a table of the alarms in simulated worlds.
public enum DriftReport {
    public static func run(seeds: UInt64, days: Int) {
        print("Alarms in a month of normal traffic (without the first five weeks), over all groups:")
        for world in [DriftWorlds.steady, DriftWorlds.lively] + DriftWorlds.harmless {
            var count = 0
            var names: [String: Int] = [:]
            for seed in 1...seeds {
                let alarms = DriftPlay(world, days: days, seed: seed &* 7919, from: 35).alarms
                count += alarms.count
                for timed in alarms {
                    guard let alarm = timed.alarm else { continue }
                    names["\(alarm.group.title), day \(Int(timed.day))", default: 0] += 1
                }
            }
            let months = Double(seeds) * Double(days - 35) / 30
            let format = "%8.3f a month, %d in %.0f months"
            print(row(world.name, String(format: format, Double(count) / months, count, months)))
            for (name, times) in names.sorted(by: { $0.value > $1.value }).prefix(5) {
                print("      \(times) × \(name)")
            }
        }
        print(
            "Days until a drop is reported (50 %, 95 %, 99 %, maximum), and drops not reported within five days:"
        )
        for (world, isMeant) in falls { delays(world, seeds, isMeant) }
    }

    private static var falls: [(DriftWorld, @Sendable (DriftGroup) -> Bool)] {
        let watched = DriftPlay.group(DriftWorld.watched, of: DriftWorlds.steady)
        let groups = [DriftWorlds.fall(of: DriftWorlds.steady), DriftWorlds.fall(of: DriftWorlds.lively)]
            .map { ($0, { @Sendable (group: DriftGroup) in group == watched }) }
        let others: [@Sendable (DriftGroup) -> Bool] = [
            { $0.client == .value(BrowserFamily.instagram.rawValue) }, { $0.isWhole }, { $0.side == .launch },
        ]
        return groups + zip(DriftWorlds.broken, others).map { ($0, $1) }
    }

    private static func delays(_ world: DriftWorld, _ seeds: UInt64, _ isMeant: (DriftGroup) -> Bool) {
        var delays: [Double] = []
        for seed in 1...seeds {
            var world = world
            // The seeds place the drop at all times of a day and on all days of a week.
            let day = 40 + Double(seed % 56) / 8
            world.incidents[world.incidents.count - 1].day = day
            let play = DriftPlay(world, days: 52, seed: seed &* 104_729, from: 35)
            if let delay = play.delay(after: day, where: isMeant), delay <= 5 { delays.append(delay) }
        }
        delays.sort()
        func quantile(_ share: Double) -> Double {
            delays.isEmpty ? .nan : delays[min(delays.count - 1, Int(share * Double(delays.count)))]
        }
        let within = Double(delays.count { $0 <= 2 }) / Double(seeds)
        let days = [quantile(0.5), quantile(0.95), quantile(0.99), delays.last ?? .nan]
        let texts = days.map { String(format: "%5.2f", $0) } + [String(format: "  %.2f", within * 100)]
        let late = "\(Int(seeds) - delays.count) of \(seeds) not within five"
        print(row(world.name, "\(texts.joined(separator: " ")) % within two days, \(late)"))
    }

    private static func row(_ name: String, _ text: String) -> String {
        "  " + name.padding(toLength: 30, withPad: " ", startingAt: 0) + text
    }
}
