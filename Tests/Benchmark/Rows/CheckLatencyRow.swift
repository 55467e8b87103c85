/// What a check costs when much is stored, against little: no more than some levels of an index.
enum CheckLatencyRow {
    /// Measures with a day's share of the clicks live, or with all of them, as if a year came in a day.
    static func measure(_ bench: Workbench, isAllLive: Bool) throws -> [Figure] {
        let (stored, few) = (bench.scale.storedClicks, bench.scale.fewClicks)
        let live = isAllLive ? stored : bench.scale.liveOfStored
        let many = try Server(bench.installation(SeedPlan(stored: stored, live: live)), bench)
        let fewer = try Server(bench.installation(SeedPlan(stored: few, live: few / 10)), bench)
        let medians = try bench.interleaved([
            { try latency(many, connections: 1, $0, bench) },
            { try latency(fewer, connections: 1, $0, bench) },
            { try latency(many, connections: 64, $0, bench) },
            { try latency(fewer, connections: 64, $0, bench) },
        ])
        guard !isAllLive else { return [Figure(.checkLatencyLiveGrowth, medians[0], of: medians[1])] }
        return [
            Figure(.checkLatencyGrowth, medians[0], of: medians[1]),
            Figure(.checkLatencyMicroseconds, medians[0]),
            Figure(.checkLatencyFewMicroseconds, medians[1]),
            Figure(.checkLatencyLoadedGrowth, medians[2], of: medians[3]),
        ]
    }

    /// The median in microseconds.
    private static func latency(
        _ server: Server,
        connections: Int,
        _ seconds: Double,
        _ bench: Workbench
    ) throws -> Double {
        try Wrk(script: .misses(key: server.installation.keys.app), connections: connections)
            .run(port: server.port, seconds: seconds / 2, bench).p50
    }
}
