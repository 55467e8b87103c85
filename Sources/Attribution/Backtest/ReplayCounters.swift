/// What a replay has learnt: the sums that a database keeps, in memory.
struct ReplayCounters: Sendable {
    private(set) var epoch: LearningEpoch
    /// Those of the model, which are read together.
    private var model: [CounterKey: Double] = [:]
    /// Those by fingerprint and address, which are read one by one.
    private var keyed: [CounterKey: Double] = [:]
    private var prunedAt: Timestamp

    /// After so many milliseconds, what is worth next to nothing is forgotten.
    private static let pruning: Int64 = 86_400_000
    /// A launch of two weeks ago.
    private static let worthless = 0x1p-7

    init(began: Timestamp) {
        epoch = LearningEpoch(began: began)
        prunedAt = began
    }

    mutating func add(_ increments: LearntIncrements, at now: Timestamp) {
        for (key, sum) in increments.sums {
            if key.family.belongsToModel {
                model[key, default: 0] += sum
            } else {
                keyed[key, default: 0] += sum
            }
        }
        guard now.milliseconds(since: prunedAt) >= Self.pruning else { return }
        prunedAt = now
        for (key, sum) in keyed where epoch.value(of: abs(sum), key.family, at: now) < Self.worthless {
            keyed[key] = nil
        }
    }

    func model(at now: Timestamp) -> MatchingModel {
        MatchingModel(sums: model, epoch: epoch, at: now)
    }

    /// What a counter by fingerprint or address is worth.
    func value(_ family: CounterFamily, _ key: UInt64, at now: Timestamp) -> Double {
        epoch.value(of: keyed[CounterKey(family, key)] ?? 0, family, at: now)
    }
}
