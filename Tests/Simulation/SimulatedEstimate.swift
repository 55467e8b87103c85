public import Attribution
public import Storage
import Support

/// The number of false matches that the model expects in a world, and the true number.
public struct SimulatedEstimate {
    public private(set) var estimate = FalseMatchEstimate()
    public let replay: Replay
    /// A digest of every answer to a counted launch, to compare two builds of the model to the last bit.
    ///
    /// Sums over dictionaries depend on their order, so run both with `SWIFT_DETERMINISTIC_HASHING=1`.
    public private(set) var digest: UInt64 = 0

    public var score: ReplayScore { replay.score }

    /// The number of matches with another link than the person's click had, or for a launch without a click.
    public var trueFalse: Int { score.knownMatches - score.rightLink }

    public init(_ world: World, seed: UInt64, _ plan: ReplayPlan) {
        self.init(TraceGenerator.events(of: world, seed: seed), plan)
    }

    init(_ events: [TraceEvent], _ plan: ReplayPlan) {
        var recorder = EventRecorder()
        var replay = Replay(plan, began: TraceGenerator.beginning)
        for event in events {
            guard let answer = replay.play(recorder.recorded(event)) else { continue }
            for word in [
                answer.click ?? .max, answer.destination?.url ?? .max, answer.destination?.campaign ?? .max,
                answer.probability.bitPattern, answer.ageSeconds?.bitPattern ?? .max,
            ] { digest = SeededGenerator.mixed(digest ^ word) }
            let isMatch = answer.destination != nil
            estimate.add(probability: answer.probability, ageSeconds: answer.ageSeconds, isMatch: isMatch)
        }
        self.replay = replay
    }
}
