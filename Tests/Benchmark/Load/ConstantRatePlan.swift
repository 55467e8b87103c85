import Foundation

/// Requests at a rate that does not follow the answers, as those of real people.
package struct ConstantRatePlan: Codable {
    package enum Kind: String, Codable {
        /// Checks of fingerprints that nobody has clicked with.
        case misses
        /// Clicks that nobody has made before.
        case clicks
        /// One after another a check as above, and one of a click that such a load of the same series made some
        /// seconds before.
        case missesAndMatches
    }

    var kind: Kind
    var port: UInt16
    var key: String
    /// Tells its clicks from those of other loads.
    var series: UInt32
    /// Requests a second.
    var rate: Double
    var seconds: Double
    var connections = 64
    /// Of the clicks that ``Kind/missesAndMatches`` follows.
    var clickRate = 0.0

    package init(
        kind: Kind,
        port: UInt16,
        key: String,
        series: UInt32,
        rate: Double,
        seconds: Double,
        connections: Int = 64
    ) {
        self.kind = kind
        self.port = port
        self.key = key
        self.series = series
        self.rate = rate
        self.seconds = seconds
        self.connections = connections
    }

    /// Starts it beside this process.
    func start() throws -> ChildProcess {
        try LoadProgram.start(.constantRate, self)
    }

    /// Runs it to its end beside this process.
    func run() throws -> ConstantRateResult {
        try LoadProgram.result(of: start())
    }
}

/// What came of it.
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

    /// Whether the server kept up with what was asked of it.
    var isSustained: Bool {
        Double(answered) >= 0.99 * Double(intended) && longest < 2_000_000
    }
}
