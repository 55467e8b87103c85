import Foundation
import Support

/// Requests at a rate that does not follow the answers, as those of real visitors do not.
package struct ConstantRatePlan: Codable {
    package enum Kind: String, Codable {
        /// Checks of fingerprints without a click.
        case misses
        /// New clicks.
        case clicks
        /// By turns such a check, and a check of a click that a load of the same series made some seconds before.
        case missesAndMatches
        /// New clicks at the times of ``history``, of which every tenth is matched.
        case clicksOfThePast
    }

    var kind: Kind
    var port: UInt16
    var key: String
    /// Distinguishes its clicks from those of other loads.
    var series: UInt32
    /// Requests a second.
    var rate: Double
    var seconds: Double
    var connections = 64
    /// Of the clicks that ``Kind/missesAndMatches`` follows.
    var clickRate = 0.0
    /// When the first and the last request of ``Kind/clicksOfThePast`` happen, in milliseconds since 1970.
    var history: ClosedRange<Int64>?
    /// How many seconds after the last request answers are awaited.
    var patience = 5.0

    package init(
        kind: Kind,
        port: UInt16,
        key: String,
        series: UInt32,
        rate: Double,
        seconds: Double,
        connections: Int = 64
    ) {
        (self.kind, self.port, self.key, self.series) = (kind, port, key, series)
        (self.rate, self.seconds, self.connections) = (rate, seconds, connections)
    }

    /// Starts it as a process of its own.
    func start() throws -> ChildProcess { try LoadProgram.constantRate.start(self) }

    /// Runs it to its end, as a process of its own.
    func run() throws -> ConstantRateResult { try LoadProgram.result(of: start()) }
}

/// The result of a ``ConstantRatePlan``.
///
/// Durations count from when a request should have been sent, so that one slow answer does not hide the delay of
/// those that had to wait behind it.
package struct ConstantRateResult: Codable {
    package let intended: Int
    package let answered: Int
    /// Refused, cut off, or not answered some seconds after the end.
    package let failures: Int
    package let perSecond: Double
    package let p50: Double
    package let p99: Double
    package let p999: Double
    package let longest: Double

    /// Whether the server kept up with the rate.
    var isSustained: Bool { Double(answered) >= 0.99 * Double(intended) && longest < 2_000_000 }
}

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
