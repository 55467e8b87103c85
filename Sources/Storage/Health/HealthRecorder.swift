internal import Attribution
internal import Threads

/// The counts of a store's health, which all its threads share.
final class HealthRecorder: Sendable {
    private let health = ConditionLock(StoreHealth())

    /// The counts so far.
    var snapshot: StoreHealth { health.withLock { $0 } }

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

    /// Stores for how many seconds the oldest click has been due to be deleted; 0 if none is due.
    func setRetentionLag(_ seconds: Int64) { health.withLock { $0.retentionLagSeconds = seconds } }
}
