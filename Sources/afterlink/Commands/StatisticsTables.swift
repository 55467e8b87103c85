internal import Attribution
internal import Server

/// A statistics report as tables: the totals, then one table for each thing that counts are kept apart by.
struct StatisticsTables {
    let report: StatisticsReport
    let query: StatisticsQuery
    let directory: Directory

    var text: String {
        let groups = [
            ("APP", report.byApp.map { (appName($0.name), $0.counts) }),
            ("CAMPAIGN", report.byCampaign.map { ($0.name, $0.counts) }),
            ("SOURCE", report.bySource.map { ($0.name, $0.counts) }),
            ("PLATFORM", report.byPlatform.map { ($0.name, $0.counts) }),
            ("OS VERSION", report.byOSVersion.map { ($0.name, $0.counts) }),
            (query.interval.rawValue.uppercased(), report.series.map { (period($0.start), $0.counts) }),
        ]
        let tables = groups.filter { !$0.1.isEmpty }.map { counts($0.0, $0.1) }
        let probabilities = ProbabilityTables(report: report).texts
        let drift = DriftTables(drift: report.drift, directory: directory).text.map { [$0] } ?? []
        let collisions = CollisionTables(collisions: report.collisions, directory: directory).texts
        return ([totals] + tables + probabilities + drift + collisions).joined(separator: "\n\n")
    }

    private var totals: String {
        var table = Table([("TOTAL", .left), ("", .right)])
        for (name, metric) in [
            ("clicks", Metric.clicks), ("duplicate clicks", .duplicates), ("clicks of robots", .robots),
            ("checks", .checks), ("matches", .matches), ("replays", .replays),
        ] {
            table.add([name, count(metric, in: report.totals)])
        }
        for reason in NoMatchReason.allCases {
            table.add(["no match: \(reason.name)", count(.noMatch(reason), in: report.totals)])
        }
        table.add(["expected conversions", ProbabilityTables.text(report.expected)])
        if report.unrecordedChecks > 0 {
            table.add(["checks without a record", String(report.unrecordedChecks)])
        }
        table.add(["match rate", Table.percent(StatisticsBody.matchRate(report.totals))])
        table.add(["conversion rate", Table.percent(StatisticsBody.conversionRate(report.totals))])
        table.add(["time to install, median", delay(0.5)])
        table.add(["time to install, 90 %", delay(0.9)])
        table.add(["live clicks", String(report.liveClicks)])
        table.add(["database", "\(report.databaseBytes + report.writeAheadLogBytes) bytes"])
        return table.text
    }

    private func counts(_ heading: String, _ groups: [(name: String, counts: Counts)]) -> String {
        var table = Table([
            (heading, .left), ("CLICKS", .right), ("CHECKS", .right), ("MATCHES", .right),
            ("MATCH RATE", .right), ("CONVERSION RATE", .right),
        ])
        for group in groups {
            table.add([
                group.name,
                count(.clicks, in: group.counts),
                count(.checks, in: group.counts),
                count(.matches, in: group.counts),
                Table.percent(StatisticsBody.matchRate(group.counts)),
                Table.percent(StatisticsBody.conversionRate(group.counts)),
            ])
        }
        return table.text
    }

    private func appName(_ id: String) -> String {
        AppID(id).flatMap(directory.app)?.settings.name ?? id
    }

    /// A day as its date, an hour with its beginning.
    private func period(_ start: Timestamp) -> String {
        let text = start.iso8601
        return query.interval == .day
            ? String(text.prefix(10)) : text.prefix(10) + " " + text.dropFirst(11).prefix(5)
    }

    private func count(_ metric: Metric, in counts: Counts) -> String {
        String(counts[metric] ?? 0)
    }

    private func delay(_ share: Double) -> String {
        report.timeToInstall.quantile(share).map { ElapsedTime.text(milliseconds: Int64($0.rounded())) }
            ?? "–"
    }
}
