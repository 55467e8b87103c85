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
    package let p99: Double
    package let longest: Double

    /// Whether the server kept up with the rate.
    var isSustained: Bool { Double(answered) >= 0.99 * Double(intended) && longest < 2_000_000 }
}

/// The durations of a load's requests.
package struct Latencies {
    private var microseconds: [UInt32] = []

    /// Makes room for a number of durations, so that adding them takes no time of the load.
    package init(capacity: Int) { microseconds.reserveCapacity(capacity) }

    package var count: Int { microseconds.count }

    package mutating func add(microseconds duration: UInt64) {
        microseconds.append(UInt32(clamping: duration))
    }

    /// The durations that the given shares (0…1) of all do not exceed, in microseconds; zeros without any.
    package func quantiles(_ shares: Double...) -> [Double] {
        let sorted = microseconds.sorted()
        return shares.map { share in
            guard !sorted.isEmpty else { return 0 }
            return Double(sorted[max(Int((share * Double(sorted.count)).rounded(.up)), 1) - 1])
        }
    }
}
