/// The state of a store, for readiness and metrics.
public struct StoreHealth: Sendable {
    /// The error of the last transaction, or why the current one does not end; nil after a success, and before the
    /// first transaction.
    public var lastFailure: StoreError?
    public var isStopping = false
    /// The number of writes that wait or run.
    public var queueLength = 0
    /// How many writes each transaction contained.
    public var batchSizes = Histogram(bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512])
    /// The durations of commits in seconds, including the sync to disk.
    public var commitSeconds = Histogram(
        bounds: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]
    )
    /// The number of rejected requests since the start, by their error.
    public var refusals: [StoreError.Code: Int64] = [:]
    public var databaseBytes: Int64 = 0
    public var writeAheadLogBytes: Int64 = 0
    /// The free space on the file system of the database's file; nil if the database is no file on this machine, or if
    /// the space is unknown.
    public var freeBytes: Int64?
    /// The seconds since the oldest click that is still stored became due for deletion; 0 if no click is due.
    public var retentionLagSeconds: Int64 = 0

    /// The number of this server's attempts to deliver postbacks, by the delivery's state after the attempt.
    public var postbackAttempts: [DeliveryState: Int64] = [:]
    /// The seconds from an event to its delivery.
    public var postbackSeconds = Histogram(bounds: [0.1, 0.5, 1, 5, 30, 300, 3600, 86_400])
    /// The number of endpoints in each state, except those that an operator has disabled.
    public var postbackEndpoints: [PostbackEndpoint.State: Int] = [:]
    /// The number of pending deliveries to endpoints that no operator has disabled.
    public var postbackQueue = 0
    /// The age of the oldest of these deliveries.
    public var postbackAgeSeconds: Int64 = 0

    /// Why this server must get no requests although it can read and write; nil if it may get them.
    public var hindrance: Hindrance?

    /// A reason why the responses of one of several servers could be wrong.
    public enum Hindrance: Sendable {
        /// Apps and keys were last compared with the database more than two seconds ago.
        case oldDirectory
        /// The clock differs from the database's clock by more than a second.
        case wrongClock
    }

    public init() {}

    /// Whether the last transaction succeeded, or none ran yet, and the store is not stopping.
    public var acceptsWrites: Bool { lastFailure == nil && !isStopping }
}

/// The counts of observations between ascending bounds, and the observations' sum, for a Prometheus histogram.
public struct Histogram: Equatable, Sendable {
    /// Ascending.
    public let bounds: [Double]
    /// For each bound, the number of values up to this bound and above the one before; then the number of
    /// values above all bounds.
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
