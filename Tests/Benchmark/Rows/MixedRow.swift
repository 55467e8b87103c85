import Glibc
import Support

/// The tail of checks while clicks are written: requests at constant rates, whatever the answers do.
enum MixedRow {
    static func measure(_ bench: Workbench) throws -> [Figure] {
        let server = try Server(bench.installation(.live(bench.scale.liveClicks)), bench)
        let rates = Rates()
        try rates.find(on: server, bench)
        let turns = try bench.interleaved([
            { try turn(checks: 0.7 * rates.checks, clicks: rates.clicks, server, $0, bench) },
            { try turn(checks: 0.7 * rates.checksBesideClicks, clicks: rates.clicks, server, $0, bench) },
        ])
        return [
            Figure(.mixedTailMilliseconds, turns[0].map { $0.checks.p99 / 1000 }, note: note(turns[0])),
            Figure(.mixedTailBesideMilliseconds, turns[1].map { $0.checks.p99 / 1000 }, note: note(turns[1])),
            Figure(.mixedChecksPerSecond, turns[1].map(\.checks.perSecond)),
            Figure(.mixedClicksPerSecond, turns[1].map(\.clicks.perSecond)),
        ]
    }

    static func contests(_ bench: Workbench, _ rates: Rates) throws -> [Contest] {
        let server = try Server(bench.installation(.live(bench.scale.liveClicks)), bench)
        if rates.clicks == 0 { try rates.find(on: server, bench) }
        return [
            Contest(.mixedHighestPerSecond) { seconds in
                [
                    try beside(clicks: rates.clicks, server, seconds, bench) {
                        try server.highestCheckRate(seconds, bench)
                    }.value
                ]
            },
            Contest(.mixedTailBesideMilliseconds) { seconds in
                let checks = 0.7 * rates.checksBesideClicks
                return [
                    try turn(checks: checks, clicks: rates.clicks, server, seconds, bench).checks.p99 / 1000
                ]
            },
        ]
    }

    /// The rates of the loads, a second: with two binaries the same ones for both.
    final class Rates {
        /// The highest rate of checks without clicks.
        private(set) var checks = 0.0
        /// Half the highest rate of clicks without checks.
        private(set) var clicks = 0.0
        /// The highest rate of checks beside such clicks.
        private(set) var checksBesideClicks = 0.0

        func find(on server: Server, _ bench: Workbench) throws {
            let seconds = bench.options.seconds
            checks = try server.highestCheckRate(seconds, bench)
            clicks = try server.highestClickRate(seconds, bench) / 2
            checksBesideClicks = try beside(clicks: clicks, server, seconds, bench) {
                try server.highestCheckRate(seconds, bench)
            }.value
        }
    }

    private struct Turn {
        let checks: ConstantRateResult
        let clicks: ConstantRateResult

        var isSustained: Bool { checks.isSustained && clicks.isSustained }
    }

    private static func turn(
        checks: Double,
        clicks: Double,
        _ server: Server,
        _ seconds: Double,
        _ bench: Workbench
    ) throws -> Turn {
        let plan = ConstantRatePlan(
            kind: .misses,
            port: server.port,
            key: server.installation.keys.app,
            series: bench.nextSeries(),
            rate: checks,
            seconds: seconds
        )
        let (result, clickResult) = try beside(clicks: clicks, server, seconds, bench) { try plan.run() }
        return Turn(checks: result, clicks: clickResult)
    }

    /// Runs `body` while clicks are written at a constant rate, which starts a second before it.
    fileprivate static func beside<Value>(
        clicks rate: Double,
        _ server: Server,
        _ seconds: Double,
        _ bench: Workbench,
        _ body: () throws -> Value
    ) throws -> (value: Value, clicks: ConstantRateResult) {
        let plan = ConstantRatePlan(
            kind: .clicks,
            port: server.port,
            key: server.installation.keys.app,
            series: bench.nextSeries(),
            rate: rate,
            seconds: seconds + 1.5,
            connections: 256
        )
        let load = try plan.start()
        sleep(1)
        let value = try body()
        return (value, try LoadProgram.result(of: load))
    }

    private static func note(_ turns: [Turn]) -> String? {
        let failed = turns.filter { !$0.isSustained }.count
        return failed == 0
            ? nil : "not sustained in \(failed) of \(turns.count) rounds: no core is left for it"
    }
}
