/// Whether a series of samples stays flat.
package enum Trend {
    /// The share at the beginning that does not count: caches and pools fill.
    private static let warmUp = 0.2

    /// By how many percent of its mean the straight line through the samples (least squares) rises from the end of
    /// the warm-up to the last one; negative when it falls.
    package static func growthPercent(_ samples: [Double]) -> Double {
        let values = samples.dropFirst(Int(Double(samples.count) * warmUp))
        guard values.count > 1 else { return .nan }
        let count = Double(values.count)
        let mean = values.reduce(0, +) / count
        let middle = (count - 1) / 2
        var (covariance, variance) = (0.0, 0.0)
        for (index, value) in values.enumerated() {
            covariance += (Double(index) - middle) * (value - mean)
            variance += (Double(index) - middle) * (Double(index) - middle)
        }
        guard mean != 0, variance > 0 else { return .nan }
        return covariance / variance * (count - 1) / mean * 100
    }
}
