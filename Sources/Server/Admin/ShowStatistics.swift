public import Attribution
public import DomainFiles
internal import HTTPServer
public import JSON

/// `GET /admin/stats`: reports the counts, in totals, by period, and by app, campaign and the other dimensions.
enum ShowStatistics {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let query = try self.query(exchange)
        let now = exchange.now
        let report = try await exchange.statistics(query)
        var body = StatisticsBody(report: report, query: query, directory: exchange.directory, now: now)
        body.version = exchange.service.settings.version
        body.uptimeSeconds = Int64(exchange.service.uptime / 1_000_000_000)
        body.domainCopies = exchange.domainCopies
        body.seesAllApps = exchange.onlyApp == nil
        let endpoints = try await exchange.endpoints(of: nil).map(\.endpoint)
        body.warnings =
            warnings(exchange) + endpoints.compactMap(\.warning)
            + exchange.directory.policyWarnings(report.policyFigures(of: query))
        return Response(.ok, json: body.json())
    }

    private static func query(_ exchange: Exchange) throws(APIError) -> StatisticsQuery {
        var query = StatisticsQuery()
        query.app = try exchange.appItem()?.id
        query.campaign = try exchange.campaignItem()
        (query.from, query.to) = try exchange.rangeItems()
        query.offset = try exchange.offsetItem()
        query.slice = try exchange.sliceItem(of: query.campaign)
        if let text = exchange.queryItem("interval") {
            guard let interval = StatisticsQuery.Interval(rawValue: text) else {
                throw .invalidField("interval", "must be hour or day")
            }
            query.interval = interval
        }
        query.isTest = try exchange.testItem()
        query.hasLaunchRates = true
        return query
    }

    private static func warnings(_ exchange: Exchange) -> [String] {
        let warning = "the test clock is on: any request can set the time; never use it in production"
        return exchange.directory.warnings(at: exchange.now)
            + (exchange.service.settings.usesTestClock ? [warning] : [])
    }
}

extension Exchange {
    /// Reads the counts that a query chooses.
    func statistics(_ query: StatisticsQuery) async throws(APIError) -> StatisticsReport {
        try await store(await stores.statistics.statistics(query, at: now))
    }
}

/// The JSON form of a statistics report, shared by `GET /admin/stats` and `afterlink stats --json`.
public struct StatisticsBody {
    public let report: StatisticsReport
    public let query: StatisticsQuery
    public let directory: Directory
    public let now: Timestamp
    public var version = ""
    public var uptimeSeconds: Int64?
    public var warnings: [String] = []
    /// The states of domain file copies; empty if the monitor is off.
    public var domainCopies: [DomainCopy] = []
    /// Whether the body has the figures that concern all apps: the unrecorded checks, and the database's size.
    public var seesAllApps = true

    public init(report: StatisticsReport, query: StatisticsQuery, directory: Directory, now: Timestamp) {
        (self.report, self.query, self.directory, self.now) = (report, query, directory, now)
    }

    /// Returns the share of checks that led to a match, without replays; nil if there is no check.
    ///
    /// It is nil too if there are more matches than checks. This can happen with a filter such as the platform, which
    /// compares the launch's platform for checks, and the click's for matches.
    public static func matchRate(_ counts: Counts) -> Double? {
        let checks = (counts[.checks] ?? 0) - (counts[.replays] ?? 0)
        let matches = counts[.matches] ?? 0
        return checks > 0 && matches <= checks ? Double(matches) / Double(checks) : nil
    }

    /// Returns the share of clicks that led to a match; nil if there is no click.
    public static func conversionRate(_ counts: Counts) -> Double? {
        let clicks = counts[.clicks] ?? 0
        return clicks > 0 ? Double(counts[.matches] ?? 0) / Double(clicks) : nil
    }

    public func json() -> JSONWriter {
        .object { json in
            json.member("now", now.iso8601)
            json.member("version", version)
            json.member("uptime_seconds", uptimeSeconds)
            json.member("interval", query.interval.rawValue)
            json.member("test", query.isTest)
            json.member("warnings", warnings)
            json.object("totals", writeTotals)
            let groups = [
                ("apps", "app", report.byApp), ("campaigns", "campaign", report.byCampaign),
                ("sources", "source", report.bySource), ("platforms", "platform", report.byPlatform),
                ("os_versions", "os_version", report.byOSVersion), ("browsers", "browser", report.byBrowser),
                ("links", "link", report.byLink), ("hours", "hour", report.byHour),
            ]
            for (name, key, groups) in groups {
                json.objects(name, groups) { json, group in
                    json.member(key, group.name)
                    let app = key == "app" ? AppID(group.name).flatMap(directory.app) : nil
                    json.member("name", app?.settings.name)
                    write(group.counts, to: &json)
                    if let expected = group.expected { write(expected, to: &json) }
                    if let delays = group.timeToInstall { write(delays, to: &json) }
                }
            }
            json.objects("methods", report.byMethod) { json, group in
                json.member("method", group.name)
                json.member("matches", group.counts[.matches] ?? 0)
            }
            json.objects("play_findings", report.byPlayFinding) { json, group in
                json.member("finding", group.name)
                json.member("matches", group.counts[.matches] ?? 0)
            }
            json.object("calibration", writeCalibration)
            json.objects("series", report.series) { json, period in
                json.member("start", period.start.iso8601)
                write(period.counts, to: &json)
            }
            json.object("drift", writeDrift)
            json.objects("match_rates", report.rankedLaunchRates) { json, rate in
                json.member("platform", orNull: Self.text(rate.system.platform))
                json.member("os_version", orNull: Self.text(rate.system.osVersion))
                json.member("checks", rate.count.trials)
                json.member("matches", rate.count.matches)
                json.member("match_rate", orNull: rate.count.rate)
            }
            CollisionBody.write(report.collisions, in: directory, to: &json)
            if !domainCopies.isEmpty {
                json.objects("domain_files", domainCopies) { json, copy in
                    copy.write(to: &json)
                    json.member("since", copy.since.iso8601)
                }
            }
            guard seesAllApps else { return }
            json.object("database") { json in
                json.member("bytes", report.databaseBytes)
                json.member("wal_bytes", report.writeAheadLogBytes)
            }
        }
    }

    private func writeTotals(to json: inout JSONWriter) {
        write(report.totals, to: &json)
        write(report.expected, to: &json)
        json.member("live_clicks", report.liveClicks)
        if seesAllApps { json.member("unrecorded_checks", report.unrecordedChecks) }
        write(report.timeToInstall, to: &json)
    }

    private func write(_ delays: TimeToInstallHistogram, to json: inout JSONWriter) {
        json.object("time_to_install") { json in
            json.member("count", delays.total)
            for (name, share) in [("median_seconds", 0.5), ("p90_seconds", 0.9)] {
                json.member(name, orNull: delays.quantile(share).map { $0 / 1000 })
            }
        }
    }

    private func write(_ counts: Counts, to json: inout JSONWriter) {
        for metric in Metric.allCases {
            if case .noMatch = metric { continue }
            json.member(metric.name, counts[metric] ?? 0)
        }
        let reasons = NoMatchReason.allCases.map { ($0.rawValue, counts[.noMatch($0)] ?? 0) }
        json.member("no_matches", reasons.reduce(0) { $0 + $1.1 })
        json.object("no_match_reasons") { json in for (word, count) in reasons { json.member(word, count) } }
        json.member("match_rate", orNull: Self.matchRate(counts))
        json.member("conversion_rate", orNull: Self.conversionRate(counts))
    }

    private func write(_ expected: ExpectedConversions, to json: inout JSONWriter) {
        json.object("expected_conversions") { json in
            json.member("count", expected.count)
            json.member("spread", expected.spread)
        }
    }

    /// Writes the calibration: the launches whose token named their click, by tenths of the stated probability.
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

    /// Writes the match rates of groups of launches and clicks, and the drops in them.
    private func writeDrift(to json: inout JSONWriter) {
        json.member("alarms", report.drift.flatMap(\.readings).count { $0.alarm != nil })
        json.objects("groups", report.drift.flatMap { app in app.readings.map { (app.app, $0) } }) {
            write($1.1, of: $1.0, to: &$0)
        }
    }

    private func write(_ reading: DriftReading, of app: AppID, to json: inout JSONWriter) {
        let group = reading.group
        json.member("app", app.text)
        json.member("name", directory.app(app)?.settings.name)
        json.member("by", group.side.rawValue)
        json.member("title", group.title)
        json.member("platform", orNull: Self.text(group.platform))
        json.member("os_version", orNull: Self.text(group.osVersion))
        json.member(group.side == .launch ? "sdk_version" : "browser", orNull: Self.text(group.client))
        json.member("status", reading.status.rawValue)
        json.member(group.side == .launch ? "checks" : "clicks", reading.recent.trials)
        json.member("matches", reading.recent.matches)
        json.member("match_rate", orNull: reading.recent.rate)
        json.member("usual_match_rate", orNull: reading.usualRate)
        guard let alarm = reading.alarm else { return }
        json.member("fallen_to", alarm.rate)
        json.member("fallen_since", alarm.since.iso8601)
        json.member("detected_at", alarm.began.iso8601)
    }

    /// Returns the text of one part of a drift group's name; nil for an unknown part.
    private static func text(_ part: DriftGroup.Part) -> String? {
        switch part {
        case .value(let text): text
        case .unknown: nil
        case .others: "other"
        case .all: "all"
        }
    }
}

extension DomainCopy {
    /// Writes the copy and its state, with the first `count` differences.
    func write(to json: inout JSONWriter, atMost count: Int = .max) {
        json.member("host", host.text)
        json.member("file", file.rawValue)
        json.member("copy", holder.rawValue)
        switch state {
        case .current: json.member("state", "current")
        case .differs(let differences):
            json.member("state", "differs")
            json.member("differences", Array(differences.prefix(count)))
        case .unknown(let reason):
            json.member("state", "unknown")
            json.member("reason", reason)
        }
    }
}

/// The JSON form of reports on collisions, shared by statistics reports and `afterlink collisions --json`.
public enum CollisionBody {
    /// Writes the member `collisions` of an object; leaves out unknown values.
    ///
    /// For each limit of the share of false matches, it writes the minimum confidence and the window that
    /// meet the limit. If none meets the limit, it leaves the value out.
    public static func write(_ reports: [AppCollisions], in directory: Directory, to json: inout JSONWriter) {
        json.objects("collisions", reports) { json, app in
            let report = app.report
            json.member("app", app.app.text)
            json.member("name", directory.app(app.app)?.settings.name)
            json.member("counted_at", report.countedAt.iso8601)
            json.member("window_seconds", report.window.seconds)
            json.objects("forms", report.forms) { json, form in
                json.member("platform", form.platformForm.platform.rawValue)
                json.member("form", form.platformForm.form?.rawValue)
                json.member("clicks", form.sharing.clicks)
                json.member("alone", form.sharing.alone)
                json.member("competing_clicks", form.sharing.competing)
            }
            json.member("matches", report.matches)
            json.object("expected_false_matches") { json in
                json.member("count", report.expectedFalse)
                json.member("spread", report.spread)
            }
            json.member("false_match_share", report.falseShare)
            json.objects("limits", report.limits) { json, limit in
                json.member("false_match_share", limit.share)
                json.member("minimum_confidence", limit.threshold?.minimum)
                json.member("matches_by_confidence", limit.threshold?.matches)
                json.member("window_seconds", limit.window?.window.seconds)
                json.member("matches_in_window", limit.window?.matches)
            }
        }
    }
}
