/// Which launches have been learnt from in the last hour, so that one device that asks again and again teaches once.
///
/// Bounded: with more launches than that, the oldest are forgotten sooner. It is each server's own and is lost with it.
public struct RecentLaunches: Sendable {
    private var recent: Set<UInt64> = []
    private var older: Set<UInt64> = []
    private var since: Timestamp?
    private let limit: Int

    private static let hour: Int64 = 3_600_000

    public init(limit: Int = 100_000) {
        self.limit = max(1, limit)
    }

    /// Whether nothing was learnt from such a launch in the last hour; it counts as learnt from now.
    ///
    /// A launch is the first word of a keyed hash of the install id, or of fingerprint, address and agent.
    public mutating func isNew(_ launch: UInt64, at moment: Timestamp) -> Bool {
        let begun = since ?? moment
        since = begun
        let age = moment.milliseconds(since: begun)
        if age >= 2 * Self.hour || age < -Self.hour {
            older = []
            recent = []
            since = moment
        } else if age >= Self.hour || recent.count >= limit {
            older = recent
            // As many may come again: it does not grow anew each time.
            recent = Set(minimumCapacity: older.count)
            since = moment
        }
        let isKnown = older.contains(launch)
        return recent.insert(launch).inserted && !isKnown
    }
}
