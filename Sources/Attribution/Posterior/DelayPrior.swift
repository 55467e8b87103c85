internal import CMath

/// What is believed of the time from click to launch before an app's own traffic has shown it.
///
/// 0.70 × log-normal (median 4 min, σ 0.9) for those who install at once and 0.30 × log-normal (median 5 h, σ 1.7)
/// for those who do it later; and a thirtieth spread evenly over the logarithm of the time, so that nothing is
/// impossible: somebody who has the app installed and taps a link launches within a second.
public enum DelayPrior {
    /// The probability of each of the ``DelayBins``; they add up to one.
    public static let masses: [Double] = {
        let anything = 1.0 / 30
        let masses = (0..<DelayBins.count).map { bin in
            let range = DelayBins.bounds(ofBin: bin)
            let isLast = bin == DelayBins.count - 1
            let upper = isLast ? .infinity : range.upperBound
            return (1 - anything) * (mixture(upTo: upper) - mixture(upTo: range.lowerBound))
                + anything / Double(DelayBins.count)
        }
        let total = masses.reduce(0, +)
        return masses.map { $0 / total }
    }()

    /// The share of delays up to `seconds` in the mixture.
    static func mixture(upTo seconds: Double) -> Double {
        0.70 * logNormal(upTo: seconds, median: 240, sigma: 0.9)
            + 0.30 * logNormal(upTo: seconds, median: 18_000, sigma: 1.7)
    }

    private static func logNormal(upTo seconds: Double, median: Double, sigma: Double) -> Double {
        guard seconds > 0 else { return 0 }
        guard seconds.isFinite else { return 1 }
        let deviations = cmath_log(seconds / median) / sigma
        return 0.5 * cmath_erfc(-deviations * 0.7071067811865476)
    }
}
