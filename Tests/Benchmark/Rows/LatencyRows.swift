import Support

// Rows that compare the duration of a request with many stored clicks and with few.
extension Row {
    /// The duration of a check with 10 million stored clicks; a check reads only a few levels of an index.
    static let checkLatency = Row(
        "check-latency",
        "latency of a check with 10 M stored clicks against 10 k",
        shares: growth("check_latency_growth", "latency of a check, 10 M stored of 10 k", .atMost(1.3))
    ) { try latenciesOnSQLite($0, live: $0.scale.liveOfStored) }

    /// The duration of a check with 10 million live clicks, a year's traffic in one day.
    static let checkLatencyLive = Row(
        "check-latency-live",
        "the same with 10 M live clicks (not by default)",
        shares: growth("check_latency_growth_all_live", "latency of a check, 10 M live of 10 k stored")
    ) { try latenciesOnSQLite($0, live: $0.scale.storedClicks) }

    static func growth(_ name: String, _ title: String, _ bar: Bar? = nil) -> [Share] {
        [
            Share(name, title, bar, of: (0, 1)),
            Share("\(name)_64_connections", "the same with 64 connections at once", of: (2, 3)),
        ]
    }

    private static func latenciesOnSQLite(_ bench: Workbench, live: Int) throws -> [Contest] {
        let (stored, few) = (bench.scale.storedClicks, bench.scale.fewClicks)
        return latencies(
            try Server(bench.installation(SeedPlan(stored: stored, live: live)), bench),
            "10 M",
            try Server(bench.installation(SeedPlan(stored: few, live: few / 10)), bench)
        )
    }

    /// Returns the contests of medians: one connection with many clicks and with few, then 64 connections.
    static func latencies(_ many: Server, _ count: String, _ fewer: Server) -> [Contest] {
        [1, 64].flatMap { connections in
            let (suffix, beside) = connections == 1 ? ("", "") : ("_64_connections", ", 64 connections")
            return [(many, "", count), (fewer, "_few_clicks", "10 k")].map { server, name, stored in
                let title = "latency of a check with \(stored) stored\(beside), µs"
                let wrk = Wrk(WrkScript.misses(key: server.key), connections: connections)
                let figure = FigureName("check_latency\(name)\(suffix)_microseconds", title)
                return Contest(names: [figure]) { [try wrk.run(server, $0 / 2).p50] }
            }
        }
    }

    /// The duration of `/admin/stats`, which reads the statistics of all time from counters.
    static let statistics = Row(
        "statistics",
        "/admin/stats with 10 M stored clicks against 1 k",
        shares: [Share("statistics_growth", "/admin/stats, 10 M stored of 1 k", .atMost(1.5), of: (0, 1))]
    ) { bench in
        func contest(_ plan: SeedPlan, _ name: String, _ stored: String, _ bar: Bar?) throws -> Contest {
            let server = try Server(bench.installation(plan), bench)
            let wrk = Wrk(WrkScript.get("/admin/stats", key: server.installation.keys.admin), connections: 1)
            let figure = FigureName("\(name)_milliseconds", "/admin/stats with \(stored) stored, ms", bar)
            return Contest(names: [figure]) { [try wrk.run(server, $0 / 2).p50 / 1000] }
        }
        let few = SeedPlan(stored: bench.scale.veryFewClicks, live: bench.scale.veryFewClicks / 10)
        return [
            try contest(bench.scale.yearOfClicks, "statistics", "10 M", .below(5)),
            try contest(few, "statistics_few_clicks", "1 k", nil),
        ]
    }
}
