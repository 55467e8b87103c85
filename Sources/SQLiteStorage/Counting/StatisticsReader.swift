internal import Attribution
internal import SQLite
internal import Storage

/// Puts a report together from counts: its cost follows the values and spans asked for, never the clicks.
struct StatisticsReader {
    struct CountedApp {
        let id: AppID
        let scope: Scope
    }

    let reader: SQLiteReader
    let query: StatisticsQuery
    let apps: [CountedApp]

    private var connection: SQLiteConnection { reader.connection }
    private var campaign: String { query.campaign?.text ?? "" }

    func report(at now: Timestamp) throws(SQLiteError) -> StatisticsReport {
        var report = StatisticsReport()
        for app in apps {
            let total = try sum(.total, of: app.scope, campaign: campaign)
            report.byApp.append(StatisticsReport.Group(name: app.id.text, counts: total.counts()))
            report.totals.merge(total.counts(), uniquingKeysWith: +)
            report.expected += total.expected()
            report.liveClicks += try reader.liveClickCount(of: app.scope, at: now)
        }
        report.bySource = try sum(.source).groups
        report.byPlatform = try sum(.platform).groups
        report.byOSVersion = try sum(.osVersion).groups
        report.byMethod = try methods()
        report.byCampaign = try campaigns(totals: report.totals)
        report.series = try series()
        // Delays and probabilities are kept by day: a range within days takes in the whole of them.
        report.timeToInstall = try sum(.timeToInstall, over: [query.delaySpan]).timeToInstall
        report.calibration = try sum(.calibration, campaign: "", over: [query.delaySpan]).calibration
        report.unrecordedChecks = try connection.statement(Self.unrecordedChecks).first { $0.integer(0) } ?? 0
        report.drift = try drift(at: now)
        report.collisions = try collisions()
        report.databaseBytes = try connection.databaseByteCount()
        return report
    }

    /// Counts by value of a dimension over all apps of the query, in its campaign and spans unless given.
    private func sum(_ dimension: Dimension, campaign: String? = nil, over spans: [CountedSpans]? = nil)
        throws(SQLiteError) -> CountSum
    {
        var sum = CountSum()
        for app in apps {
            sum.add(
                try self.sum(dimension, of: app.scope, campaign: campaign ?? self.campaign, over: spans)
            )
        }
        return sum
    }

    private func sum(
        _ dimension: Dimension,
        of scope: Scope,
        campaign: String,
        over spans: [CountedSpans]? = nil
    ) throws(SQLiteError) -> CountSum {
        var sum = CountSum()
        for spans in spans ?? query.spans {
            let query = CountQuery(scope: scope, campaign: campaign, dimension: dimension, spans: spans)
            try reader.add(query, to: &sum)
        }
        return sum
    }

    /// In the order in which they are tried.
    private func methods() throws(SQLiteError) -> [StatisticsReport.Group] {
        let sum = try sum(.method)
        return AttributionMethod.allCases.map(\.rawValue).filter(sum.values.contains).map { method in
            StatisticsReport.Group(name: method, counts: sum.counts(of: method))
        }
    }

    private func campaigns(totals: Counts) throws(SQLiteError) -> [StatisticsReport.Group] {
        var groups: [StatisticsReport.Group]
        if let campaign = query.campaign {
            groups = totals.isEmpty ? [] : [StatisticsReport.Group(name: campaign.text, counts: totals)]
        } else {
            var sum = CountSum()
            for app in apps {
                for name in try topCampaigns(of: app.scope) {
                    sum.add(try self.sum(.total, of: app.scope, campaign: name), as: name)
                }
            }
            groups = sum.groups
        }
        for index in groups.indices {
            groups[index].expected = try sum(.total, campaign: groups[index].name).expected()
        }
        return groups
    }

    /// The most clicked campaigns of one scope, found by an index however many campaigns there are.
    ///
    /// Over all time they are read off. Over a range, the most clicked of each span compete: a campaign that is never
    /// among a span's first hundred is not in the report, though it might have come in by its sum.
    private func topCampaigns(of scope: Scope) throws(SQLiteError) -> [String] {
        let limit = StatisticsReport.campaignLimit
        var candidates: [String: Int64] = [:]
        for span in query.spans {
            for period in try periods(of: span, scope) {
                try connection.statement(SQLiteReader.topCampaigns)
                    .forEach(scope.number, span.granularity.rawValue, period, limit) { row in
                        candidates[row.text(0), default: 0] += row.integer(1)
                    }
            }
        }
        return candidates.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(2 * limit).map(\.key)
    }

    /// The starts of the spans in which anything was counted.
    private func periods(of span: CountedSpans, _ scope: Scope) throws(SQLiteError) -> [Int64] {
        guard span.granularity != .all else { return [0] }
        return try connection.statement(SQLiteReader.countedPeriods).all(
            scope.number,
            span.granularity.rawValue,
            span.first.milliseconds,
            span.end.milliseconds
        ) { $0.integer(0) }
    }

    private func series() throws(SQLiteError) -> [StatisticsReport.Period] {
        var periods: [Int64: CountSum] = [:]
        let (first, end) = query.range
        for app in apps {
            try connection.statement(SQLiteReader.countSeries).forEach(
                app.scope.number,
                campaign,
                query.seriesGranularity.rawValue,
                first.milliseconds,
                end.milliseconds
            ) { row in periods[row.integer(0), default: CountSum()].add(row.integer(2), row.text(1), of: "") }
        }
        return periods.sorted { $0.key < $1.key }.compactMap { period in
            let counts = period.value.counts()
            guard !counts.isEmpty else { return nil }
            return StatisticsReport.Period(start: Timestamp(milliseconds: period.key), counts: counts)
        }
    }

    /// As the last look found it, or a look of its own where that is not up to date.
    private func drift(at now: Timestamp) throws(SQLiteError) -> [AppDrift] {
        let end = DriftHistory.end(at: now)
        var drift: [AppDrift] = []
        var room = AppDrift.groupLimit
        let looked = try reader.progress(of: .drift)
        for app in apps where !app.scope.isTest {
            var readings: [DriftReading]
            if apps.count == 1, DriftScheduler.isDue(end, after: looked) {
                readings = try reader.driftFindings(of: app.scope, end: end).readings
            } else if room > 0 {
                readings = try reader.driftReadings(of: app.scope, atMost: room)
            } else {
                readings = try reader.driftAlarms(of: app.scope)
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
            guard let report = try reader.collisionReport(of: app.scope) else { continue }
            collisions.append(AppCollisions(app: app.id, report: report))
        }
        return collisions
    }

    private static let unrecordedChecks: SQL = """
        SELECT value FROM progress WHERE name = 'unrecorded_checks'
        """
}

extension StatisticsQuery {
    /// The whole days of the range.
    fileprivate var delaySpan: CountedSpans {
        var query = self
        query.interval = .day
        return query.spans.first
            ?? CountedSpans(.all, from: Timestamp(milliseconds: 0), before: .init(milliseconds: 1))
    }
}
