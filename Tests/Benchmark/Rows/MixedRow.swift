import Glibc
import Support

/// The tail of checks while clicks are written: requests at constant rates, whatever the answers do.
enum MixedRow: ComparableRow {
    static let name = "mixed"
    static let summary =
        "tail of checks at 70 % of the highest rate while clicks are written at half of theirs"
    private static let tailBeside = FigureName(
        "mixed_beside_p99_milliseconds",
        "p99 at 70 % of what is left beside the clicks, ms",
        .below(25)
    )

    static func measure(_ bench: Workbench) throws -> [Figure] {
        let server = try bench.liveServer()
        let rates = bench.mixedRates
        try rates.find(on: server)
        let turns = try bench.interleaved([
            { try turn(checks: 0.7 * rates.checks, clicks: rates.clicks, server, $0) },
            { try turn(checks: 0.7 * rates.checksBesideClicks, clicks: rates.clicks, server, $0) },
        ])
        return [
            FigureName(
                "mixed_p99_milliseconds",
                "p99 of checks at 70 % of the highest rate beside clicks, ms",
                .below(25)
            ).figure(turns[0].map { $0.checks.p99 / 1000 }, note: note(turns[0])),
            tailBeside.figure(turns[1].map { $0.checks.p99 / 1000 }, note: note(turns[1])),
            FigureName("mixed_checks_per_second", "checks a second, answered, at 70 %")
                .figure(turns[1].map(\.checks.perSecond)),
            FigureName("mixed_clicks_per_second", "clicks a second beside them")
                .figure(turns[1].map(\.clicks.perSecond)),
        ]
    }

    static func contests(_ bench: Workbench) throws -> [Contest] {
        let server = try bench.liveServer()
        let rates = bench.mixedRates
        if rates.clicks == 0 { try rates.find(on: server) }
        let title = "checks a second beside clicks, as many as there can be"
        return [
            Contest(FigureName("mixed_highest_checks_per_second", title)) { seconds in
                [
                    try beside(clicks: rates.clicks, server, seconds) { try server.highestCheckRate(seconds) }
                        .checks
                ]
            },
            Contest(tailBeside) { seconds in
                let checks = 0.7 * rates.checksBesideClicks
                return [try turn(checks: checks, clicks: rates.clicks, server, seconds).checks.p99 / 1000]
            },
        ]
    }

    /// The rates of the loads, a second.
    final class Rates {
        /// The highest rate of checks without clicks.
        private(set) var checks = 0.0
        /// Half the highest rate of clicks without checks.
        private(set) var clicks = 0.0
        /// The highest rate of checks beside such clicks.
        private(set) var checksBesideClicks = 0.0

        func find(on server: Server) throws {
            checks = try server.highestCheckRate()
            clicks = try server.highestClickRate() / 2
            let seconds = server.bench.options.seconds
            checksBesideClicks = try beside(clicks: clicks, server, seconds) { try server.highestCheckRate() }
                .checks
        }
    }

    private typealias Turn = (checks: ConstantRateResult, clicks: ConstantRateResult)

    private static func turn(checks: Double, clicks: Double, _ server: Server, _ seconds: Double) throws
        -> Turn
    {
        try beside(clicks: clicks, server, seconds) {
            try server.plan(.misses, rate: checks, seconds: seconds).run()
        }
    }

    /// Runs `body` while clicks are written at a constant rate, which starts a second before it.
    private static func beside<Value>(
        clicks rate: Double,
        _ server: Server,
        _ seconds: Double,
        _ body: () throws -> Value
    ) throws -> (checks: Value, clicks: ConstantRateResult) {
        let load = try server.plan(.clicks, rate: rate, seconds: seconds + 1.5, connections: 256).start()
        sleep(1)
        let value = try body()
        return (value, try LoadProgram.result(of: load))
    }

    private static func note(_ turns: [Turn]) -> String? {
        let failed = turns.count { !$0.checks.isSustained || !$0.clicks.isSustained }
        return failed == 0
            ? nil : "not sustained in \(failed) of \(turns.count) rounds: no core is left for it"
    }
}
