import Simulation

// Rows that measure the quality of matches: simulated worlds, whose truth is known, are sent by HTTP to a server.
extension Row {
    static let simulation = Row(
        custom: "simulation",
        "matches of simulated worlds by known truth, 10,000 clicks a day"
    ) { bench in
        let standard = ["turkey-10000", "world-10000", "venue-10000", "tokens-85-10000"]
        return try play(bench.options.worlds.isEmpty ? standard : bench.options.worlds, bench)
    }

    /// The quality of matches in one world with ten times the clicks.
    static let simulationLarge = Row(custom: "simulation-large", "the same with 100,000 clicks a day") {
        try play(["turkey-100000"], $0)
    }

    private static func play(_ labels: [String], _ bench: Workbench) throws -> [Figure] {
        try bench.binary.require("--unsafe-test-clock")
        return try SimulatedWorld.all(labels, isQuick: bench.options.isQuick).flatMap { world in
            let scores = try (1...bench.options.seeds).map { try play(world, seed: UInt64($0), bench) }
            let strangers = scores.reduce(0) { $0 + $1.strangersRepeated }
            let note =
                strangers > 0 ? "\(strangers) strangers were taken for a visitor who launches again" : nil
            return world.figures.map { name, figure in
                name.figure(scores.map(figure.value), note: figure.name == "used_twice" ? note : nil)
            }
        }
    }

    static func play(_ world: SimulatedWorld, seed: UInt64, _ bench: Workbench) throws -> PlayedScore {
        let installation = try bench.emptyInstallation()
        if world.policy == .newest { try installation.configure(["apps", "set", "--matching", "newest"]) }
        // The quality of a match does not depend on the disk.
        let server = try Server(installation, bench, isDurable: false, extra: ["--unsafe-test-clock"])
        return try play(world, seed: seed, on: [server])
    }

    /// Plays a world on servers with the test clock and an empty database.
    static func play(_ world: SimulatedWorld, seed: UInt64, on servers: [Server]) throws -> PlayedScore {
        let events = TraceGenerator.events(of: world.world, seed: seed &* 7919)
        let score = try TracePlayer.play(events, on: servers)
        let summary = SimulatedFigure.all.map { "\($0.title) \(NumberText.short($0.value(score)))" }
        servers[0].bench.say("\(world.label), seed \(seed): \(summary.joined(separator: ", "))")
        return score
    }
}
