import Glibc
import SQLite
import Support

// Rows that measure the tail (high quantiles) of the durations of checks, while the server does other work as well.
extension Row {
    /// The tail of checks while clicks are written.
    static let mixed = Row(
        "mixed",
        "tail of checks at 70 % of the highest rate while clicks are written at half of theirs",
        isComparable: true
    ) { bench in
        let server = try bench.liveServer()
        let rates = bench.mixedRates
        if rates.clicks == 0 { try rates.find(on: server) }
        let besideTitle = "p99 at 70 % of what is left beside the clicks, ms"
        let beside = tail("mixed_beside", besideTitle, server, rates.checksBesideClicks)
        guard bench.comparesBinaries else {
            let title = "p99 of checks at 70 % of the highest rate beside clicks, ms"
            return [tail("mixed", title, server, rates.checks), beside]
        }
        let title = "checks a second beside clicks, as many as there can be"
        let highest = Contest(names: [FigureName("mixed_highest_checks_per_second", title)]) { seconds in
            let check = { try server.highestCheckRate(seconds) }
            return [try server.besideClicks(rate: rates.clicks, seconds, check).value]
        }
        return [highest, beside]
    }

    /// Returns the contest of the tail at 70 % of the given rate, while clicks are written.
    private static func tail(_ name: String, _ title: String, _ server: Server, _ rate: Double) -> Contest {
        Contest(
            names: [FigureName("\(name)_p99_milliseconds", title, .below(25))],
            explaining: [
                FigureName("\(name)_checks_per_second", "checks a second with a response, at 70 %"),
                FigureName("\(name)_clicks_per_second", "clicks a second beside them"),
            ],
            note: { rounds in
                let failed = rounds.count { $0.last == 0 }
                let note = "not sustained in \(failed) of \(rounds.count) rounds: no core is left for it"
                return failed == 0 ? nil : note
            }
        ) { seconds in
            let rates = server.bench.mixedRates
            let (checks, clicks) = try server.besideClicks(rate: rates.clicks, seconds) {
                try server.plan(.misses, rate: 0.7 * rate, seconds: seconds).run()
            }
            let isSustained = checks.isSustained && clicks.isSustained
            return [checks.p99 / 1000, checks.perSecond, clicks.perSecond, isSustained ? 1 : 0]
        }
    }

    /// The tail while the server deletes expired clicks, as a share of the tail without expired clicks.
    static let retention = Row(
        "retention",
        "tail of checks while retention deletes 1 M expired clicks, against none",
        shares: [
            Share("retention_p99_growth", "p99 while retention deletes, of none", .atMost(1.5), of: (1, 0))
        ]
    ) { bench in
        let (live, expired) = (bench.scale.liveClicks, bench.scale.expiredClicks)
        let installation = try bench.installation(SeedPlan(stored: live + expired, live: live))
        // The load sends half as many checks a second as the server can serve.
        let rate = try Server(installation, bench).highestCheckRate() / 2
        func count() throws -> Int64 { try installation.open().integer("SELECT count(*) FROM clicks") }
        /// Returns the p99 of checks in milliseconds, and the number of clicks deleted a second.
        func measure(retentionDays: Int, _ seconds: Double) throws -> [Double] {
            let before = try count()
            let server = try Server(installation, bench, retentionSeconds: retentionDays * 86_400)
            // Wait until the server has started to delete.
            usleep(1_500_000)
            let result = try server.plan(.misses, rate: rate, seconds: seconds).run()
            guard result.isSustained else {
                throw BenchmarkError("The machine did not keep up with half its highest rate.")
            }
            server.stop()
            return [result.p99 / 1000, Double(before - (try count())) / (seconds + 1.5)]
        }
        return [
            Contest(names: [FigureName("no_retention_p99_milliseconds", "p99 of checks without, ms")]) {
                try measure(retentionDays: 3650, $0)
            },
            Contest(names: [
                FigureName("retention_p99_milliseconds", "p99 of checks while retention deletes, ms"),
                FigureName("deleted_per_second", "clicks deleted a second"),
            ]) { seconds in
                let figures = try measure(retentionDays: 1, seconds)
                guard figures[1] > 0 else {
                    throw BenchmarkError("Nothing was left to delete in a round: use fewer --seconds.")
                }
                return figures
            },
        ]
    }
}

/// The rates of the mixed load, in requests a second.
final class MixedRates {
    /// The highest rate of checks without clicks.
    private(set) var checks = 0.0
    /// Half the highest rate of clicks without checks.
    private(set) var clicks = 0.0
    /// The highest rate of checks while clicks come at the rate ``clicks``.
    private(set) var checksBesideClicks = 0.0

    func find(on server: Server) throws {
        (checks, clicks) = (try server.highestCheckRate(), try server.highestClickRate() / 2)
        let check = { try server.highestCheckRate() }
        checksBesideClicks = try server.besideClicks(rate: clicks, server.bench.options.seconds, check).value
    }
}

extension Server {
    /// Runs `body` while clicks are written at a constant rate; the clicks start one second earlier.
    fileprivate func besideClicks<Value>(
        rate: Double,
        _ seconds: Double,
        _ body: () throws -> Value
    ) throws -> (value: Value, clicks: ConstantRateResult) {
        let load = try plan(.clicks, rate: rate, seconds: seconds + 1.5, connections: 256).start()
        sleep(1)
        let value = try body()
        return (value, try LoadProgram.result(of: load))
    }
}
