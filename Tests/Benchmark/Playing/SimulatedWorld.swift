import Simulation
import Storage

/// A world that is played under one policy.
struct SimulatedWorld {
    enum Policy: String, CaseIterable {
        case standard = "default"
        case newest
    }

    /// What its matches must reach, in percent but for the last.
    struct Bars {
        var precision: Double
        var found: Double
        var organic: Double?
        var rematched: Double?
        var calibration: Double?
    }

    let world: World
    let policy: Policy

    /// What it is called in the table.
    var label: String { "\(world.label), \(policy.rawValue)" }

    /// None but under the default policy, and in the worlds that have been thought about.
    var bars: Bars? { policy == .standard ? Self.bars[world.label] : nil }

    private static let bars = [
        "turkey-10000": Bars(precision: 96, found: 68, organic: 2, rematched: 8, calibration: 0.02),
        "world-10000": Bars(precision: 95, found: 73, organic: 2.5, rematched: 8, calibration: 0.02),
        "venue-10000": Bars(precision: 92, found: 66, organic: 7, rematched: 8, calibration: 0.03),
        "turkey-100000": Bars(precision: 97, found: 64, organic: 1.5, rematched: 8, calibration: 0.02),
        "tokens-85-10000": Bars(precision: 99, found: 90),
    ]

    /// Worlds by their names with their sizes, each under both policies.
    static func all(_ labels: [String], isQuick: Bool) throws -> [SimulatedWorld] {
        try labels.flatMap { label in
            guard var world = Worlds.all.first(where: { $0.label == label }) else {
                let known = Worlds.all.map(\.label).joined(separator: ", ")
                throw BenchmarkError("There is no world \(label); there are \(known).")
            }
            if isQuick { (world.clicksPerDay, world.days) = (200, 2) }
            return Policy.allCases.map { SimulatedWorld(world: world, policy: $0) }
        }
    }
}

/// A figure of a world that was played.
struct SimulatedFigure: Sendable {
    let name: String
    let title: String
    let value: @Sendable (PlayedScore) -> Double
    let bar: @Sendable (SimulatedWorld) -> Bar?

    static let all = [
        SimulatedFigure("precision", "precision %", { percent($0.sums.precision) }) {
            $0.bars.map { .atLeast($0.precision) }
        },
        SimulatedFigure("found", "found %", { percent($0.sums.found) }) {
            $0.bars.map { .atLeast($0.found) }
        },
        SimulatedFigure("organic", "organic given a campaign %", { percent($0.sums.falseAttribution) }) {
            $0.bars?.organic.map { .atMost($0) }
        },
        SimulatedFigure("rematched", "reinstalls matched again %", { percent($0.sums.rematched) }) {
            $0.bars?.rematched.map { .atMost($0) }
        },
        SimulatedFigure("calibration", "calibration error", { $0.sums.calibration.error }) {
            $0.bars?.calibration.map { .atMost($0) }
        },
        SimulatedFigure("used_twice", "clicks used twice", { Double($0.clicksUsedTwice) }) { _ in .atMost(0)
        },
        SimulatedFigure("changed", "retries with another response", { Double($0.changedAnswers) }) { _ in
            .atMost(0)
        },
    ]

    private init(
        _ name: String,
        _ title: String,
        _ value: @escaping @Sendable (PlayedScore) -> Double,
        bar: @escaping @Sendable (SimulatedWorld) -> Bar?
    ) { (self.name, self.title, self.value, self.bar) = (name, title, value, bar) }

    func name(in world: SimulatedWorld) -> FigureName {
        let prefix = "\(world.world.label)_\(world.policy.rawValue)"
        return FigureName("\(prefix)_\(name)", "\(world.label): \(title)", bar(world))
    }

    private static func percent(_ share: Double?) -> Double { (share ?? .nan) * 100 }
}
