/// The time from click to launch in bins that widen with it: two for each doubling, from one second to the longest
/// attribution window.
///
/// Bin 0 holds everything below a second, a launch before its click (a clock set back) included; the last bin
/// everything above its lower bound.
public enum DelayBins {
    /// 22 doublings reach 48 days.
    public static let count = 45

    private static let squareRootOfTwo = 1.4142135623730951

    /// The bin of a delay in seconds; what is not a number has no delay.
    public static func bin(forSeconds seconds: Double) -> Int {
        guard seconds >= 1 else { return 0 }
        guard seconds.isFinite else { return count - 1 }
        let half = seconds.significand >= squareRootOfTwo ? 1 : 0
        return min(1 + 2 * Int(seconds.exponent) + half, count - 1)
    }

    /// The delays of a bin, in seconds; a bin out of range is taken for the nearest.
    public static func bounds(ofBin bin: Int) -> Range<Double> {
        guard bin > 0 else { return 0..<1 }
        return edge(min(bin, count - 1) - 1)..<edge(min(bin, count - 1))
    }

    /// A delay in seconds that stands for all of a bin's: the geometric mean of its bounds.
    public static func middle(ofBin bin: Int) -> Double {
        guard bin > 0 else { return 0.5 }
        return bounds(ofBin: bin).lowerBound * 1.189207115002721
    }

    /// Two to the power of half the index.
    private static func edge(_ index: Int) -> Double {
        Double(sign: .plus, exponent: index / 2, significand: index.isMultiple(of: 2) ? 1 : squareRootOfTwo)
    }
}
