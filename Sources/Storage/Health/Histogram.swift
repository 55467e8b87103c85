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
