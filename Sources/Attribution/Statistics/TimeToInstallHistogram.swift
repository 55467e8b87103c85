/// How long it took from click to first launch, in bins that widen with the time.
///
/// Bin 0 holds delays under a second; from there eight bins double the time. A quantile is therefore exact
/// to 9 % of itself.
public struct TimeToInstallHistogram: Equatable, Sendable {
    /// Number of delays in each bin that has any.
    public private(set) var counts: [Int: Int64] = [:]

    public init() {}

    public mutating func add(_ count: Int64, inBin bin: Int) {
        counts[bin, default: 0] += count
    }
}
