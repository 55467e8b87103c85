/// The times from click to first launch, in bins that widen with the time.
///
/// Bin 0 contains delays under a second; from there eight bins double the time. A quantile is therefore exact
/// to 9 % of itself.
public struct TimeToInstallHistogram: Equatable, Sendable {
    /// The number of delays in each bin that has any.
    public private(set) var counts: [Int: Int64] = [:]

    /// 2 to the power of 0/8, 1/8, … 8/8: the starts of the eight bins of a doubling, and its end.
    private static let steps = [
        1, 1.0905077326652577, 1.189207115002721, 1.2968395546510096, 1.4142135623730951, 1.5422108254079407,
        1.681792830507429, 1.8340080864093424, 2,
    ]

    public init() {}

    public mutating func add(_ count: Int64, inBin bin: Int) { counts[bin, default: 0] += count }

    /// The number of delays.
    public var total: Int64 { counts.values.reduce(0, +) }

    /// Returns the bin of a delay.
    ///
    /// A launch before its click, after a clock was set back, counts as no delay.
    public static func bin(forMilliseconds milliseconds: Int64) -> Int {
        guard milliseconds >= 1000 else { return 0 }
        let seconds = Double(milliseconds) / 1000
        let fraction = seconds.significand
        let step = steps.lastIndex { $0 <= fraction } ?? 0
        return 1 + Int(seconds.exponent) * 8 + min(step, 7)
    }

    /// Returns the delays of a bin, in milliseconds.
    public static func bounds(ofBin bin: Int) -> Range<Double> {
        guard bin > 0 else { return 0..<1000 }
        let (doublings, step) = (bin - 1).quotientAndRemainder(dividingBy: 8)
        let start = Double(sign: .plus, exponent: doublings, significand: 1000)
        return start * steps[step]..<start * steps[step + 1]
    }

    /// Returns the delay in milliseconds that a share (0…1) of all delays does not exceed; nil without
    /// delays.
    ///
    /// Assumes that delays are spread evenly within their bin.
    public func quantile(_ share: Double) -> Double? {
        let rank = min(max(share, 0), 1) * Double(total)
        var before: Double = 0
        for (bin, count) in counts.sorted(by: { $0.key < $1.key }) where count > 0 {
            let after = before + Double(count)
            if rank <= after {
                let bounds = Self.bounds(ofBin: bin)
                let position = (rank - before) / Double(count)
                return bounds.lowerBound + position * (bounds.upperBound - bounds.lowerBound)
            }
            before = after
        }
        return nil
    }
}
