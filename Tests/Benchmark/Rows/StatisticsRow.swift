import Support

/// The statistics of all time, with much stored and with little: they are read from counters.
enum StatisticsRow {
    static func measure(_ bench: Workbench) throws -> [Figure] {
        let scale = bench.scale
        let many = try Server(
            bench.installation(SeedPlan(stored: scale.storedClicks, live: scale.liveOfStored)),
            bench
        )
        let few = try Server(
            bench.installation(SeedPlan(stored: scale.veryFewClicks, live: scale.veryFewClicks / 10)),
            bench
        )
        let medians = try bench.interleaved([
            { try milliseconds(many, $0, bench) }, { try milliseconds(few, $0, bench) },
        ])
        return [
            Figure(.statisticsGrowth, medians[0], of: medians[1]),
            Figure(.statisticsMilliseconds, medians[0]),
        ]
    }

    private static func milliseconds(_ server: Server, _ seconds: Double, _ bench: Workbench) throws -> Double
    {
        let script = WrkScript.get("/admin/stats", key: server.installation.keys.admin)
        return try Wrk(script: script, connections: 1).run(port: server.port, seconds: seconds / 2, bench).p50
            / 1000
    }
}
