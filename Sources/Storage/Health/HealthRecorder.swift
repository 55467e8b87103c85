public import Attribution
internal import Threads

/// Counts how a store is doing; shared by all its threads.
public final class HealthRecorder: Sendable {
    private let health = ConditionLock(StoreHealth())

    public init() {}

    /// The counts so far.
    public var snapshot: StoreHealth { health.withLock { $0 } }

    func didCommit(_ batchSize: Int, seconds: Double) {
        health.withLock { health in
            health.lastFailure = nil
            health.batchSizes.observe(Double(batchSize))
            health.commitSeconds.observe(seconds)
        }
    }

    func didRefuse(_ count: Int, _ error: StoreError) {
        health.withLock { health in
            health.lastFailure = error
            health.refusals[error.code, default: 0] += Int64(count)
        }
    }

    /// Stores how long ago the oldest click expired that should have been deleted, in seconds.
    public func setRetentionLag(_ seconds: Int64) {
        health.withLock { $0.retentionLagSeconds = seconds }
    }
}
