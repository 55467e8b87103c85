import Glibc

/// The tail of checks while clicks are written: requests at constant rates, whatever the answers do.
enum MixedRow {
    static func measure(_ bench: Workbench) throws -> [Figure] {
        let server = try Server(bench.installation(.live(bench.scale.liveClicks)), bench)
        let highestChecks = try Loading.highestCheckRate(server, bench)
        let clickRate = try Loading.highestClickRate(server, bench) / 2
        let checksBeside = try beside(clicks: clickRate, server, bench.options.seconds, bench) {
            try Loading.highestCheckRate(server, bench)
        }.value
        let turns = try bench.interleaved([
            { try turn(checks: 0.7 * highestChecks, clicks: clickRate, server, $0, bench) },
            { try turn(checks: 0.7 * checksBeside, clicks: clickRate, server, $0, bench) },
        ])
        return [
            Figure(.mixedTailMilliseconds, turns[0].map { $0.checks.p99 / 1000 }, note: note(turns[0])),
            Figure(.mixedTailBesideMilliseconds, turns[1].map { $0.checks.p99 / 1000 }, note: note(turns[1])),
            Figure(.mixedChecksPerSecond, turns[1].map(\.checks.perSecond)),
            Figure(.mixedClicksPerSecond, turns[1].map(\.clicks.perSecond)),
        ]
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

    /// Does something while clicks are written at a constant rate, from a second before it on.
    private static func beside<Value>(
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
