import Glibc
import SQLite
import Support

/// The tail of checks while the server deletes expired clicks, of the tail while there are none to delete.
enum RetentionRow {
    /// Of the highest rate of checks.
    private static let share = 0.5
    private static let dayOfSeconds = 86_400
    private static let tenYearsOfSeconds = 315_360_000

    static func measure(_ bench: Workbench) throws -> [Figure] {
        let (live, expired) = (bench.scale.liveClicks, bench.scale.expiredClicks)
        let installation = try bench.installation(SeedPlan(stored: live + expired, live: live))
        let rate = try share * highestCheckRate(installation, bench)
        var deleted: [Double] = []
        let tails = try bench.interleaved([
            { try tail(installation, retentionSeconds: tenYearsOfSeconds, rate, $0, bench) },
            { seconds in
                let before = try clickCount(installation)
                let tail = try tail(installation, retentionSeconds: dayOfSeconds, rate, seconds, bench)
                deleted.append(Double(before - (try clickCount(installation))) / (seconds + settling))
                return tail
            },
        ])
        guard deleted.allSatisfy({ $0 > 0 }) else {
            throw BenchmarkError("Nothing was left to delete in a round: take fewer --seconds.")
        }
        return [
            Figure(.retentionTailGrowth, tails[1], of: tails[0]),
            Figure(.retentionTailMilliseconds, tails[1]),
            Figure(.quietTailMilliseconds, tails[0]),
            Figure(.deletedPerSecond, deleted.suffix(bench.options.rounds)),
        ]
    }

    /// Seconds until retention has begun.
    private static let settling = 1.5

    private static func highestCheckRate(_ installation: Installation, _ bench: Workbench) throws -> Double {
        let server = try Server(installation, bench)
        return try server.highestCheckRate(bench.options.seconds, bench)
    }

    /// The p99 in milliseconds.
    private static func tail(
        _ installation: Installation,
        retentionSeconds: Int,
        _ rate: Double,
        _ seconds: Double,
        _ bench: Workbench
    ) throws -> Double {
        let server = try Server(installation, bench, retentionSeconds: retentionSeconds)
        usleep(UInt32(settling * 1e6))
        let plan = ConstantRatePlan(
            kind: .misses,
            port: server.port,
            key: installation.keys.app,
            series: bench.nextSeries(),
            rate: rate,
            seconds: seconds
        )
        let result = try plan.run()
        guard result.isSustained else {
            throw BenchmarkError("The machine did not keep up with half its highest rate.")
        }
        return result.p99 / 1000
    }

    private static func clickCount(_ installation: Installation) throws -> Int64 {
        try installation.open().integer("SELECT count(*) FROM clicks")
    }
}
