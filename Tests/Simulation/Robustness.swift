import Attribution
import Foundation
public import Storage

/// Prints the figures of worlds with one parameter changed: one row for each world and change.
public enum Robustness {
    /// The limits for a world's figures; they apply with and without a change.
    struct Bars {
        let precision: Double
        let found: Double
        let falseAttribution: Double
        let calibration: Double

        /// Returns the names of the bars that a score misses.
        func missed(by score: ReplayScore) -> [String] {
            var words: [String] = []
            if score.precision ?? 0 < precision { words.append("precision") }
            if score.found ?? 0 < found { words.append("found") }
            if score.falseAttribution ?? 0 > falseAttribution { words.append("organic") }
            if score.uncappedCalibration.error > calibration { words.append("calibration") }
            if score.rematched ?? 0 > 0.08 { words.append("reinstalls") }
            if score.clicksUsedTwice > 0 { words.append("a click used twice") }
            return words
        }
    }

    static let worlds: [(world: World, bars: Bars)] = [
        (Worlds.turkey(), Bars(precision: 0.96, found: 0.68, falseAttribution: 0.02, calibration: 0.03)),
        (Worlds.world(), Bars(precision: 0.95, found: 0.73, falseAttribution: 0.025, calibration: 0.03)),
        (Worlds.venue(), Bars(precision: 0.92, found: 0.66, falseAttribution: 0.07, calibration: 0.05)),
    ]

    /// The changes, one parameter at a time.
    static let changes: [(name: String, change: @Sendable (inout World) -> Void)] = [
        ("as it is", { _ in }), ("1,000 clicks a day", { $0.clicksPerDay = 1000 }),
        ("a quarter of the organic launches", { $0.organicPerConversion /= 4 }),
        ("half of the organic launches", { $0.organicPerConversion /= 2 }),
        ("twice the organic launches", { $0.organicPerConversion *= 2 }),
        ("four times the organic launches", { $0.organicPerConversion *= 4 }),
        ("addresses change often", { $0.networks.stays = [0.6, 0.5, 0.4, 0.3, 0.25] }),
        ("addresses hardly change", { $0.networks.stays = [0.97, 0.95, 0.9, 0.85, 0.8] }),
        ("a quarter of the addresses hidden", { $0.networks.hidden = 0.25 }),
        ("half of the addresses hidden", { $0.networks.hidden = 0.5 }),
        ("launches within minutes", { $0.delays = [World.Delay(share: 1, median: 120, sigma: 0.7)] }),
        ("launches within hours", { $0.delays = [World.Delay(share: 1, median: 7200, sigma: 1.4)] }),
        ("a third of the conversions", { $0.conversionShare /= 3 }),
        ("a tenth of the carriers' addresses", { $0.networks.carrierAddresses /= 10 }),
        ("no agent reports the system", { $0.honestAgents = 0 }),
    ]

    static func run(seed: UInt64, names: [String], print: (String) -> Void) {
        print("| world | precision | found | organic | reinstalls | error | missed |")
        print("|---|---|---|---|---|---|---|")
        for (world, bars) in worlds where names.isEmpty || names.contains(world.name) {
            for (name, change) in changes {
                var changed = world
                change(&changed)
                let score = Replay.played(TraceGenerator.events(of: changed, seed: seed), ReplayPlan()).score
                print(row("\(world.name), \(name)", score, bars.missed(by: score)))
            }
        }
    }

    private static func row(_ name: String, _ score: ReplayScore, _ missed: [String]) -> String {
        let shares = [score.precision, score.found, score.falseAttribution, score.rematched]
        let cells =
            [name] + shares.map { String(format: "%.1f %%", ($0 ?? 0) * 100) } + [
                String(format: "%.3f", score.uncappedCalibration.error), missed.joined(separator: ", "),
            ]
        return "| " + cells.joined(separator: " | ") + " |"
    }
}

/// Shares of a replay's launches, judged by the truth about them.
extension ReplayScore {
    /// The share of matches with the right link and campaign; nil if the truth about none is known.
    public var precision: Double? { Self.ratio(rightLink, knownMatches) }
    public var personPrecision: Double? { Self.ratio(rightPerson, knownMatches) }
    /// The share of conversions that got the link of their click.
    public var found: Double? { Self.ratio(rightLink, conversions) }
    /// The share of organic launches that matched a click.
    public var falseAttribution: Double? { Self.ratio(organicMatched, organic) }
    /// The share of reinstallations that matched a click.
    public var rematched: Double? { Self.ratio(reinstallsMatched, reinstalls) }

    private static func ratio(_ part: Int, _ whole: Int) -> Double? {
        whole > 0 ? Double(part) / Double(whole) : nil
    }
}
