/// The state of a store, for readiness and metrics.
public struct StoreHealth: Sendable {
    /// A cumulative histogram as Prometheus has it.
    public struct Histogram: Sendable {
        /// Upper bounds, ascending, and how many values lie at or below each.
        public var buckets: [(bound: Double, count: Int64)]
        public var count: Int64
        public var sum: Double

        public init(buckets: [(bound: Double, count: Int64)], count: Int64, sum: Double) {
            self.buckets = buckets
            self.count = count
            self.sum = sum
        }
    }

    /// One number by its Prometheus name.
    public struct Sample: Sendable {
        public enum Kind: String, Sendable { case counter, gauge }
        public var name: String
        public var help: String
        public var kind: Kind
        public var label: (name: String, value: String)?
        public var value: Double

        public init(
            _ name: String,
            _ kind: Kind,
            _ value: Double,
            help: String,
            label: (name: String, value: String)? = nil
        ) {
            self.name = name
            self.kind = kind
            self.value = value
            self.help = help
            self.label = label
        }
    }

    /// Whether the last write reached the disk.
    public var acceptsWrites: Bool
    public var samples: [Sample]
    public var histograms: [(name: String, help: String, histogram: Histogram)]

    public init(
        acceptsWrites: Bool,
        samples: [Sample] = [],
        histograms: [(name: String, help: String, histogram: Histogram)] = []
    ) {
        self.acceptsWrites = acceptsWrites
        self.samples = samples
        self.histograms = histograms
    }
}
