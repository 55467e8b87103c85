public import Attribution

/// Some of what was learnt, small enough for one slice of the writer's time.
public struct LearntSlice: Sendable {
    public let scope: Scope
    public let epoch: LearningEpoch
    public let sums: [(key: CounterKey, sum: Double)]
    /// What may be added that is not stored yet.
    public let room: Room

    /// Whether there is room for more counters.
    public struct Room: Sendable {
        /// For counters of fingerprints and addresses.
        public var forKeys = true
        /// For counters of systems and signals.
        public var forMarks = true

        public init() {}

        /// Whether there is room for more counters of a family.
        public func holds(_ family: CounterFamily) -> Bool {
            guard family.isOpenEnded else { return true }
            return family.belongsToModel ? forMarks : forKeys
        }
    }

    private static let length = 400

    /// Splits what a scope has learnt.
    public static func slices(_ scope: Scope, _ increments: LearntIncrements, _ room: Room = Room())
        -> [LearntSlice]
    {
        // In the order in which they are stored, so that neighbours share pages.
        let sums = increments.sums.map { ($0.key, $0.value) }.sorted {
            ($0.0.family.rawValue, Int64(bitPattern: $0.0.key))
                < ($1.0.family.rawValue, Int64(bitPattern: $1.0.key))
        }
        return stride(from: 0, to: sums.count, by: length).map { start in
            LearntSlice(
                scope: scope,
                epoch: increments.epoch,
                sums: Array(sums[start..<min(start + length, sums.count)]),
                room: room
            )
        }
    }
}
