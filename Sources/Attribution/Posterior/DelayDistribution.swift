internal import CMath

/// Bins for the time from click to launch: two for each doubling of the time from one second on, up to a time
/// beyond the longest attribution window.
///
/// Bin 0 contains everything below a second, including a launch before its click (after a clock was set
/// back); the last bin contains everything above its lower bound.
public enum DelayBins {
    /// The number of bins; their 22 doublings reach 48 days.
    public static let count = 45

    private static let squareRootOfTwo = 1.4142135623730951

    /// Returns the bin of a delay in seconds; 0 for NaN.
    public static func bin(forSeconds seconds: Double) -> Int {
        guard seconds >= 1 else { return 0 }
        guard seconds.isFinite else { return count - 1 }
        let half = seconds.significand >= squareRootOfTwo ? 1 : 0
        return min(1 + 2 * Int(seconds.exponent) + half, count - 1)
    }

    /// Returns the delays of a bin in seconds; a bin out of range counts as the nearest one.
    public static func bounds(ofBin bin: Int) -> Range<Double> {
        guard bin > 0 else { return 0..<1 }
        return edge(min(bin, count - 1) - 1)..<edge(min(bin, count - 1))
    }

    /// Returns the geometric mean of a bin's bounds, in seconds; 0.5 for bin 0.
    public static func middle(ofBin bin: Int) -> Double {
        guard bin > 0 else { return 0.5 }
        return bounds(ofBin: bin).lowerBound * 1.189207115002721
    }

    /// Returns two to the power of half the index.
    private static func edge(_ index: Int) -> Double {
        Double(sign: .plus, exponent: index / 2, significand: index.isMultiple(of: 2) ? 1 : squareRootOfTwo)
    }
}

/// The assumed distribution of the time from click to launch, until an app's own traffic shows the real one.
///
/// It is a mixture of two log-normal distributions, for people who install at once and people who install
/// later. A small share is spread evenly over the logarithm of the time, so that no delay is impossible: if
/// the app was installed before the tap, its launch comes within a second.
public enum DelayPrior {
    /// The probability of each of the ``DelayBins``; they add up to one.
    public static let masses: [Double] = {
        let anything = ModelConstants.evenDelayShare
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

    /// Returns the share of delays up to `seconds` in the mixture of the two distributions.
    static func mixture(upTo seconds: Double) -> Double {
        ModelConstants.promptDelayShare
            * logNormal(
                upTo: seconds,
                median: ModelConstants.promptDelayMedian,
                sigma: ModelConstants.promptDelaySigma
            )
            + ModelConstants.lateDelayShare
            * logNormal(
                upTo: seconds,
                median: ModelConstants.lateDelayMedian,
                sigma: ModelConstants.lateDelaySigma
            )
    }

    private static func logNormal(upTo seconds: Double, median: Double, sigma: Double) -> Double {
        guard seconds > 0 else { return 0 }
        guard seconds.isFinite else { return 1 }
        let deviations = cmath_log(seconds / median) / sigma
        return 0.5 * cmath_erfc(-deviations * 0.7071067811865476)
    }
}

/// The share of the counted clicks that are old enough for each delay: a click of a minute ago cannot have
/// led to a launch with a delay of an hour.
struct ClickExposure {
    /// The share for each ``DelayBins`` bin, above 0 and at most 1.
    let byBin: [Double]

    init(_ counters: ModelCounters) {
        let now = counters.at.milliseconds
        var live = [Double](repeating: 0, count: DelayBins.count)
        var total = 0.0
        for (hour, clicks) in counters.all(.clicksByHour) {
            let age = Double(now - Int64(clamping: hour) * 3_600_000) / 1000
            let halfLife = CounterFamily.clicks.halfLife ?? 604_800
            guard clicks > 0, age > 0, age < 8 * halfLife else { continue }
            let faded = clicks * LearningEpoch.fading(age, halfLife: halfLife)
            total += faded
            for bin in live.indices {
                // Assume that the clicks of an hour are spread evenly over its elapsed part.
                let span = min(age, 3600)
                let seen = (age - DelayBins.middle(ofBin: bin)) / span
                live[bin] += faded * min(max(seen, 0), 1)
            }
        }
        byBin = live.map { total > 0 ? min(max($0 / total, ModelConstants.minimumBinExposure), 1) : 1 }
    }

    /// Returns the share of all conversions that the counted clicks can have led to by now.
    func share(density: [Double]) -> Double {
        var share = 0.0
        var whole = 0.0
        for bin in byBin.indices {
            let range = DelayBins.bounds(ofBin: bin)
            let mass = density[bin] * (range.upperBound - range.lowerBound)
            share += mass * byBin[bin]
            whole += mass
        }
        return whole > 0 ? min(max(share / whole, ModelConstants.minimumExposure), 1) : 1
    }
}
