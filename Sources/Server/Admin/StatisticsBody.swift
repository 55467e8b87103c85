public import Attribution
public import DomainFiles
public import JSON

/// The JSON form of a statistics report, shared by `GET /admin/stats` and `afterlink stats --json`.
public struct StatisticsBody {
    public let report: StatisticsReport
    public let query: StatisticsQuery
    public let directory: Directory
    public let now: Timestamp
    public var version = ""
    public var uptimeSeconds: Int64?
    public var warnings: [String] = []
    /// The states of domain file copies, if the monitor is on.
    public var domainCopies: [DomainCopy] = []

    public init(report: StatisticsReport, query: StatisticsQuery, directory: Directory, now: Timestamp) {
        self.report = report
        self.query = query
        self.directory = directory
        self.now = now
    }

    /// The share of checks that led to a match, without replays; nil without any check.
    public static func matchRate(_ counts: Counts) -> Double? {
        let checks = (counts[.checks] ?? 0) - (counts[.replays] ?? 0)
        return checks > 0 ? Double(counts[.matches] ?? 0) / Double(checks) : nil
    }

    /// The share of clicks that led to a match; nil without any click.
    public static func conversionRate(_ counts: Counts) -> Double? {
        let clicks = counts[.clicks] ?? 0
        return clicks > 0 ? Double(counts[.matches] ?? 0) / Double(clicks) : nil
    }

    /// The whole body.
    public func json() -> JSONWriter {
        var json = JSONWriter()
        json.object { json in
            json.member("now", now.iso8601)
            json.member("version", version)
            json.member("uptime_seconds", uptimeSeconds)
            json.member("interval", query.interval.rawValue)
            json.member("test", query.isTest)
            json.member("warnings", warnings)
            json.object("totals", writeTotals)
            groups("apps", by: "app", report.byApp, to: &json)
            groups("campaigns", by: "campaign", report.byCampaign, to: &json)
            groups("sources", by: "source", report.bySource, to: &json)
            groups("platforms", by: "platform", report.byPlatform, to: &json)
            groups("os_versions", by: "os_version", report.byOSVersion, to: &json)
            json.objects("methods", report.byMethod) { json, group in
                json.member("method", group.name)
                json.member("matches", group.counts[.matches] ?? 0)
            }
            json.object("calibration", writeCalibration)
            json.objects("series", report.series) { json, period in
                json.member("start", period.start.iso8601)
                write(period.counts, to: &json)
            }
            DriftBody(drift: report.drift, directory: directory).write(to: &json)
            CollisionBody(collisions: report.collisions, directory: directory).write(to: &json)
            if !domainCopies.isEmpty { DomainCopiesBody(copies: domainCopies).write(to: &json) }
            json.object("database") { json in
                json.member("bytes", report.databaseBytes)
                json.member("wal_bytes", report.writeAheadLogBytes)
            }
        }
        return json
    }

    private func writeTotals(to json: inout JSONWriter) {
        write(report.totals, to: &json)
        write(report.expected, to: &json)
        json.member("live_clicks", report.liveClicks)
        json.member("unrecorded_checks", report.unrecordedChecks)
        json.object("time_to_install") { json in
            json.member("count", report.timeToInstall.total)
            for (name, share) in [("median_seconds", 0.5), ("p90_seconds", 0.9)] {
                json.member(name, orNull: report.timeToInstall.quantile(share).map { $0 / 1000 })
            }
        }
    }

    private func write(_ counts: Counts, to json: inout JSONWriter) {
        for (name, metric) in [
            ("clicks", Metric.clicks), ("duplicates", .duplicates), ("robots", .robots), ("checks", .checks),
            ("matches", .matches), ("replays", .replays),
        ] {
            json.member(name, counts[metric] ?? 0)
        }
        let reasons = NoMatchReason.allCases.map { ($0.rawValue, counts[.noMatch($0)] ?? 0) }
        json.member("no_matches", reasons.reduce(0) { $0 + $1.1 })
        json.object("no_match_reasons") { json in
            for (reason, count) in reasons { json.member(reason, count) }
        }
        json.member("match_rate", orNull: Self.matchRate(counts))
        json.member("conversion_rate", orNull: Self.conversionRate(counts))
    }

    private func write(_ expected: ExpectedConversions, to json: inout JSONWriter) {
        json.object("expected_conversions") { json in
            json.member("count", expected.count)
            json.member("spread", expected.spread)
        }
    }

    private func groups(
        _ name: String,
        by key: String,
        _ groups: [StatisticsReport.Group],
        to json: inout JSONWriter
    ) {
        json.objects(name, groups) { json, group in
            json.member(key, group.name)
            if key == "app" { json.member("name", AppID(group.name).flatMap(directory.app)?.settings.name) }
            write(group.counts, to: &json)
            if let expected = group.expected { write(expected, to: &json) }
        }
    }

    /// Writes, for each tenth of the probability, the launches whose token said which click led to them.
    private func writeCalibration(to json: inout JSONWriter) {
        json.member("launches", report.calibration.launches)
        json.member("error", orNull: report.calibration.error)
        json.objects("bins", report.calibration.bins.enumerated()) { json, bin in
            json.member("from", Double(bin.offset) / Double(CalibrationTable.binCount))
            json.member("to", Double(bin.offset + 1) / Double(CalibrationTable.binCount))
            json.member("launches", bin.element.launches)
            json.member("stated", bin.element.stated)
            json.member("expected", bin.element.expected)
            json.member("right", bin.element.right)
        }
    }
}
