internal import Attribution
internal import SQLite
internal import Storage

/// Puts a report together from counters: its cost follows the values and spans asked for, never the clicks.
struct StatisticsReader {
    struct CountedApp {
        let id: AppID
        let scope: Scope
    }

    let connection: SQLiteConnection
    let query: StatisticsQuery
    let apps: [CountedApp]

    private var campaign: String { query.campaign?.text ?? "" }

    func report(at now: Timestamp) throws(SQLiteError) -> StatisticsReport {
        var report = StatisticsReport()
        for app in apps {
            let totals = try groups(.total, of: app.scope)[""] ?? Tally()
            report.byApp.append(StatisticsReport.Group(name: app.id.text, counts: totals.counts))
            report.liveClicks += try LiveClicks.count(of: app.scope, at: now, on: connection)
        }
        report.totals = Tally(sumOf: report.byApp.map(\.counts)).counts
        report.bySource = try sortedGroups(.source)
        report.byPlatform = try sortedGroups(.platform)
        report.byOSVersion = try sortedGroups(.osVersion)
        report.byMethod = try methods()
        report.byCampaign = try campaigns(totals: report.totals)
        report.series = try series()
        report.timeToInstall = try delays()
        try addProbabilities(to: &report)
        report.drift = try drift(at: now)
        report.collisions = try collisions()
        report.databaseBytes = try connection.databaseByteCount()
        return report
    }

    /// As the last look found it, or a look of its own where that is not up to date.
    private func drift(at now: Timestamp) throws(SQLiteError) -> [AppDrift] {
        let end = DriftHistory.end(at: now)
        var drift: [AppDrift] = []
        var room = AppDrift.groupLimit
        for app in apps where !app.scope.isTest {
            let looked = try DriftRows.lookedAt(app.scope, on: connection)
            var readings: [DriftReading]
            if apps.count == 1, DriftScheduler.isDue(end, after: looked) {
                readings = try DriftRows.look(at: app.scope, end: end, on: connection).readings
            } else if room > 0 {
                readings = try DriftRows.readings(of: app.scope, atMost: room, on: connection)
            } else {
                readings = try DriftRows.alarmed(in: app.scope, on: connection)
            }
            room -= readings.count
            readings.sort { ($0.alarm == nil ? 1 : 0, $0.group) < ($1.alarm == nil ? 1 : 0, $1.group) }
            if !readings.isEmpty { drift.append(AppDrift(app: app.id, readings: readings)) }
        }
        return drift
    }

    private func collisions() throws(SQLiteError) -> [AppCollisions] {
        var collisions: [AppCollisions] = []
        for app in apps.prefix(StatisticsReport.collisionLimit) {
            guard let report = try CollisionRows.report(of: app.scope, on: connection) else { continue }
            collisions.append(AppCollisions(app: app.id, report: report))
        }
        return collisions
    }

    /// Counts by value of a dimension in one scope, over all spans of the query.
    func groups(_ dimension: Dimension, of scope: Scope) throws(SQLiteError) -> [String: Tally] {
        var groups: [String: Tally] = [:]
        let statement = try connection.statement(StatisticsSQL.groups)
        for span in query.spans {
            try statement.forEach(
                scope.number,
                campaign,
                dimension.rawValue,
                span.granularity.rawValue,
                span.first.milliseconds,
                span.end.milliseconds
            ) { row in groups[row.text(0), default: Tally()].add(row, from: 1) }
        }
        return groups
    }

    private func sortedGroups(_ dimension: Dimension) throws(SQLiteError) -> [StatisticsReport.Group] {
        var groups: [String: Tally] = [:]
        for app in apps { groups.merge(try self.groups(dimension, of: app.scope), uniquingKeysWith: +) }
        return Tally.sorted(groups)
    }

    private func campaigns(totals: Counts) throws(SQLiteError) -> [StatisticsReport.Group] {
        if let campaign = query.campaign {
            return totals.isEmpty ? [] : [StatisticsReport.Group(name: campaign.text, counts: totals)]
        }
        var groups: [String: Tally] = [:]
        for app in apps {
            let ranking = CampaignRanking(connection: connection, spans: query.spans, scope: app.scope)
            groups.merge(try ranking.top(), uniquingKeysWith: +)
        }
        return Tally.sorted(groups)
    }

    private func series() throws(SQLiteError) -> [StatisticsReport.Period] {
        var periods: [Int64: Tally] = [:]
        let (first, end) = query.range
        for app in apps {
            try connection.statement(StatisticsSQL.series).forEach(
                app.scope.number,
                campaign,
                query.seriesGranularity.rawValue,
                first.milliseconds,
                end.milliseconds
            ) { row in periods[row.integer(0), default: Tally()].add(row, from: 1) }
        }
        return periods.sorted { $0.key < $1.key }.map { period in
            StatisticsReport.Period(start: Timestamp(milliseconds: period.key), counts: period.value.counts)
        }
    }

    /// Delays are kept by day: a range within days takes in the whole of them.
    private func delays() throws(SQLiteError) -> TimeToInstallHistogram {
        var histogram = TimeToInstallHistogram()
        let span = query.delaySpan
        for app in apps {
            try connection.statement(StatisticsSQL.delays).forEach(
                app.scope.number,
                campaign,
                span.granularity.rawValue,
                span.first.milliseconds,
                span.end.milliseconds
            ) { row in histogram.add(row.integer(1), inBin: Int(row.integer(0))) }
        }
        return histogram
    }
}

extension StatisticsQuery {
    /// The whole days of the range.
    var delaySpan: CountedSpans {
        var query = self
        query.interval = .day
        return query.spans.first
            ?? CountedSpans(.all, from: Timestamp(milliseconds: 0), before: .init(milliseconds: 1))
    }
}

enum StatisticsSQL {
    static let groups: StaticString = """
        SELECT value, sum(clicks), sum(duplicates), sum(robots), sum(checks), sum(matches), sum(replays),
            sum(no_match_no_click), sum(no_match_expired), sum(no_match_already_claimed), sum(no_match_robot_click),
            sum(no_match_below_threshold), sum(no_match_ambiguous), sum(no_match_other_app),
            sum(no_match_token_invalid), sum(no_match_token_used), sum(no_match_fingerprint_disabled)
        FROM counters
        WHERE scope = ?1 AND campaign = ?2 AND dimension = ?3 AND granularity = ?4 AND period >= ?5 AND period < ?6
        GROUP BY value
        """
    static let series: StaticString = """
        SELECT period, clicks, duplicates, robots, checks, matches, replays,
            no_match_no_click, no_match_expired, no_match_already_claimed, no_match_robot_click,
            no_match_below_threshold, no_match_ambiguous, no_match_other_app,
            no_match_token_invalid, no_match_token_used, no_match_fingerprint_disabled
        FROM counters
        WHERE scope = ?1 AND campaign = ?2 AND dimension = 'total' AND granularity = ?3
            AND period >= ?4 AND period < ?5
        """
    static let delays: StaticString = """
        SELECT bin, sum(count) FROM install_delays
        WHERE scope = ?1 AND campaign = ?2 AND granularity = ?3 AND period >= ?4 AND period < ?5
        GROUP BY bin
        """
}
