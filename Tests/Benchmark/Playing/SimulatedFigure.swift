import Attribution
import Simulation
import Storage

/// A figure of a world that was played.
enum SimulatedFigure: String, CaseIterable {
    case precision, found, organic, rematched, calibration
    case usedTwice = "used_twice"
    case changed

    var title: String {
        switch self {
        case .precision: "precision %"
        case .found: "found %"
        case .organic: "organic given a campaign %"
        case .rematched: "reinstalls matched again %"
        case .calibration: "calibration error"
        case .usedTwice: "clicks used twice"
        case .changed: "retries told something else"
        }
    }

    func name(in world: SimulatedWorld) -> FigureName {
        FigureName(
            "\(world.world.label)_\(world.policy.rawValue)_\(rawValue)",
            "\(world.label): \(title)",
            bar(in: world)
        )
    }

    func value(of score: PlayedScore) -> Double {
        switch self {
        case .precision: Self.percent(score.sums.precision)
        case .found: Self.percent(score.sums.found)
        case .organic: Self.percent(score.sums.falseAttribution)
        case .rematched: Self.percent(score.sums.rematched)
        case .calibration: score.sums.calibration.error
        case .usedTwice: Double(score.clicksUsedTwice)
        case .changed: Double(score.changedAnswers)
        }
    }

    private func bar(in world: SimulatedWorld) -> Bar? {
        switch self {
        case .precision: world.bars.map { .atLeast($0.precision) }
        case .found: world.bars.map { .atLeast($0.found) }
        case .organic: world.bars?.organic.map { .atMost($0) }
        case .rematched: world.bars?.rematched.map { .atMost($0) }
        case .calibration: world.bars?.calibration.map { .atMost($0) }
        case .usedTwice, .changed: .atMost(0)
        }
    }

    private static func percent(_ share: Double?) -> Double { (share ?? .nan) * 100 }
}
