import Glibc
import Support

/// A long load at a tenth of the highest rate: clicks, checks that match, and checks that do not.
enum SoakRow: Row {
    static let name = "soak"
    static let summary = "ten minutes of mixed load at a tenth of the highest rate: memory, descriptors, log"

    static func measure(_ bench: Workbench) throws -> [Figure] {
        let server = try bench.liveServer()
        // Both loads fill the caches too: only growth beyond that counts.
        let checks = try server.highestCheckRate() / 10
        let clicks = try server.highestClickRate() / 10
        // Both loads surround the samples.
        let seconds = bench.scale.soakSeconds
        var plan = server.plan(.clicks, rate: clicks, seconds: seconds + 3)
        var loads = [try plan.start()]
        (plan.kind, plan.clickRate, plan.rate) = (.missesAndMatches, clicks, checks)
        loads.append(try plan.start())
        // Read once a second.
        var (residentBytes, descriptors, logBytes) = ([Double](), [Double](), [Double]())
        sleep(1)
        let watch = Stopwatch()
        while watch.seconds < seconds {
            residentBytes.append(try server.figures.residentBytes())
            descriptors.append(try server.figures.descriptors())
            logBytes.append(server.logBytes())
            sleep(1)
        }
        let results: [ConstantRateResult] = try loads.map { try LoadProgram.result(of: $0) }
        let mean = NumberText.short(residentBytes.reduce(0, +) / Double(residentBytes.count) / 1e6)
        return [
            FigureName("soak_memory_growth_percent", "growth of memory under mixed load, %", .atMost(5))
                .figure([Trend.growthPercent(residentBytes)], note: "mean \(mean) MB"),
            FigureName(
                "soak_descriptor_growth_percent",
                "growth of descriptors under mixed load, %",
                .atMost(5)
            ).figure([Trend.growthPercent(descriptors)]),
            FigureName("soak_wal_megabytes", "largest write-ahead log under mixed load, MB", .below(128))
                .figure([(logBytes.max() ?? .nan) / 1e6]),
            FigureName("soak_requests", "requests of the mixed load")
                .figure([Double(results.reduce(0) { $0 + $1.intended })]),
            FigureName("soak_failures", "of them without a good answer")
                .figure([Double(results.reduce(0) { $0 + $1.failures })]),
        ]
    }
}
