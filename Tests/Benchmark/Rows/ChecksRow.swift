import Support

/// Checks that find nothing, beside nginx that gives the same bytes without any work.
enum ChecksRow: ComparableRow {
    static let name = "checks"
    static let summary =
        "checks that end in no_match beside nginx's static answer, 64 connections, 1 M live clicks"
    private static let rate = FigureName("checks_per_second", "checks a second")
    private static let cost = FigureName("check_core_microseconds", "processor time of a check, µs")

    static func measure(_ bench: Workbench) throws -> [Figure] {
        let server = try bench.liveServer()
        let answer = try server.noMatch()
        let (nginx, buffered) = (try Nginx(answer, bench), try Nginx(answer, bench, log: .buffered))
        let wrk = Wrk(.misses(key: server.key))
        let turns = try bench.interleaved([
            { try wrk.turn(nginx, $0) }, { try wrk.turn(server, $0) }, { try wrk.turn(buffered, $0) },
        ])
        let rates = turns.map { $0.map(\.perSecond) }
        return [
            FigureName("checks_of_nginx", "checks (no_match), of nginx's static answer", .atLeast(0.80))
                .figure(rates[1], of: rates[0]),
            FigureName("checks_of_nginx_with_buffered_log", "the same, of nginx with a buffered log")
                .figure(rates[1], of: rates[2]),
            rate.figure(rates[1]),
            FigureName("nginx_per_second", "nginx's answers a second").figure(rates[0]),
            cost.figure(turns[1].map(\.coreMicroseconds)),
            FigureName("nginx_core_microseconds", "processor time of nginx's answer, µs")
                .figure(turns[0].map(\.coreMicroseconds)),
        ]
    }

    static func contests(_ bench: Workbench) throws -> [Contest] {
        let server = try bench.liveServer()
        let wrk = Wrk(.misses(key: server.key))
        return [
            Contest(rate, cost) { seconds in
                let turn = try wrk.turn(server, seconds)
                return [turn.perSecond, turn.coreMicroseconds]
            }
        ]
    }
}

/// Checks on a new connection each, beside nginx doing the same.
enum NewConnectionsRow: Row {
    static let name = "new-connections"
    static let summary = "checks on new connections beside nginx"

    static func measure(_ bench: Workbench) throws -> [Figure] {
        let server = try bench.liveServer()
        let nginx = try Nginx(server.noMatch(), bench)
        let wrk = Wrk(.misses(key: server.key, isClosing: true))
        let rates = try bench.interleaved([
            { try wrk.run(nginx, $0).perSecond }, { try wrk.run(server, $0).perSecond },
        ])
        return [
            FigureName("new_connections_of_nginx", "checks on new connections, of nginx", .atLeast(0.8))
                .figure(rates[1], of: rates[0]),
            FigureName("new_connections_per_second", "checks on new connections a second").figure(rates[1]),
        ]
    }
}

/// What a check costs when much is stored, of what it costs with little: some levels of an index at most.
enum CheckLatencyRow: Row {
    static let name = "check-latency"
    static let summary = "latency of a check with 10 M stored clicks against 10 k"

    static func measure(_ bench: Workbench) throws -> [Figure] {
        let medians = try medians(bench, live: bench.scale.liveOfStored)
        return [
            FigureName("check_latency_growth", "latency of a check, 10 M stored of 10 k", .atMost(1.3))
                .figure(medians[0], of: medians[1]),
            FigureName("check_latency_microseconds", "latency of a check with 10 M stored, µs")
                .figure(medians[0]),
            FigureName("check_latency_few_clicks_microseconds", "latency of a check with 10 k stored, µs")
                .figure(medians[1]),
            FigureName("check_latency_growth_64_connections", "the same with 64 connections at once")
                .figure(medians[2], of: medians[3]),
        ]
    }

    /// Medians in microseconds by round: on one connection with many clicks and with few, then on 64 connections.
    fileprivate static func medians(_ bench: Workbench, live: Int) throws -> [[Double]] {
        let few = bench.scale.fewClicks
        let many = try Server(
            bench.installation(SeedPlan(stored: bench.scale.storedClicks, live: live)),
            bench
        )
        let fewer = try Server(bench.installation(SeedPlan(stored: few, live: few / 10)), bench)
        return try bench.interleaved(
            [(many, 1), (fewer, 1), (many, 64), (fewer, 64)].map { server, connections in
                let wrk = Wrk(.misses(key: server.key), connections: connections)
                return { try wrk.run(server, $0 / 2).p50 }
            }
        )
    }
}

/// The same with all of the clicks live, as if a year came in a day.
enum CheckLatencyLiveRow: Row {
    static let name = "check-latency-live"
    static let summary = "the same with 10 M live clicks (not by default)"

    static func measure(_ bench: Workbench) throws -> [Figure] {
        let medians = try CheckLatencyRow.medians(bench, live: bench.scale.storedClicks)
        return [
            FigureName("check_latency_growth_all_live", "latency of a check, 10 M live of 10 k stored")
                .figure(medians[0], of: medians[1])
        ]
    }
}

/// The statistics of all time, with much stored and with little: they are read from counters.
enum StatisticsRow: Row {
    static let name = "statistics"
    static let summary = "/admin/stats with 10 M stored clicks against 1 k"

    static func measure(_ bench: Workbench) throws -> [Figure] {
        let few = bench.scale.veryFewClicks
        let plans = [bench.scale.yearOfClicks, SeedPlan(stored: few, live: few / 10)]
        let medians = try bench.interleaved(
            plans.map { plan in
                let server = try Server(bench.installation(plan), bench)
                let wrk = Wrk(.get("/admin/stats", key: server.installation.keys.admin), connections: 1)
                return { try wrk.run(server, $0 / 2).p50 / 1000 }
            }
        )
        return [
            FigureName("statistics_growth", "/admin/stats, 10 M stored of 1 k", .atMost(1.5))
                .figure(medians[0], of: medians[1]),
            FigureName("statistics_milliseconds", "/admin/stats with 10 M stored, ms", .below(5))
                .figure(medians[0]),
        ]
    }
}
