/// Whether stated probabilities come true: of matches stated at 80 %, four in five should be right.
public struct Calibration: Equatable, Sendable {
    /// The matches stated within a tenth.
    public struct Bin: Equatable, Sendable {
        public fileprivate(set) var count = 0
        fileprivate var statedSum = 0.0
        fileprivate var rightCount = 0

        /// The mean of what was stated; 0 without a match.
        public var stated: Double { count > 0 ? statedSum / Double(count) : 0 }
        /// The share that was right; 0 without a match.
        public var right: Double { count > 0 ? Double(rightCount) / Double(count) : 0 }
    }

    /// Ten bins of equal width, from 0…0.1 to 0.9…1.
    public private(set) var bins = [Bin](repeating: Bin(), count: 10)

    public init() {}

    /// Counts a match; a probability that is no number counts as 0.
    public mutating func add(stated: Double, isRight: Bool) {
        let stated = stated.isNaN ? 0 : min(max(stated, 0), 1)
        let bin = min(Int(stated * 10), 9)
        bins[bin].count += 1
        bins[bin].statedSum += stated
        if isRight { bins[bin].rightCount += 1 }
    }

    /// The expected calibration error: how far the bins are off, each weighing as much as it has matches.
    ///
    /// Source: Naeini, Cooper, Hauskrecht: Obtaining well calibrated probabilities using Bayesian binning (2015).
    public var error: Double {
        let total = bins.reduce(0) { $0 + $1.count }
        guard total > 0 else { return 0 }
        let off = bins.reduce(0) { $0 + abs($1.statedSum - Double($1.rightCount)) }
        return off / Double(total)
    }
}
