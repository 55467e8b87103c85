#if PostgreSQL
import Support

// Rows that measure servers on PostgreSQL, compared with pgbench, which executes the statements that the server sends.
extension Row {
    /// The rows of `--postgresql`.
    static let postgreSQL = [
        postgreSQLChecks, postgreSQLClicks, postgreSQLMatches, postgreSQLServers, postgreSQLLatency,
        postgreSQLStatistics, postgreSQLDashboard, postgreSQLWire, citus, postgreSQLSimulation,
    ]

    static let postgreSQLChecks = Row(
        "postgresql-checks",
        "checks that end in no_match beside pgbench with the same statement, 64 connections, 2 M live clicks",
        shares: [
            Share("postgresql_checks_of_pgbench", "checks (no_match), of pgbench", .atLeast(0.5), of: (0, 3))
        ]
    ) { bench in
        let (postgreSQL, clicks) = (try bench.postgreSQL.get(), bench.scale.clicksOnPostgreSQL)
        let database = try postgreSQL.database(clicks)
        let server = try postgreSQL.server(database)
        // Send one check at a time, so that each statement belongs to one check.
        let replay = try Replay(
            .statements(16),
            counting: "SELECT k.n, f.%",
            connections: bench.options.workers,
            clicks: clicks,
            bench
        ) { _ = try Wrk(WrkScript.misses(key: $0.key), connections: 1).run($0, bench.options.seconds) }
        /// Returns the rate of checks, and how many statements that match the pattern were executed for each
        /// check.
        func turn(_ connections: Int, _ pattern: String, _ seconds: Double) throws -> [Double] {
            let before = try postgreSQL.statements(database, like: pattern)
            let result = try Wrk(WrkScript.misses(key: server.key), connections: connections)
                .run(server, seconds)
            let statements = try postgreSQL.statements(database, like: pattern) - before
            return [result.perSecond, statements / max(result.requests, 1)]
        }
        let (all, alone) = ("statements of a check with those of jobs", "statements that a check reads with")
        return [
            Contest(
                names: [FigureName("postgresql_checks_per_second", "checks a second")],
                explaining: [FigureName("statements_per_check", "\(all), 64 connections", .atMost(0.2))]
            ) { try turn(64, "%", $0) },
            Contest(names: [FigureName("statements_per_check_alone", "\(alone), one connection", .atMost(1))])
            {
                [try turn(1, "SELECT k.n,%", $0 / 2)[1]]
            },
            Contest(names: [FigureName("pgbench_checks_per_second", "pgbench's checks a second")]) {
                [try replay.turn($0)]
            },
        ]
    }

    static let postgreSQLClicks = Row(
        "postgresql-clicks",
        "clicks with an iPhone's signals, 64 connections, beside pgbench with the same transactions",
        shares: [Share("postgresql_clicks_of_pgbench", "clicks, of pgbench", .atLeast(0.5), of: (0, 4))]
    ) { bench in
        let (postgreSQL, clicks) = (try bench.postgreSQL.get(), bench.scale.clicksOnPostgreSQL)
        let replay = try Replay(.transaction, counting: "INSERT INTO clicks (%", clicks: clicks, bench) {
            _ = try rateOfClicks($0, bench.loadSeconds)
        }
        let database = try postgreSQL.database(clicks)
        let server = try postgreSQL.server(database)
        return [
            Contest(
                names: [FigureName("postgresql_clicks_per_second", "clicks a second")],
                explaining: [
                    FigureName("commits_per_click", "commits of a click", .atMost(1 / 16)),
                    FigureName(
                        "connections_of_server",
                        "connections of the server",
                        .atMost(Double(6 * bench.options.workers))
                    ),
                    FigureName("seconds_to_counts", "seconds from the load to exact counts", .below(2)),
                ]
            ) { seconds in
                let before = try database.commits()
                let result = try rateOfClicks(server, seconds)
                let watch = Stopwatch()
                let connections = try database.connections()
                while try database.hasSeparateCounts() {}
                let commits = try database.commits() - before
                return [result.perSecond, commits / max(result.requests, 1), connections, watch.seconds]
            },
            Contest(names: [FigureName("pgbench_clicks_per_second", "pgbench's clicks a second")]) {
                [try replay.turn($0)]
            },
        ]
    }

    private static func rateOfClicks(
        _ server: Server,
        alsoOn second: Server? = nil,
        _ seconds: Double
    ) throws -> Wrk.Result {
        let series = server.bench.nextSeries()
        let script = WrkScript.clicks(from: .iphone, key: server.key, series: series)
        return try Wrk(script, alsoOn: second).run(server, seconds)
    }

    static let postgreSQLMatches = Row(
        "postgresql-matches",
        "matches, 64 connections, beside pgbench with the same transactions",
        shares: [Share("postgresql_matches_of_pgbench", "matches, of pgbench", .atLeast(0.5), of: (0, 1))]
    ) { bench in
        let (postgreSQL, clicks) = (try bench.postgreSQL.get(), bench.scale.clicksOnPostgreSQL)
        let count = bench.scale.recordedOnPostgreSQL
        let statement = "WITH changed AS (UPDATE clicks c SET claimed_at%"
        let replay = try Replay(.transaction, counting: statement, clicks: clicks, bench) {
            _ = try Matches($0, clicks: count, turns: 1).turn(bench.loadSeconds)
        }
        let matches = Matches(try postgreSQL.server(postgreSQL.database(clicks)), clicks: count)
        return [
            Contest(names: [FigureName("postgresql_matches_per_second", "matches a second")]) { seconds in
                [try matches.turn(seconds).rate]
            },
            Contest(names: [FigureName("pgbench_matches_per_second", "pgbench's matches a second")]) {
                [try replay.turn($0)]
            },
        ]
    }

    static let postgreSQLServers = Row(
        "postgresql-servers",
        "two servers, each with half of the load, against one on the same cores",
        shares: [
            Share("checks_of_two_servers", "checks of two servers, of one", .atLeast(0.9), of: (2, 0)),
            Share("clicks_of_two_servers", "clicks of two servers, of one", .atLeast(0.9), of: (3, 1)),
        ]
    ) { bench in
        let postgreSQL = try bench.postgreSQL.get()
        return try [("one", "one server"), ("two", "two servers")].flatMap { name, title in
            let database = try postgreSQL.database(bench.scale.clicksOnPostgreSQL)
            let server = try postgreSQL.server(database)
            let second = name == "two" ? try postgreSQL.server(database) : nil
            return [
                Contest(names: [FigureName("checks_of_\(name)_per_second", "checks a second, \(title)")]) {
                    seconds in
                    let script = WrkScript.misses(key: server.key)
                    return [try Wrk(script, alsoOn: second).run(server, seconds).perSecond]
                },
                Contest(names: [FigureName("clicks_of_\(name)_per_second", "clicks a second, \(title)")]) {
                    seconds in
                    [try rateOfClicks(server, alsoOn: second, seconds).perSecond]
                },
            ]
        }
    }

    static let postgreSQLLatency = Row(
        "postgresql-latency",
        "latency of a check with 2 M stored clicks against 10 k",
        shares: growth("postgresql_latency_growth", "latency of a check, 2 M stored of 10 k", .atMost(1.3))
    ) { bench in
        let postgreSQL = try bench.postgreSQL.get()
        let servers = try [bench.scale.clicksOnPostgreSQL, bench.scale.fewClicks].map { clicks in
            try postgreSQL.server(postgreSQL.database(clicks))
        }
        return latencies(servers[0], "2 M", servers[1])
    }

    static let postgreSQLStatistics = Row(
        "postgresql-statistics",
        "/admin/stats with 2 M stored clicks against 10 k",
        shares: [
            Share(
                "postgresql_statistics_growth",
                "/admin/stats, 2 M stored of 10 k",
                .atMost(1.5),
                of: (0, 1)
            )
        ]
    ) { bench in
        let postgreSQL = try bench.postgreSQL.get()
        let sizes = [("many", "2 M", bench.scale.clicksOnPostgreSQL), ("few", "10 k", bench.scale.fewClicks)]
        return try sizes.map { name, stored, clicks in
            let server = try postgreSQL.server(postgreSQL.database(clicks))
            let script = WrkScript.get("/admin/stats", key: server.installation.keys.admin)
            let wrk = Wrk(script, connections: 1)
            let figure = FigureName(
                "statistics_of_\(name)_milliseconds",
                "/admin/stats with \(stored) stored, ms"
            )
            return Contest(names: [figure]) { [try wrk.run(server, $0 / 2).p50 / 1000] }
        }
    }

    /// Pages of the dashboard with the counts that the row `dashboard` has on SQLite.
    static let postgreSQLDashboard = Row(
        "postgresql-dashboard",
        "pages of the dashboard with 10,000 campaigns, from counts that were moved from SQLite"
    ) { bench in
        let postgreSQL = try bench.postgreSQL.get()
        let database = try postgreSQL.moved(from: YearOfCounts(bench).installation)
        let server = try postgreSQL.server(database, extra: ["--dashboard-listen", "127.0.0.1:0"])
        let pages = try OpenDashboard(server)
        return [
            pages.contest(
                "postgresql_overview",
                "overview of a year",
                "/?period=12mo",
                bars: (nil, .below(100))
            ),
            pages.contest("postgresql_campaigns", "campaigns of 30 days", "/campaigns?period=30d"),
            pages.contest("postgresql_events", "events of 30 days", "/events?period=30d"),
        ]
    }

    /// The tail while each message between server and database takes half a millisecond.
    static let postgreSQLWire = Row(
        custom: "postgresql-wire",
        "p99 at half the highest rate with 1 ms to the database and back, against SQLite"
    ) { bench in
        let postgreSQL = try bench.postgreSQL.get()
        let count = bench.scale.recordedOnPostgreSQL
        let proxy = try DelayProxy.start(to: postgreSQL.cluster.port, microseconds: 500)
        let far = try postgreSQL.server(postgreSQL.database(count), through: proxy.port)
        let near = try Server(bench.installation(.live(count)), bench)
        let matches = Matches(far, clicks: count / 2, turns: 1)
        let rates = (try far.highestCheckRate() / 2, try matches.turn(bench.options.seconds).rate / 2)
        let perTurn = count / 2 / (bench.options.rounds + 1)
        let turns = [far, near].flatMap { server -> [(Double) throws -> Double] in
            var first = count / 2
            return [
                { try server.plan(.misses, rate: rates.0, seconds: $0).run().p99 / 1000 },
                { seconds in
                    var plan = server.plan(.matches, rate: rates.1, seconds: seconds)
                    (plan.series, plan.first) = (SeedPlan.series, first)
                    plan.seconds = min(seconds, 0.95 * Double(perTurn) / rates.1)
                    first += perTurn
                    return try plan.run().p99 / 1000
                },
            ]
        }
        let rounds = try withExtendedLifetime(proxy.process) { try bench.interleaved(turns) }
        let figures = [("check", "checks", rates.0, 4.0), ("match", "matches", rates.1, 8)]
        return figures.enumerated().flatMap { index, figure in
            let (name, title, rate, bound) = figure
            let (far, near) = (rounds[index], rounds[index + 2])
            let note = "\(NumberText.short(rate)) a second"
            return [
                FigureName(
                    "\(name)_wire_growth_milliseconds",
                    "p99 of \(title) minus SQLite's, ms",
                    .atMost(bound)
                )
                .figure(zip(far, near).map { $0 - $1 }, note: note),
                FigureName("\(name)_wire_p99_milliseconds", "p99 of \(title), ms").figure(far),
                FigureName("\(name)_near_p99_milliseconds", "p99 of \(title) on SQLite, ms").figure(near),
            ]
        }
    }

    /// The database without workers is on the coordinator, so both databases have the same settings.
    static let citus = Row(
        "postgresql-citus",
        "a server on Citus against one on PostgreSQL alone, 64 connections",
        shares: [
            Share("citus_checks_of_alone", "checks on Citus, of alone", .atLeast(0.25), of: (0, 4)),
            Share("citus_clicks_of_alone", "clicks on Citus, of alone", .atLeast(0.25), of: (1, 5)),
            Share("citus_matches_of_alone", "matches on Citus, of alone", of: (3, 7)),
        ]
    ) { bench in
        guard CitusCluster.address != nil else {
            throw NotMeasurable(reason: "AFTERLINK_TEST_CITUS names no coordinator")
        }
        let (postgreSQL, clicks) = (try bench.postgreSQL.get(), bench.scale.recordedOnCitus)
        let cluster = try CitusCluster()
        // Commits must reach the disk, as in production.
        for setting in ["fsync", "full_page_writes"] {
            try cluster.executeEverywhere("ALTER SYSTEM SET \(setting) = on")
        }
        try cluster.executeEverywhere("SELECT pg_reload_conf()")
        return try ["citus", "alone"].flatMap { place in
            let database = try CitusTestDatabase(in: cluster, hasWorkers: place == "citus")
            let stored = try postgreSQL.record(clicks, in: database, connections: 32)
            _ = try database.executeEverywhere("VACUUM (ANALYZE)")
            let server = try postgreSQL.server(stored)
            let matches = Matches(server, clicks: clicks)
            func name(_ what: String) -> FigureName {
                FigureName("\(what)_on_\(place)_per_second", "\(what) a second, \(place)")
            }
            return [
                Contest(names: [name("checks")]) { seconds in
                    [try Wrk(WrkScript.misses(key: server.key)).run(server, seconds).perSecond]
                },
                Contest(
                    names: [name("clicks")],
                    explaining: [FigureName("prepared_on_\(place)", "prepared and not ended", .atMost(0))]
                ) { seconds in
                    let rate = try rateOfClicks(server, seconds).perSecond
                    var prepared = 0
                    // Jobs may have a transaction under way.
                    _ = try Polling.until {
                        prepared = try database.preparedCount()
                        return prepared == 0
                    }
                    return [rate, Double(prepared)]
                },
                Contest(names: [name("matches")]) { [try matches.turn($0).rate] },
            ]
        }
    }

    static let postgreSQLSimulation = Row(
        custom: "postgresql-simulation",
        "matches of simulated worlds with one and with four servers, against SQLite"
    ) { bench in
        let postgreSQL = try bench.postgreSQL.get()
        let labels = bench.options.worlds.isEmpty ? ["turkey-10000", "world-10000"] : bench.options.worlds
        let worlds = try SimulatedWorld.all(labels, isQuick: bench.options.isQuick).filter {
            $0.policy == .standard
        }
        return try worlds.flatMap { world in
            let seeds = (1...bench.options.seeds).map { UInt64($0) }
            let near = try seeds.map { try play(world, seed: $0, bench) }
            return try [1, 4].flatMap { count in
                let scores = try seeds.map { seed in
                    let database = try postgreSQL.emptyDatabase()
                    let servers = try (0..<count).map { _ in
                        try postgreSQL.server(database, isDurable: false, extra: ["--unsafe-test-clock"])
                    }
                    return try play(world, seed: seed, on: servers)
                }
                return world.figures.map { name, figure in
                    let values = scores.map(figure.value)
                    let (names, title) = ("\(name.name)_on_\(count)", "\(name.title), \(count) of PostgreSQL")
                    guard !figure.isFault else { return FigureName(names, title, name.bar).figure(values) }
                    let isJudged = ["precision", "found"].contains(figure.name)
                    let others = near.map(figure.value)
                    let note = "\(NumberText.short(values.median)), SQLite \(NumberText.short(others.median))"
                    return FigureName(names, "\(title), minus SQLite's", isJudged ? .within(0.5) : nil)
                        .figure(zip(values, others).map { $0 - $1 }, note: note)
                }
            }
        }
    }
}

extension Workbench {
    /// For how many seconds a load must run, so that pgbench can repeat it in all rounds.
    fileprivate var loadSeconds: Double { (options.seconds * Double(options.rounds + 1)).rounded(.up) }
}
#endif
