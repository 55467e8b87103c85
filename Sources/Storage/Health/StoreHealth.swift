public import Attribution

/// How a store is doing, for readiness and metrics.
public struct StoreHealth: Sendable {
    /// Why the last transaction failed; nil when it succeeded or there was none yet.
    public var lastFailure: StoreError?
    public var isStopping = false
    /// Writes that wait or are under way.
    public var queueLength = 0
    public var batchSizes = Histogram(bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512])
    /// Seconds that a commit took, the sync to disk included.
    public var commitSeconds = Histogram(
        bounds: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]
    )
    /// Requests refused since the start.
    public var refusals: [StoreError.Code: Int64] = [:]
    public var databaseBytes: Int64 = 0
    public var writeAheadLogBytes: Int64 = 0
    /// How long ago the oldest click expired that retention should have deleted, in seconds; 0 when none is left.
    public var retentionLagSeconds: Int64 = 0

    public init() {}
}
