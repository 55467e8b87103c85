import Foundation
import Support

/// Requests at a constant rate that does not depend on the responses, as with real visitors.
package struct ConstantRatePlan: Codable {
    package enum Kind: String, Codable {
        /// Checks of fingerprints without a click.
        case misses
        /// New clicks.
        case clicks
        /// Alternately a check without a click, and a check of a click that a load of the same series sent seconds ago.
        case missesAndMatches
        /// Checks of the clicks that a load of the same series sent, from ``first`` on.
        case matches
        /// New clicks at the times of ``history``, and after every ten clicks a check that matches one.
        case clicksOfThePast
    }

    var kind: Kind
    var port: UInt16
    var key: String
    /// The number of requests a second.
    var rate: Double
    var seconds: Double
    /// The number that distinguishes the clicks of this load from the clicks of other loads.
    var series: UInt32 = 1
    package var connections = 64
    /// The rate, in clicks a second, of the load whose clicks ``Kind/missesAndMatches`` checks.
    var clickRate = 0.0
    /// The number of the first click that ``Kind/matches`` checks.
    var first = 0
    /// The times of the first and the last request of ``Kind/clicksOfThePast``, in milliseconds since 1970.
    var history: ClosedRange<Int64>?
    /// For how many seconds after the last request the load waits for responses.
    var patience = 5.0

    package init(_ kind: Kind, port: UInt16, key: String, rate: Double, seconds: Double) {
        (self.kind, self.port, self.key, self.rate, self.seconds) = (kind, port, key, rate, seconds)
    }

    /// Starts the load in a child process.
    func start() throws -> ChildProcess { try LoadProgram.constantRate.start(self) }

    /// Runs the load to its end in a child process.
    func run() throws -> ConstantRateResult { try LoadProgram.result(of: start()) }
}

/// The result of a ``ConstantRatePlan``.
///
/// A duration, in microseconds, starts when the request should have been sent. So one slow response does not hide the
/// delay of the requests that had to wait for it.
package struct ConstantRateResult: Codable {
    package let intended: Int
    package let answered: Int
    /// Requests that were refused, cut off, or without a response some seconds after the end.
    package let failures: Int
    package let perSecond: Double
    package let p99: Double
    package let longest: Double

    /// Whether the server responded to 99 % of the requests, and to each within two seconds.
    var isSustained: Bool { Double(answered) >= 0.99 * Double(intended) && longest < 2_000_000 }
}

/// The durations of a load's requests.
package struct Latencies {
    private var microseconds: [UInt32] = []

    /// Reserves memory for a number of durations, so that adding one does not delay the load.
    package init(capacity: Int) { microseconds.reserveCapacity(capacity) }

    package var count: Int { microseconds.count }

    package mutating func add(microseconds duration: UInt64) {
        microseconds.append(UInt32(clamping: duration))
    }

    /// Returns for each share (0…1) the duration in microseconds that this share of all requests does not
    /// exceed; zeros if there are no requests.
    package func quantiles(_ shares: Double...) -> [Double] {
        let sorted = microseconds.sorted()
        return shares.map { share in
            guard !sorted.isEmpty else { return 0 }
            return Double(sorted[max(Int((share * Double(sorted.count)).rounded(.up)), 1) - 1])
        }
    }
}
