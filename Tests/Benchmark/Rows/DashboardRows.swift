import Foundation
import SQLite
import Support
import Synchronization

// Rows that measure pages of the dashboard, and what they cost other requests.
extension Row {
    /// The cost of the overview of a year, with as many campaigns as an app counts.
    static let dashboard = Row(
        "dashboard",
        "the overview of a year with 10,000 campaigns, beside /admin/stats of the same year"
    ) { bench in
        let year = try YearOfCounts(bench)
        let server = try Server(year.installation, bench, extra: ["--dashboard-listen", "127.0.0.1:0"])
        let pages = try OpenDashboard(server)
        let fewCampaigns = try Server(
            YearOfCounts(bench, campaigns: 100).installation,
            bench,
            extra: ["--dashboard-listen", "127.0.0.1:0"]
        )
        let pagesOfFew = try OpenDashboard(fewCampaigns)
        let target = "/admin/stats?from=\(year.firstDay)"
        let statistics = Wrk(WrkScript.get(target, key: year.installation.keys.admin), connections: 1)
        let bars: (Bar?, Bar?) = (.below(50), .below(100))
        return [
            pages.contest("overview", "overview of a year", "/?period=12mo", bars: bars),
            pagesOfFew.contest(
                "overview_few_campaigns",
                "overview of a year with 100 campaigns",
                "/?period=12mo"
            ),
            pages.contest("overview_week", "overview of a week", "/?period=7d"),
            pages.contest("events_year", "events of a year", "/events?period=12mo", bars: bars),
            pages.contest("campaigns_year", "campaigns of a year", "/campaigns?period=12mo"),
            loads("statistics_year", "/admin/stats of a year", statistics, of: server),
        ]
    }

    /// Loads a page again and again over one connection.
    fileprivate static func loads(
        _ name: String,
        _ title: String,
        _ wrk: Wrk,
        of listener: some Listener,
        bars: (core: Bar?, last: Bar?) = (nil, nil)
    ) -> Contest {
        let names = [
            FigureName("\(name)_core_milliseconds", "\(title), ms of a core", bars.core),
            FigureName("\(name)_milliseconds", "\(title), ms to the last byte", bars.last),
        ]
        return Contest(names: names) { seconds in
            let turn = try wrk.turn(listener, seconds)
            return [turn.coreMicroseconds / 1000, turn.result.p50 / 1000]
        }
    }

    /// The cost of pages with ten million stored clicks, as a share of their cost with ten thousand.
    static let dashboardGrowth = Row(
        "dashboard-growth",
        "pages of the dashboard with 10 M stored clicks against 10 k",
        shares: grownPages.enumerated().map { index, page in
            let bar: Bar? = page.readsCounts ? .atMost(1.3) : nil
            let title = "\(page.title), 10 M stored of 10 k"
            return Share("\(page.name)_growth", title, bar, of: (4 * index, 4 * index + 2))
        }
    ) { bench in
        let many = bench.scale.yearOfClicks
        let few = SeedPlan(stored: bench.scale.fewClicks, live: bench.scale.fewClicks / 10)
        let pages = try [many, few].map { plan in
            let server = try Server(
                bench.installation(plan),
                bench,
                extra: ["--dashboard-listen", "127.0.0.1:0"]
            )
            return try OpenDashboard(server)
        }
        return grownPages.flatMap { page in
            zip(pages, [("many", "10 M stored"), ("few", "10 k stored")]).map { pages, stored in
                let names = [
                    FigureName(
                        "\(page.name)_\(stored.0)_core_milliseconds",
                        "\(page.title), \(stored.1), ms of a core"
                    ),
                    FigureName("\(page.name)_\(stored.0)_milliseconds", "the same, ms to the last byte"),
                ]
                return Contest(names: names) { seconds in
                    let turn = try Wrk(pages.script(page.target), connections: 1).turn(pages, seconds / 5)
                    return [turn.coreMicroseconds / 1000, turn.result.p50 / 1000]
                }
            }
        }
    }

    /// The pages that ``dashboardGrowth`` loads; the pages of counts must cost the same with any number of clicks.
    ///
    /// The clicks of a year have more campaigns than ten thousand clicks have, but a week of either has the
    /// same number of them.
    private static let grownPages = [
        ("overview", "overview", "/?period=12mo", true),
        ("campaigns", "campaigns of a week", "/campaigns?period=7d", true),
        ("links", "links", "/links", true),
        ("launches", "launches", "/launches", false),
        ("matching", "matching", "/matching", false),
        ("system", "system", "/system", false),
        ("settings", "settings", "/settings", false),
    ].map { (name: $0.0, title: $0.1, target: $0.2, readsCounts: $0.3) }

    /// The rates of checks and clicks while ten people look at the dashboard.
    static let openDashboards = Row(
        "open-dashboards",
        "checks and clicks while ten open dashboards reload the overview of a year every five seconds",
        shares: [
            Share(
                "checks_beside_dashboards",
                "checks with open dashboards, as a share of checks without",
                .atLeast(0.97),
                of: (1, 0)
            ),
            Share(
                "clicks_beside_dashboards",
                "clicks with open dashboards, as a share of clicks without",
                .atLeast(0.97),
                of: (3, 2)
            ),
        ]
    ) { bench in
        let year = try YearOfCounts(bench)
        let server = try Server(year.installation, bench, extra: ["--dashboard-listen", "127.0.0.1:0"])
        let pages = try OpenDashboard(server)
        func contest(
            _ name: String,
            _ title: String,
            isBeside: Bool,
            _ rate: @escaping (Double) throws -> Double
        )
            -> Contest
        {
            let suffix = isBeside ? " beside ten dashboards" : ""
            let figure = FigureName(name + (isBeside ? "_beside_dashboards" : ""), title + suffix)
            return Contest(names: [figure]) { seconds in
                try isBeside ? [pages.reloading { try rate(seconds) }] : [rate(seconds)]
            }
        }
        let checks: (Double) throws -> Double = { try server.highestCheckRate($0) }
        let clicks: (Double) throws -> Double = { try server.clickTurn($0).rate }
        return [false, true].map { contest("checks_per_second", "checks a second", isBeside: $0, checks) }
            + [false, true].map { contest("clicks_per_second", "clicks a second", isBeside: $0, clicks) }
    }

    /// What live streams of the dashboard cost while there is no traffic.
    static let liveStreams = Row("live-streams", "64 live streams of the dashboard without traffic") {
        bench in
        let dashboard = ["--dashboard-listen", "127.0.0.1:0"]
        let server = try Server(bench.emptyInstallation(), bench, extra: dashboard)
        let pages = try OpenDashboard(server)
        let names = [
            FigureName("live_streams_core_percent", "64 live streams, % of a core", .below(1)),
            FigureName("idle_core_percent", "the same server without them, % of a core"),
        ]
        return [
            Contest(names: names) { seconds in
                // The kernel counts processor time in hundredths of a second.
                let length = max(seconds * 4, 4)
                func percent() throws -> Double {
                    let before = try server.figures.running(\.processorTicks)
                    usleep(UInt32(length * 1e6))
                    return try (server.figures.running(\.processorTicks) - before) / length
                }
                let idle = try percent()
                let streams = try pages.openStreams(64)
                let all = try withExtendedLifetime(streams) { try percent() }
                return [all - idle, idle]
            }
        ]
    }
}

/// A database with the counts of a year: 10,000 campaigns on the days that are not compacted, 1,000 on the others.
struct YearOfCounts {
    let installation: Installation
    /// The first day, as `/admin/stats` takes it.
    let firstDay: String

    init(_ bench: Workbench, campaigns: Int? = nil) throws {
        installation = try bench.emptyInstallation()
        let campaigns = campaigns ?? (bench.options.isQuick ? 300 : 10_000)
        let days = bench.options.isQuick ? 60 : 365
        let today = Int64(Date().timeIntervalSince1970 / 86_400) * 86_400_000
        let first = Date(timeIntervalSince1970: Double(today) / 1000 - Double(days - 1) * 86_400)
        firstDay = String(first.ISO8601Format().prefix(10))
        bench.say("storing counts of \(campaigns) campaigns and \(days) days …")
        let database = try installation.open()
        try database.execute(
            """
            PRAGMA synchronous = OFF; PRAGMA cache_size = -500000; BEGIN;
            CREATE TEMP TABLE days AS WITH RECURSIVE d (d) AS (VALUES (0) UNION ALL SELECT d + 1 FROM d WHERE d < \(days - 1))
            SELECT \(today) - d * 86400000 AS period, d < 30 AS is_new, (SELECT number * 2 FROM apps) AS scope FROM d;
            CREATE TEMP TABLE names AS
            WITH RECURSIVE n (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM n WHERE n < \(campaigns - 1))
            SELECT n, printf('%05d', n) AS name FROM n;
            INSERT INTO counts SELECT scope, 'campaign ' || name, 0, 1, period, '', column1,
                column2 + (n * 7919 + period / 86400000 * 104729) % (100000 / (n + 1) + 5)
            FROM names, days, (VALUES ('clicks', 9), ('matches', 2)) WHERE is_new OR n < 1000;
            INSERT INTO counts SELECT scope, 'campaign ' || name, 6, 1, period, 80 + n % 20, 'launches', 3
            FROM names, days WHERE is_new OR n < 1000;
            INSERT INTO counts SELECT scope, 'lnk_' || name, 11, 1, period, '', column1, column2 + 10000 / (n + 1)
            FROM names, days, (VALUES ('clicks', 9), ('matches', 2)) WHERE n < 1000;
            INSERT INTO counts SELECT scope, '', column1, 1, period, printf('%02d', n), metric, 100 + n
            FROM names, days, (VALUES (2, 20), (3, 4), (4, 60), (10, 80), (12, 24)),
                (SELECT 'clicks' AS metric UNION VALUES ('matches'), ('duplicates'), ('robots'), ('replays'))
            WHERE n < column2;
            INSERT INTO counts SELECT scope, '', column1, 1, period, n, column2, 100 + n
            FROM names, days, (VALUES (6, 'launches'), (7, 'launches'), (7, 'stated'), (7, 'expected'), (7, 'correct'))
            WHERE n < iif(column1 = 6, 120, 10);
            CREATE TEMP TABLE sums AS SELECT column1 AS value, column2 AS metric, column3 AS amount FROM (VALUES
                ('purchase EUR', 'events', 3), ('purchase EUR', 'installs', 2), ('purchase EUR', 'verified', 2999),
                ('level_up', 'events', 9));
            INSERT INTO counts SELECT scope, column1 || name, column2, 1, period, value, metric, amount
            FROM names, days, sums, (VALUES ('campaign ', 14), ('lnk_', 16)) WHERE n < 100;
            INSERT INTO counts SELECT scope, '', column1, 1, period, column2 || value, metric, 100 * amount
            FROM days, sums, (VALUES (14, ''), (15, 'instagram '), (15, 'qr '), (17, 'D0 '), (17, 'D3 '));
            INSERT INTO counts SELECT scope, '', 0, 2, period + n * 3600000, '', column1, 1000 + n
            FROM names, days, (VALUES ('clicks'), ('matches'), ('checks'), ('duplicates'), ('robots'), ('replays'),
                ('no_match_no_click'), ('no_match_expired'), ('conversions'), ('variance')) WHERE n < 24;
            INSERT INTO counts SELECT scope, '', 0, 1, period - period % 86400000, '', metric, sum(count)
            FROM counts WHERE span = 2 GROUP BY 5, 7;
            INSERT INTO counts SELECT scope, campaign, dimension, 4, period - period % 2419200000, value, metric, sum(count)
            FROM counts WHERE span = 1 GROUP BY 1, 2, 3, 5, 6, 7;
            INSERT INTO counts SELECT scope, campaign, dimension, 0, 0, value, metric, sum(count)
            FROM counts WHERE span = 4 GROUP BY 1, 2, 3, 6, 7;
            INSERT INTO progress VALUES ('thinned_before', \(today - 30 * 86_400_000))
                ON CONFLICT DO UPDATE SET value = excluded.value;
            COMMIT; PRAGMA wal_checkpoint(TRUNCATE);
            """
        )
    }
}

/// The dashboard of a server, with a session.
final class OpenDashboard: Listener {
    let port: UInt16
    let figures: ProcessFigures
    var isEncrypted: Bool { false }
    let bench: Workbench
    /// The server, which must run as long as its dashboard is in use.
    private let server: Server
    private let cookie: String

    init(_ server: Server) throws {
        (self.server, bench, figures) = (server, server.bench, server.figures)
        let start = "dashboard at http://127.0.0.1:"
        var log = ""
        // The server logs the dashboard's address after its own, for which the start of the process waits.
        _ = Polling.until {
            log = server.log
            return log.contains(start)
        }
        guard let found = log.firstRange(of: start),
            let port = UInt16(log[found.upperBound...].prefix { $0.isNumber })
        else { throw BenchmarkError("The server logged no address of its dashboard.") }
        self.port = port
        let form = "key=\(server.installation.keys.admin)"
        let client = try RawClient(port: port)
        client.send(
            "POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nSec-Fetch-Site: same-origin\r\n"
                + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(form.utf8.count)\r\n\r\n\(form)"
        )
        let answer = try client.answer().expecting(303)
        guard let pair = answer.field("Set-Cookie")?.split(separator: ";").first else {
            throw BenchmarkError("The dashboard set no cookie.")
        }
        cookie = String(pair)
    }

    /// Returns the script with which wrk loads a page again and again.
    func script(_ target: String) -> String {
        """
        local made
        function init() made = wrk.format("GET", "\(target)", {["Cookie"] = "\(cookie)"}) end
        function request() return made end
        """
    }

    /// Loads a page of the dashboard again and again.
    func contest(
        _ name: String,
        _ title: String,
        _ target: String,
        bars: (core: Bar?, last: Bar?) = (nil, nil)
    ) -> Contest {
        let wrk = Wrk(script(target), connections: 1)
        return Row.loads(name, title, wrk, of: self, bars: bars)
    }

    /// Opens live streams, which end when the connections are released.
    func openStreams(_ count: Int) throws -> [RawClient] {
        try (0..<count).map { _ in
            let client = try RawClient(port: port)
            client.send("GET /live/stream HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nCookie: \(cookie)\r\n\r\n")
            let head = try client.answer(toHead: true).expecting(200)
            guard head.field("content-type")?.hasPrefix("text/event-stream") == true else {
                throw BenchmarkError("The dashboard has no live stream.")
            }
            return client
        }
    }

    /// Runs `body` while ten browsers load the overview of a year, each every five seconds.
    func reloading<Value>(_ body: () throws -> Value) throws -> Value {
        let reloads = Reloads()
        let browsers = try (0..<10).map { _ in try RawClient(port: port) }
        nonisolated(unsafe) let clients = browsers
        let request = "GET /?period=12mo HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nCookie: \(cookie)\r\n\r\n"
        let thread = Thread {
            do {
                var number = 0
                while !reloads.isOver.withLock({ $0 }) {
                    let client = unsafe clients[number % clients.count]
                    number += 1
                    client.send(request)
                    _ = try client.answer().expecting(200)
                    usleep(500_000)
                }
            } catch {
                reloads.failure.withLock { $0 = error }
            }
        }
        thread.start()
        defer { reloads.isOver.withLock { $0 = true } }
        let value = try body()
        if let error = reloads.failure.withLock({ $0 }) { throw error }
        return value
    }
}

/// The state that the reloading thread shares with the thread that started it.
private final class Reloads: Sendable {
    let isOver = Mutex(false)
    let failure = Mutex<(any Error)?>(nil)
}
