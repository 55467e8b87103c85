import Simulation
import Storage

/// A simulated world that is played under one matching policy.
struct SimulatedWorld {
    enum Policy: String, CaseIterable {
        case standard = "default"
        case newest
    }

    let world: World
    let policy: Policy

    /// The name of the world and its policy in the table.
    var label: String { "\(world.label), \(policy.rawValue)" }

    /// The bars of the first figures of ``SimulatedFigure/all`` under the default policy, by the label of the
    /// world.
    private static let bars: [String: [Bar]] = [
        "turkey-10000": [.atLeast(96), .atLeast(68), .atMost(2), .atMost(8), .atMost(0.02)],
        "world-10000": [.atLeast(95), .atLeast(73), .atMost(2.5), .atMost(8), .atMost(0.02)],
        "venue-10000": [.atLeast(92), .atLeast(66), .atMost(7), .atMost(8), .atMost(0.03)],
        "turkey-100000": [.atLeast(97), .atLeast(64), .atMost(1.5), .atMost(8), .atMost(0.02)],
        "tokens-85-10000": [.atLeast(99), .atLeast(90)],
    ]

    /// Returns the worlds with the given labels (name and clicks a day), each under both policies.
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

    /// The figures of the world, with their bars.
    var figures: [(name: FigureName, figure: SimulatedFigure)] {
        let bars = policy == .standard ? Self.bars[world.label] ?? [] : []
        return SimulatedFigure.all.enumerated().map { index, figure in
            // A figure that counts faults has the same bar in every world.
            let bar = figure.isFault ? .atMost(0) : bars.indices.contains(index) ? bars[index] : nil
            let name = "\(world.label)_\(policy.rawValue)_\(figure.name)"
            return (FigureName(name, "\(label): \(figure.title)", bar), figure)
        }
    }
}

/// A figure of every world that is played.
struct SimulatedFigure: Sendable {
    let name: String
    let title: String
    /// Whether the figure counts events that must never happen.
    var isFault = false
    let value: @Sendable (PlayedScore) -> Double

    static let all = [
        SimulatedFigure(name: "precision", title: "precision %") { percent($0.sums.precision) },
        SimulatedFigure(name: "found", title: "found %") { percent($0.sums.found) },
        SimulatedFigure(name: "organic", title: "organic given a campaign %") {
            percent($0.sums.falseAttribution)
        },
        SimulatedFigure(name: "rematched", title: "reinstalls matched again %") {
            percent($0.sums.rematched)
        },
        SimulatedFigure(name: "calibration", title: "calibration error") { $0.sums.calibration.error },
        SimulatedFigure(name: "used_twice", title: "clicks used twice", isFault: true) {
            Double($0.clicksUsedTwice)
        },
        SimulatedFigure(name: "changed", title: "retries with another response", isFault: true) {
            Double($0.changedAnswers)
        },
    ]

    private static func percent(_ share: Double?) -> Double { (share ?? .nan) * 100 }
}
