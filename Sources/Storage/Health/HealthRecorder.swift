internal import Attribution
internal import Synchronization
internal import Threads

/// The counts of a store's health, which all its threads share.
final class HealthRecorder: Sendable {
    private let health = ConditionLock(StoreHealth())
    /// The last comparison with a database that other servers change too; nil before the first.
    private let comparison = ConditionLock<(at: UInt64, clockLead: Int64)?>(nil)

    /// When a write was last refused as `incompatible`, in nanoseconds of the monotonic clock.
    private let incompatibleAt = Atomic<UInt64>(0)

    /// How long an `incompatible` refusal counts, in nanoseconds, even if writes that need other tables or rights
    /// succeed.
    private static let incompatibleTime: UInt64 = 5_000_000_000
    /// If the last comparison is older than this, in nanoseconds, apps and keys count as out of date.
    private static let maximumAge: UInt64 = 2_000_000_000
    /// The maximum difference from the database's clock, in milliseconds.
    private static let maximumLead: Int64 = 1000

    /// The counts so far.
    var snapshot: StoreHealth { health.withLock { $0 } }

    func didCommit(_ batchSize: Int, seconds: Double, at now: UInt64) {
        let isCompatible = now >= incompatibleAt.load(ordering: .relaxed) + Self.incompatibleTime
        health.withLock { health in
            if isCompatible || health.lastFailure?.code != .incompatible { health.lastFailure = nil }
            health.batchSizes.observe(Double(batchSize))
            health.commitSeconds.observe(seconds)
        }
    }

    func didRefuse(_ count: Int, _ error: StoreError, at now: UInt64) {
        if error.code == .incompatible { incompatibleAt.store(now, ordering: .relaxed) }
        health.withLock { health in
            health.lastFailure = error
            health.refusals[error.code, default: 0] += Int64(count)
        }
    }

    /// Stores the time of a comparison of apps and keys with the database, in nanoseconds, and the number of
    /// milliseconds by which this server's clock was ahead of the database's.
    func noteComparison(at moment: UInt64, clockLead: Int64) {
        comparison.withLock { $0 = (moment, clockLead) }
    }

    /// The milliseconds by which this server's clock is ahead of the database's; 0 before the first comparison.
    var clockLead: Int64 { comparison.withLock { $0?.clockLead ?? 0 } }

    /// Returns why this server must not get requests now; `now` is a time of the monotonic clock in nanoseconds.
    func hindrance(at now: UInt64) -> StoreHealth.Hindrance? {
        guard let last = comparison.withLock({ $0 }) else { return nil }
        if now > last.at + Self.maximumAge { return .oldDirectory }
        return last.clockLead.magnitude > UInt64(Self.maximumLead) ? .wrongClock : nil
    }

    func setDatabaseSize(_ bytes: Int64) { health.withLock { $0.databaseBytes = bytes } }

    /// Counts an attempt to deliver a postback; `age` is the age of a delivered event, in milliseconds.
    func notePostback(_ state: DeliveryState, deliveredAfter age: Int64?) {
        health.withLock { health in
            health.postbackAttempts[state, default: 0] += 1
            if let age { health.postbackSeconds.observe(Double(age) / 1000) }
        }
    }

    func setPostbackEndpoints(_ counts: [PostbackEndpoint.State: Int]) {
        health.withLock { $0.postbackEndpoints = counts }
    }

    /// Stores the number of pending deliveries, and the age of the oldest one in milliseconds.
    func setPostbackQueue(_ count: Int, age: Int64) {
        health.withLock { ($0.postbackQueue, $0.postbackAgeSeconds) = (count, max(0, age) / 1000) }
    }

    /// Stores how late the deletion of the oldest click is, in seconds; 0 if no deletion is due.
    func setRetentionLag(_ seconds: Int64) { health.withLock { $0.retentionLagSeconds = seconds } }
}
