import Glibc
import SQLite
import Support

/// The tail of checks while the server deletes expired clicks, of the tail while there are none to delete.
enum RetentionRow: Row {
    static let name = "retention"
    static let summary = "tail of checks while retention deletes 1 M expired clicks, against none"
    /// Of the highest rate of checks.
    private static let share = 0.5
    private static let dayOfSeconds = 86_400
    private static let tenYearsOfSeconds = 315_360_000
    /// Seconds until retention has begun.
    private static let settling = 1.5

    static func measure(_ bench: Workbench) throws -> [Figure] {
        let (live, expired) = (bench.scale.liveClicks, bench.scale.expiredClicks)
        let installation = try bench.installation(SeedPlan(stored: live + expired, live: live))
        let rate = try share * Server(installation, bench).highestCheckRate()
        var deleted: [Double] = []
        /// The p99 in milliseconds.
        func tail(retentionSeconds: Int, _ seconds: Double) throws -> Double {
            let server = try Server(installation, bench, retentionSeconds: retentionSeconds)
            usleep(UInt32(settling * 1e6))
            let result = try server.plan(.misses, rate: rate, seconds: seconds).run()
            guard result.isSustained else {
                throw BenchmarkError("The machine did not keep up with half its highest rate.")
            }
            return result.p99 / 1000
        }
        let tails = try bench.interleaved([
            { try tail(retentionSeconds: tenYearsOfSeconds, $0) },
            { seconds in
                let before = try clickCount(installation)
                let tail = try tail(retentionSeconds: dayOfSeconds, seconds)
                deleted.append(Double(before - (try clickCount(installation))) / (seconds + settling))
                return tail
            },
        ])
        guard deleted.allSatisfy({ $0 > 0 }) else {
            throw BenchmarkError("Nothing was left to delete in a round: take fewer --seconds.")
        }
        return [
            FigureName("retention_p99_growth", "p99 of checks while retention deletes, of none", .atMost(1.5))
                .figure(tails[1], of: tails[0]),
            FigureName("retention_p99_milliseconds", "p99 of checks while retention deletes, ms")
                .figure(tails[1]),
            FigureName("no_retention_p99_milliseconds", "p99 of checks without, ms").figure(tails[0]),
            FigureName("deleted_per_second", "clicks deleted a second")
                .figure(deleted.suffix(bench.options.rounds)),
        ]
    }

    private static func clickCount(_ installation: Installation) throws -> Int64 {
        try installation.open().integer("SELECT count(*) FROM clicks")
    }
}
