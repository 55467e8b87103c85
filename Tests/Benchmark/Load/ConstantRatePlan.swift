import Foundation
import Support

/// Requests at a rate that does not follow the responses, as those of real visitors do not.
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
    /// Requests a second.
    var rate: Double
    var seconds: Double
    /// Distinguishes its clicks from those of other loads.
    var series: UInt32 = 1
    package var connections = 64
    /// The rate of the clicks that ``Kind/missesAndMatches`` follows.
    var clickRate = 0.0
    /// The times of the first and the last request of ``Kind/clicksOfThePast``, in milliseconds since 1970.
    var history: ClosedRange<Int64>?
    /// For how many seconds after the last request the load waits for responses.
    var patience = 5.0

    package init(_ kind: Kind, port: UInt16, key: String, rate: Double, seconds: Double) {
        (self.kind, self.port, self.key, self.rate, self.seconds) = (kind, port, key, rate, seconds)
    }

    /// Starts the load as a process of its own.
    func start() throws -> ChildProcess { try LoadProgram.constantRate.start(self) }

    /// Runs the load to its end, as a process of its own.
    func run() throws -> ConstantRateResult { try LoadProgram.result(of: start()) }
}

/// The result of a ``ConstantRatePlan``.
///
/// Durations count from when a request should have been sent, so that one slow response does not hide the delay of
/// the requests that had to wait for it.
package struct ConstantRateResult: Codable {
    package let intended: Int
    package let answered: Int
    /// Requests that were refused, cut off, or without a response some seconds after the end.
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
