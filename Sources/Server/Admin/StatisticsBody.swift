public import Attribution

/// The JSON form of a statistics report, shared by `GET /admin/stats` and `afterlink stats --json`.
public struct StatisticsBody {
    public let report: StatisticsReport
    public let query: StatisticsQuery
    public let directory: Directory
    public let now: Timestamp
    public var version = ""
    public var uptimeSeconds: Int64?
    public var warnings: [String] = []
    /// How copies of domain files stand, where somebody looks at them.
    public var domainCopies: [DomainCopy] = []

    public init(report: StatisticsReport, query: StatisticsQuery, directory: Directory, now: Timestamp) {
        self.report = report
        self.query = query
        self.directory = directory
        self.now = now
    }

    /// Share of checks that led to a match, replays left out; nil without any check.
    public static func matchRate(_ counts: Counts) -> Double? {
        let checks = (counts[.checks] ?? 0) - (counts[.replays] ?? 0)
        return checks > 0 ? Double(counts[.matches] ?? 0) / Double(checks) : nil
    }

    /// Share of clicks that led to a match; nil without any click.
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
            if let uptimeSeconds { json.member("uptime_seconds", uptimeSeconds) }
            json.member("interval", query.interval.rawValue)
            json.member("test", query.isTest)
            json.name("warnings")
            json.array { json in
                for warning in warnings { json.value(warning) }
            }
            json.name("totals")
            totals(&json)
            groups("apps", "app", report.byApp, &json)
            groups("campaigns", "campaign", report.byCampaign, &json)
            groups("sources", "source", report.bySource, &json)
            groups("platforms", "platform", report.byPlatform, &json)
            groups("os_versions", "os_version", report.byOSVersion, &json)
            methods(&json)
            calibration(&json)
            series(&json)
            DriftBody(drift: report.drift, directory: directory).write(to: &json)
            CollisionBody(collisions: report.collisions, directory: directory).write(to: &json)
            if !domainCopies.isEmpty { DomainCopiesBody(copies: domainCopies).write(to: &json) }
            json.name("database")
            json.object { json in
                json.member("bytes", report.databaseBytes)
                json.member("wal_bytes", report.writeAheadLogBytes)
            }
        }
        return json
    }

    private func totals(_ json: inout JSONWriter) {
        json.object { json in
            counts(report.totals, &json)
            expected(report.expected, &json)
            json.member("live_clicks", report.liveClicks)
            json.member("unrecorded_checks", report.unrecordedChecks)
            json.name("time_to_install")
            json.object { json in
                json.member("count", report.timeToInstall.total)
                rate("median_seconds", report.timeToInstall.quantile(0.5).map { $0 / 1000 }, &json)
                rate("p90_seconds", report.timeToInstall.quantile(0.9).map { $0 / 1000 }, &json)
            }
        }
    }

    private func counts(_ counts: Counts, _ json: inout JSONWriter) {
        json.member("clicks", counts[.clicks] ?? 0)
        json.member("duplicates", counts[.duplicates] ?? 0)
        json.member("robots", counts[.robots] ?? 0)
        json.member("checks", counts[.checks] ?? 0)
        json.member("matches", counts[.matches] ?? 0)
        json.member("replays", counts[.replays] ?? 0)
        let reasons = NoMatchReason.allCases.map { ($0.rawValue, counts[.noMatch($0)] ?? 0) }
        json.member("no_matches", reasons.reduce(0) { $0 + $1.1 })
        json.name("no_match_reasons")
        json.object { json in
            for (reason, count) in reasons { json.member(reason, count) }
        }
        rate("match_rate", Self.matchRate(counts), &json)
        rate("conversion_rate", Self.conversionRate(counts), &json)
    }

    private func rate(_ name: String, _ value: Double?, _ json: inout JSONWriter) {
        json.name(name)
        if let value { json.value(value) } else { json.null() }
    }

    private func groups(
        _ name: String,
        _ key: String,
        _ groups: [StatisticsReport.Group],
        _ json: inout JSONWriter
    ) {
        json.name(name)
        json.array { json in
            for group in groups {
                json.object { json in
                    json.member(key, group.name)
                    if key == "app", let app = AppID(group.name).flatMap(directory.app) {
                        json.member("name", app.settings.name)
                    }
                    counts(group.counts, &json)
                    if let sum = group.expected { expected(sum, &json) }
                }
            }
        }
    }

    private func series(_ json: inout JSONWriter) {
        json.name("series")
        json.array { json in
            for period in report.series {
                json.object { json in
                    json.member("start", period.start.iso8601)
                    counts(period.counts, &json)
                }
            }
        }
    }
}
