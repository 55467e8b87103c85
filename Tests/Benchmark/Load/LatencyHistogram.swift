/// Durations in bins that are at most a hundredth of their value wide.
package struct LatencyHistogram {
    private static let stepsPerDoubling = 128
    /// By bin: microseconds up to 127 have one each, above them 64 bins double the time.
    private var counts = [Int](repeating: 0, count: stepsPerDoubling * 32)
    package private(set) var count = 0
    package private(set) var longest: UInt64 = 0

    package init() {}

    package mutating func add(microseconds: UInt64) {
        counts[Self.bin(microseconds)] += 1
        count += 1
        longest = max(longest, microseconds)
    }

    /// The duration that the share (0…1) of all does not exceed, in microseconds; 0 without any.
    package func quantile(_ share: Double) -> Double {
        let rank = Int((share * Double(count)).rounded(.up))
        var seen = 0
        for (bin, count) in counts.enumerated() where count > 0 {
            seen += count
            if seen >= rank { return min(Double(Self.upperBound(bin)), Double(longest)) }
        }
        return 0
    }

    private static func bin(_ value: UInt64) -> Int {
        guard value >= UInt64(stepsPerDoubling) else { return Int(value) }
        // The highest seven bits tell the bin, the number of the others the doubling.
        let shift = UInt64.bitWidth - value.leadingZeroBitCount - 7
        return min(shift * stepsPerDoubling / 2 + Int(value >> UInt64(shift)), stepsPerDoubling * 32 - 1)
    }

    private static func upperBound(_ bin: Int) -> UInt64 {
        guard bin >= stepsPerDoubling else { return UInt64(bin) }
        let half = stepsPerDoubling / 2
        let shift = bin / half - 1
        return (UInt64(bin - shift * half) + 1) << UInt64(shift) - 1
    }
}
