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

    /// Whether the last write reached the disk, and the next one may.
    public var acceptsWrites: Bool { lastFailure == nil && !isStopping }
}

/// How many observations fell below each bound, and their sum: what a Prometheus histogram is made of.
public struct Histogram: Equatable, Sendable {
    /// Ascending.
    public let bounds: [Double]
    /// One more than the bounds, not cumulative: the last one counts what is above all bounds.
    public private(set) var counts: [Int64]
    public private(set) var sum: Double = 0

    public init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    public mutating func observe(_ value: Double) {
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
    }

    public var count: Int64 { counts.reduce(0, +) }
}
