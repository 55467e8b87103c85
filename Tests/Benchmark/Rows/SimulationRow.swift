import Simulation
import Support

/// How good matches are: worlds with known truth, played by HTTP to a server that does not know their parameters.
enum SimulationRow {
    static let worlds = ["turkey-10000", "world-10000", "venue-10000", "tokens-85-10000"]
    static let largeWorlds = ["turkey-100000"]

    static func measure(_ bench: Workbench, _ labels: [String]) throws -> [Figure] {
        guard bench.binary.knows("--unsafe-test-clock") else {
            throw NotMeasurable("the server has no setting --unsafe-test-clock")
        }
        return try SimulatedWorld.all(labels, isQuick: bench.options.isQuick).flatMap { world in
            let scores = try (1...bench.options.seeds).map { try play(world, seed: UInt64($0), bench) }
            return SimulatedFigure.allCases.map { figure in
                Figure(
                    figure.name(in: world),
                    scores.map(figure.value),
                    note: figure == .usedTwice ? note(scores) : nil
                )
            }
        }
    }

    private static func play(_ world: SimulatedWorld, seed: UInt64, _ bench: Workbench) throws -> PlayedScore
    {
        let installation = try bench.emptyInstallation()
        if world.policy == .newest { try installation.configure(["apps", "set", "--matching", "newest"]) }
        // How good an answer is does not depend on the disk.
        let server = try Server(installation, bench, isDurable: false, extra: ["--unsafe-test-clock"])
        let events = TraceGenerator.events(of: world.world, seed: seed &* 7919)
        let score = try TracePlayer.play(events, on: server)
        let summary = SimulatedFigure.allCases.map { "\($0.title) \(NumberText.short($0.value(of: score)))" }
        bench.say("\(world.label), seed \(seed): \(summary.joined(separator: ", "))")
        return score
    }

    private static func note(_ scores: [PlayedScore]) -> String? {
        let count = scores.reduce(0) { $0 + $1.strangersRepeated }
        return count > 0 ? "\(count) strangers were taken for one who asks again" : nil
    }
}
