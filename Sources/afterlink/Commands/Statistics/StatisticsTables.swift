internal import Attribution
internal import Server

/// A statistics report as tables: the totals, then one table for each dimension and one for the periods.
struct StatisticsTables {
    let report: StatisticsReport
    let query: StatisticsQuery
    let directory: Directory

    var text: String {
        let groups = [
            ("APP", report.byApp.map { (appName($0.name), $0.counts) }),
            ("CAMPAIGN", report.byCampaign.map { ($0.name, $0.counts) }),
            ("LINK", report.byLink.map { ($0.name, $0.counts) }),
            ("SOURCE", report.bySource.map { ($0.name, $0.counts) }),
            ("PLATFORM", report.byPlatform.map { ($0.name, $0.counts) }),
            ("OS VERSION", report.byOSVersion.map { ($0.name, $0.counts) }),
            ("BROWSER", report.byBrowser.map { ($0.name, $0.counts) }),
            ("HOUR OF DAY", report.byHour.map { ($0.name, $0.counts) }),
            (query.interval.rawValue.uppercased(), report.series.map { (period($0.start), $0.counts) }),
        ]
        let tables = groups.filter { !$0.1.isEmpty }.map { counts($0.0, $0.1) }
        let probabilities = ProbabilityTables(report: report).texts
        let drift = DriftTables(drift: report.drift, directory: directory).text.map { [$0] } ?? []
        let collisions = CollisionTables(collisions: report.collisions, directory: directory).texts
        let rates = report.launchRates.isEmpty ? [] : [launchRates]
        return ([totals] + tables + rates + probabilities + drift + collisions).joined(separator: "\n\n")
    }

    private var totals: String {
        var table = Table([("TOTAL", .left), ("", .right)])
        for (name, metric) in [
            ("clicks", Metric.clicks), ("duplicate clicks", .duplicates), ("clicks of robots", .robots),
            ("checks", .checks), ("matches", .matches), ("replays", .replays),
        ] { table.add([name, count(metric, in: report.totals)]) }
        for reason in NoMatchReason.allCases {
            table.add(["no match: \(reason.name)", count(.noMatch(reason), in: report.totals)])
        }
        table.add(["expected conversions", ProbabilityTables.text(report.expected)])
        if report.unrecordedChecks > 0 {
            table.add(["checks without a record", String(report.unrecordedChecks)])
        }
        table.add(["match rate", Table.percent(StatisticsBody.matchRate(report.totals))])
        table.add(["conversion rate", Table.percent(StatisticsBody.conversionRate(report.totals))])
        table.add(["time to install, median", ProbabilityTables.delay(0.5, of: report.timeToInstall)])
        table.add(["time to install, 90 %", ProbabilityTables.delay(0.9, of: report.timeToInstall)])
        table.add(["live clicks", String(report.liveClicks)])
        table.add(["database", "\(report.databaseBytes + report.writeAheadLogBytes) bytes"])
        return table.text
    }

    private func counts(_ heading: String, _ groups: [(name: String, counts: Counts)]) -> String {
        groups.table([
            .left(heading, \.name),
            .right("CLICKS") { count(.clicks, in: $0.counts) },
            .right("CHECKS") { count(.checks, in: $0.counts) },
            .right("MATCHES") { count(.matches, in: $0.counts) },
            .right("MATCH RATE") { Table.percent(StatisticsBody.matchRate($0.counts)) },
            .right("CONVERSION RATE") { Table.percent(StatisticsBody.conversionRate($0.counts)) },
        ])
    }

    private var launchRates: String {
        Array(report.rankedLaunchRates.prefix(StatisticsReport.groupLimit)).table([
            .left("LAST 7 DAYS", \.system.title),
            .right("CHECKS") { String($0.count.trials) },
            .right("MATCHES") { String($0.count.matches) },
            .right("MATCH RATE") { Table.percent($0.count.rate) },
        ])
    }

    private func appName(_ id: String) -> String { AppID(id).flatMap(directory.app)?.settings.name ?? id }

    /// Returns the date of a period of a day, or the date and time at which a period of an hour starts.
    private func period(_ start: Timestamp) -> String {
        guard query.interval == .hour else {
            return String(start.advanced(byMilliseconds: query.offset * 3_600_000).iso8601.prefix(10))
        }
        return start.iso8601.prefix(10) + " " + start.iso8601.dropFirst(11).prefix(5)
    }

    private func count(_ metric: Metric, in counts: Counts) -> String { String(counts[metric] ?? 0) }
}

/// The probabilities of a statistics report as tables; empty tables are left out.
struct ProbabilityTables {
    let report: StatisticsReport

    var texts: [String] { [methods, playFindings, campaigns, calibration].compactMap(\.self) }

    /// Returns the sum with its spread, as in `812.4 ± 9.1`.
    static func text(_ sum: ExpectedConversions) -> String { "\(tenths(sum.count)) ± \(tenths(sum.spread))" }

    /// Returns the delay that a share of all delays does not exceed.
    static func delay(_ share: Double, of delays: TimeToInstallHistogram) -> String {
        delays.quantile(share).map { ElapsedTime.text(milliseconds: Int64($0.rounded())) } ?? "–"
    }

    private var methods: String? {
        guard !report.byMethod.isEmpty else { return nil }
        return report.byMethod.table([
            .left("METHOD", \.name), .right("MATCHES") { String($0.counts[.matches] ?? 0) },
        ])
    }

    private var playFindings: String? {
        guard !report.byPlayFinding.isEmpty else { return nil }
        return report.byPlayFinding.table([
            .left("GOOGLE PLAY'S FINDING", \.name), .right("MATCHES") { String($0.counts[.matches] ?? 0) },
        ])
    }

    private var campaigns: String? {
        guard !report.byCampaign.isEmpty else { return nil }
        return report.byCampaign.table([
            .left("CAMPAIGN", \.name),
            .right("MATCHES GIVEN") { String($0.counts[.matches] ?? 0) },
            .right("EXPECTED CONVERSIONS") { Self.text($0.expected ?? .zero) },
            .right("TIME TO INSTALL") { Self.delay(0.5, of: $0.timeToInstall ?? TimeToInstallHistogram()) },
        ])
    }

    private var calibration: String? {
        guard report.calibration.launches > 0 else { return nil }
        return report.calibration.bins.enumerated().filter { $0.element.launches > 0 }.table([
            .left("STATED") { "\($0.offset * 10)–\(($0.offset + 1) * 10) %" },
            .right("LAUNCHES WITH A TOKEN") { String($0.element.launches) },
            .right("STATED, SUM") { Self.tenths($0.element.stated) },
            .right("EXPECTED RIGHT") { Self.tenths($0.element.expected) },
            .right("RIGHT") { String($0.element.right) },
        ])
    }

    private static func tenths(_ value: Double) -> String {
        let tenths = Int64((value * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }
}

/// The drift of match rates as a table: the rates that have fallen, and the number of other groups.
struct DriftTables {
    let drift: [AppDrift]
    let directory: Directory

    /// Nil if no group of clicks or launches has been evaluated.
    var text: String? {
        let readings = drift.flatMap(\.readings)
        guard !readings.isEmpty else { return nil }
        let steady = readings.count { $0.status == .steady }
        let learning = readings.count { $0.status == .learning }
        let rest = "Match rates: \(steady) groups as usual, \(learning) with less than a week of past."
        let fallen = drift.flatMap { app in
            app.readings.compactMap { reading in reading.alarm.map { (app.app, reading, $0) } }
        }
        guard !fallen.isEmpty else { return rest }
        let table = fallen.table([
            .left("MATCH RATE HAS FALLEN", \.1.group.title),
            .left("APP") { directory.app($0.0)?.settings.name ?? $0.0.text },
            .right("USUALLY") { Table.percent($0.2.usualRate) },
            .right("FELL TO") { Table.percent($0.2.rate) },
            .right("LAST 7 DAYS") { Table.percent($0.1.recent.rate) },
            .left("SINCE ABOUT") { String($0.2.since.iso8601.prefix(10)) },
        ])
        return table + "\n" + rest
    }
}
