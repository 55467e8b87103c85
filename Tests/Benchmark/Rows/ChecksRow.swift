import Support

/// Checks that find nothing, beside nginx that gives the same bytes without any work.
enum ChecksRow {
    static func measure(_ bench: Workbench) throws -> [Figure] {
        let server = try Server(bench.installation(.live(bench.scale.liveClicks)), bench)
        let answer = try server.noMatch()
        let nginx = try Nginx(answer, bench)
        let buffered = try Nginx(answer, bench, log: .buffered)
        let wrk = Wrk(script: .misses(key: server.installation.keys.app))
        let turns = try bench.interleaved([
            { try wrk.turn(port: nginx.port, of: nginx.figures, seconds: $0, bench) },
            { try wrk.turn(port: server.port, of: server.figures, seconds: $0, bench) },
            { try wrk.turn(port: buffered.port, of: buffered.figures, seconds: $0, bench) },
        ])
        let rates = turns.map { $0.map(\.perSecond) }
        return [
            Figure(.checksOfNginx, rates[1], of: rates[0]),
            Figure(.checksOfBufferedNginx, rates[1], of: rates[2]),
            Figure(.checksPerSecond, rates[1]),
            Figure(.nginxPerSecond, rates[0]),
            Figure(.checkMicrosecondsOfCore, turns[1].map(\.coreMicroseconds)),
            Figure(.nginxMicrosecondsOfCore, turns[0].map(\.coreMicroseconds)),
        ]
    }

    static func contests(_ bench: Workbench) throws -> [Contest] {
        let server = try Server(bench.installation(.live(bench.scale.liveClicks)), bench)
        let wrk = Wrk(script: .misses(key: server.installation.keys.app))
        return [
            Contest(.checksPerSecond, .checkMicrosecondsOfCore) { seconds in
                let turn = try wrk.turn(port: server.port, of: server.figures, seconds: seconds, bench)
                return [turn.perSecond, turn.coreMicroseconds]
            }
        ]
    }
}

/// Checks on a new connection each, beside nginx doing the same.
enum NewConnectionsRow {
    static func measure(_ bench: Workbench) throws -> [Figure] {
        let server = try Server(bench.installation(.live(bench.scale.liveClicks)), bench)
        let nginx = try Nginx(server.noMatch(), bench)
        let wrk = Wrk(script: .misses(key: server.installation.keys.app, isClosing: true))
        let rates = try bench.interleaved([
            { try wrk.run(port: nginx.port, seconds: $0, bench).perSecond },
            { try wrk.run(port: server.port, seconds: $0, bench).perSecond },
        ])
        return [
            Figure(.newConnectionsOfNginx, rates[1], of: rates[0]),
            Figure(.newConnectionsPerSecond, rates[1]),
        ]
    }
}

/// What a check costs when much is stored, of what it costs with little: some levels of an index at most.
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
