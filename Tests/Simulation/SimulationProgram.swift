import Attribution
import Foundation
import Storage

/// The program `Simulate`, whose commands its usage text lists; for each run of a world, it prints a line.
public enum SimulationProgram {
    private static let usage = """
        Simulate [WORLD…] [clicks=N] [seed=N] [seeds=N] [refresh=SECONDS] [newest] [details] [digest]
                 [signals] [threshold=PERCENT]           play the worlds, or all small ones
        Simulate robustness [WORLD…] [seed=N]            play the worlds with one parameter changed
        Simulate drift [seeds=N] [days=N]                count wrong and late alarms on match rates
        """
    private static let heading =
        "world            clicks seed  policy   precis person  found  false rematch  calib uncap expected/true"

    public static func run(_ arguments: [String]) {
        func number(_ name: String) -> UInt64? {
            arguments.first { $0.hasPrefix("\(name)=") }.flatMap { UInt64($0.dropFirst(name.count + 1)) }
        }
        if arguments.first == "drift" {
            return DriftReport.run(seeds: number("seeds") ?? 20, days: Int(number("days") ?? 125))
        }
        let words: Set = ["newest", "details", "digest", "robustness", "signals"]
        let names = arguments.filter { !$0.contains("=") && !words.contains($0) }
        if arguments.contains("robustness") {
            return Robustness.run(seed: number("seed") ?? 1, names: names) { print($0) }
        }
        var worlds = Worlds.all.filter { world in
            names.isEmpty
                ? world.clicksPerDay < 50_000 : names.contains(world.name) || names.contains(world.label)
        }
        if let clicks = number("clicks") {
            var known: Set<String> = []
            worlds = worlds.filter { known.insert($0.name).inserted }
            for index in worlds.indices { worlds[index].clicksPerDay = Int(clicks) }
        }
        if arguments.contains("signals") {
            for index in worlds.indices { worlds[index].client = .signals }
        }
        var policy = MatchPolicy()
        if let percent = number("threshold") { policy.minimumConfidence = Double(percent) / 100 }
        guard !worlds.isEmpty, !arguments.contains("--help") else { return print(usage) }
        print(heading)
        for world in worlds {
            let seeds = number("seed").map { [$0] } ?? Array(1...max(1, number("seeds") ?? 1))
            for seed in seeds {
                let events = TraceGenerator.events(of: world, seed: seed)
                let refresh = Int64(number("refresh") ?? 30)
                play(events, world, seed, policy, refresh, arguments)
                if arguments.contains("newest") {
                    play(events, world, seed, MatchPolicy(rule: .newest), refresh, [])
                }
            }
        }
    }

    private static func play(
        _ events: [TraceEvent],
        _ world: World,
        _ seed: UInt64,
        _ policy: MatchPolicy,
        _ refresh: Int64,
        _ words: [String]
    ) {
        let run = SimulatedEstimate(events, ReplayPlan(policy: policy, refresh: refresh * 1000))
        let replay = run.replay
        print(line(world, seed, policy, replay.score))
        if words.contains("digest") { print("  answers \(String(run.digest, radix: 16))") }
        guard words.contains("details") else { return }
        for (bin, row) in replay.score.uncappedCalibration.bins.enumerated() where row.count > 0 {
            let format = "  from %.1f: %6d matches, stated %.3f, right %.3f"
            print(String(format: format, Double(bin) / 10, row.count, row.stated, row.right))
        }
        let (estimate, format) = (run.estimate, "  false matches: expected %.0f ± %.0f, true %d")
        print(String(format: format, estimate.expectedFalse, estimate.spread, run.trueFalse))
        for limit in estimate.limits(within: .standard) {
            let threshold = limit.threshold.map { "\($0.minimum)" } ?? "none"
            let window = limit.window.map { "\($0.window.seconds) s" } ?? "none"
            print("  at most \(limit.share) false: threshold \(threshold), window \(window)")
        }
        for figure in replay.learntModel.figures { print("  \(figure.name): \(figure.value)") }
    }

    private static func line(_ world: World, _ seed: UInt64, _ policy: MatchPolicy, _ score: ReplayScore)
        -> String
    {
        func percent(_ value: Double?) -> String { String(format: "%6.1f", (value ?? 0) * 100) }
        func padded(_ text: String, _ width: Int) -> String {
            text.padding(toLength: width, withPad: " ", startingAt: 0)
        }
        return [
            padded(world.name, 16), String(format: "%6d", world.clicksPerDay),
            String(format: "%4d", Int(seed)),
            " " + padded(policy.rule == .newest ? "newest" : "default", 7), percent(score.precision),
            percent(score.personPrecision), percent(score.found), percent(score.falseAttribution),
            percent(score.rematched), String(format: " %5.3f", score.calibration.error),
            String(format: "%5.3f", score.uncappedCalibration.error),
            String(format: "%7.0f/%d", score.expected, score.conversions),
            score.clicksUsedTwice > 0 ? "a click was used twice" : "",
        ].joined(separator: " ")
    }
}
