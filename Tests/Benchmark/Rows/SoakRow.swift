import Glibc
import Support

/// A long load at a tenth of the highest rate: clicks, checks that match, and checks that do not.
enum SoakRow {
    static func measure(_ bench: Workbench) throws -> [Figure] {
        let server = try Server(bench.installation(.live(bench.scale.liveClicks)), bench)
        // Both loads fill the caches too: only growth beyond that counts.
        let checkRate = try server.highestCheckRate(bench.options.seconds, bench) / 10
        let clickRate = try server.highestClickRate(bench.options.seconds, bench) / 10
        let loads = try start(checks: checkRate, clicks: clickRate, server, bench)
        let samples = try Samples(of: server, seconds: bench.scale.soakSeconds)
        let results: [ConstantRateResult] = try loads.map { try LoadProgram.result(of: $0) }
        return [
            Figure(
                .soakMemoryGrowthPercent,
                [Trend.growthPercent(samples.residentBytes)],
                note:
                    "mean \(NumberText.short(samples.residentBytes.reduce(0, +) / Double(samples.count) / 1e6)) MB"
            ),
            Figure(.soakDescriptorGrowthPercent, [Trend.growthPercent(samples.descriptors)]),
            Figure(.soakLogMegabytes, [(samples.logBytes.max() ?? .nan) / 1e6]),
            Figure(.soakRequests, [Double(results.reduce(0) { $0 + $1.intended })]),
            Figure(.soakFailures, [Double(results.reduce(0) { $0 + $1.failures })]),
        ]
    }

    private static func start(checks: Double, clicks: Double, _ server: Server, _ bench: Workbench) throws
        -> [ChildProcess]
    {
        var plan = ConstantRatePlan(
            kind: .clicks,
            port: server.port,
            key: server.installation.keys.app,
            series: bench.nextSeries(),
            rate: clicks,
            // Both loads surround the samples.
            seconds: bench.scale.soakSeconds + 3
        )
        let clickLoad = try plan.start()
        plan.kind = .missesAndMatches
        plan.clickRate = clicks
        plan.rate = checks
        return [clickLoad, try plan.start()]
    }

    /// What is read once a second.
    private struct Samples {
        private(set) var residentBytes: [Double] = []
        private(set) var descriptors: [Double] = []
        private(set) var logBytes: [Double] = []
        var count: Int { residentBytes.count }

        init(of server: Server, seconds: Double) throws {
            sleep(1)
            let watch = Stopwatch()
            while watch.seconds < seconds {
                residentBytes.append(try server.figures.residentBytes())
                descriptors.append(try server.figures.descriptors())
                logBytes.append(server.logBytes())
                sleep(1)
            }
        }
    }
}
