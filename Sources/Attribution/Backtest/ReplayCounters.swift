/// What a replay has learnt: the sums that a database keeps, in memory.
struct ReplayCounters: Sendable {
    private(set) var epoch: LearningEpoch
    /// Those of the model, which are read together.
    private var model: [CounterKey: Double] = [:]
    /// Those by fingerprint and address, which are read one by one.
    private var keyed: [CounterKey: Double] = [:]
    private var prunedAt: Timestamp

    /// After so many milliseconds, what has faded is forgotten.
    private static let pruning: Int64 = 86_400_000

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
        for (key, sum) in model where epoch.hasFaded(sum, key, at: now) { model[key] = nil }
        for (key, sum) in keyed where epoch.hasFaded(sum, key, at: now) { keyed[key] = nil }
    }

    func model(at now: Timestamp) -> MatchingModel {
        MatchingModel(sums: model, epoch: epoch, at: now)
    }

    /// What a counter by fingerprint or address is worth.
    func value(_ family: CounterFamily, _ key: UInt64, at now: Timestamp) -> Double {
        epoch.value(of: keyed[CounterKey(family, key)] ?? 0, family, at: now)
    }
}
