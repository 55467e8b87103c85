public import Attribution

/// Counts, as a database reads them for statistics.
public protocol StatisticsRows {
    associatedtype Failure: Error

    /// Adds up the counts of a query.
    func add(_ query: CountQuery, to sum: inout CountSum) throws(Failure)
    /// Adds up the counts of several campaigns, each as ``add(_:to:)`` does with the query's own campaign.
    func add(_ query: CountQuery, of campaigns: [String], to sums: inout [String: CountSum]) throws(Failure)
    /// Returns the servers that share the database; empty for a database that only one process writes to.
    func runningServers() throws(Failure) -> [RunningServer]
    /// Returns the starts of the spans in which anything of a scope was counted.
    func countedPeriods(of spans: CountedSpans, in scope: Scope) throws(Failure) -> [Timestamp]
    /// Returns the campaigns with the most clicks of one span.
    func topCampaigns(of scope: Scope, _ granularity: Granularity, from period: Timestamp, atMost limit: Int)
        throws(Failure) -> [(name: String, clicks: Int64)]
    /// Feeds the totals of each span to `body`; `campaign` is empty for all campaigns together.
    func totals(
        of scope: Scope,
        campaign: String,
        over spans: CountedSpans,
        _ body: (_ period: Timestamp, _ metric: String, _ count: Int64) -> Void
    ) throws(Failure)
    func liveClickCount(of scope: Scope, at now: Timestamp) throws(Failure) -> Int64
    /// Returns the number of checks that left no record because there were too many.
    func unrecordedCheckCount() throws(Failure) -> Int64
    func databaseByteCount() throws(Failure) -> Int64
}

extension StatisticsRows {
    public func add(_ query: CountQuery, of campaigns: [String], to sums: inout [String: CountSum])
        throws(Failure)
    {
        for campaign in campaigns {
            let (dimension, spans) = (query.dimension, query.spans)
            let single = CountQuery(
                scope: query.scope,
                campaign: campaign,
                dimension: dimension,
                spans: spans
            )
            try add(single, to: &sums[campaign, default: CountSum()])
        }
    }

    public func runningServers() throws(Failure) -> [RunningServer] { [] }
}

/// Makes a report from counts, so that its cost grows with the values and spans of the query, and not with the clicks.
private struct StatisticsReader<Reader: ReportReader> {
    let reader: Reader
    let query: StatisticsQuery
    /// The apps of the query, with the scope of its live or test traffic.
    let apps: [(id: AppID, scope: Scope)]

    private var campaign: String { query.campaign?.text ?? "" }

    func report(at now: Timestamp) throws(Reader.Failure) -> StatisticsReport {
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
        // Delays and probabilities are counted by day: a range that starts or ends within a day includes all of that
        // day.
        report.timeToInstall = try sum(.timeToInstall, over: [query.delaySpan]).timeToInstall
        report.calibration = try sum(.calibration, campaign: "", over: [query.delaySpan]).calibration
        report.unrecordedChecks = try reader.unrecordedCheckCount()
        report.drift = try drift(at: now)
        report.collisions = try collisions()
        report.databaseBytes = try reader.databaseByteCount()
        return report
    }

    /// Adds up counts by value of a dimension over all apps; campaign and spans are the query's if nil.
    private func sum(_ dimension: Dimension, campaign: String? = nil, over spans: [CountedSpans]? = nil)
        throws(Reader.Failure) -> CountSum
    {
        var sum = CountSum()
        for app in apps {
            sum.add(try self.sum(dimension, of: app.scope, campaign: campaign ?? self.campaign, over: spans))
        }
        return sum
    }

    private func sum(
        _ dimension: Dimension,
        of scope: Scope,
        campaign: String,
        over spans: [CountedSpans]? = nil
    ) throws(Reader.Failure) -> CountSum {
        var sum = CountSum()
        for spans in spans ?? query.spans {
            let query = CountQuery(scope: scope, campaign: campaign, dimension: dimension, spans: spans)
            try reader.add(query, to: &sum)
        }
        return sum
    }

    /// Returns the matches by method, in the order in which methods are tried.
    private func methods() throws(Reader.Failure) -> [StatisticsReport.Group] {
        let sum = try sum(.method)
        return AttributionMethod.allCases.map(\.rawValue).filter(sum.values.contains).map { method in
            StatisticsReport.Group(name: method, counts: sum.counts(of: method))
        }
    }

    private func campaigns(totals: Counts) throws(Reader.Failure) -> [StatisticsReport.Group] {
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

    /// Returns the campaigns of a scope with the most clicks; an index finds them, however many campaigns there are.
    ///
    /// Over a range, the campaigns with the most clicks of each span are compared. A campaign that is never among a
    /// span's first hundred is left out, even if its sum would be large enough.
    private func topCampaigns(of scope: Scope) throws(Reader.Failure) -> [String] {
        let limit = StatisticsReport.campaignLimit
        var candidates: [String: Int64] = [:]
        for span in query.spans {
            // All time is one span.
            let periods =
                try span.granularity == .all
                ? [Timestamp(milliseconds: 0)] : reader.countedPeriods(of: span, in: scope)
            for period in periods {
                for top in try reader.topCampaigns(of: scope, span.granularity, from: period, atMost: limit) {
                    candidates[top.name, default: 0] += top.clicks
                }
            }
        }
        return candidates.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(2 * limit).map(\.key)
    }

    private func series() throws(Reader.Failure) -> [StatisticsReport.Period] {
        var periods: [Int64: CountSum] = [:]
        let (first, end) = query.range
        let spans = CountedSpans(query.seriesGranularity, from: first, before: end)
        for app in apps {
            try reader.totals(of: app.scope, campaign: campaign, over: spans) { period, metric, count in
                periods[period.milliseconds, default: CountSum()].add(count, metric, of: "")
            }
        }
        return periods.sorted { $0.key < $1.key }.compactMap { period in
            let counts = period.value.counts()
            guard !counts.isEmpty else { return nil }
            let start = Timestamp(milliseconds: period.key)
            return StatisticsReport.Period(start: start, counts: counts, expected: period.value.expected())
        }
    }

    /// Returns the results of the last evaluation; if they are not up to date, a query of one app evaluates again.
    private func drift(at now: Timestamp) throws(Reader.Failure) -> [AppDrift] {
        let end = DriftHistory.end(at: now)
        var drift: [AppDrift] = []
        var room = AppDrift.groupLimit
        let evaluated = try reader.progress(of: .drift)
        for app in apps where !app.scope.isTest {
            var readings: [DriftReading]
            if apps.count == 1, DriftHistory.isDue(end, after: evaluated) {
                readings = try reader.driftFindings(of: app.scope, end: end).readings
            } else if room > 0 {
                readings = try driftReadings(of: app.scope, atMost: room)
            } else {
                readings = try reader.driftAlarms(of: app.scope)
            }
            room -= readings.count
            readings.sort { ($0.alarm == nil ? 1 : 0, $0.group) < ($1.alarm == nil ? 1 : 0, $1.group) }
            if !readings.isEmpty { drift.append(AppDrift(app: app.id, readings: readings)) }
        }
        return drift
    }

    /// Returns groups as of the last evaluation, at most `limit` except for groups with an alarm, which are all included.
    private func driftReadings(of scope: Scope, atMost limit: Int) throws(Reader.Failure) -> [DriftReading] {
        let alarms = try reader.driftAlarms(of: scope)
        let alarmed = Set(alarms.map(\.group))
        let others = try reader.driftGroups(of: scope, atMost: limit).filter { !alarmed.contains($0.group) }
        return alarms + others.prefix(max(0, limit - alarms.count))
    }

    private func collisions() throws(Reader.Failure) -> [AppCollisions] {
        var collisions: [AppCollisions] = []
        for app in apps.prefix(StatisticsReport.collisionLimit) {
            guard let report = try reader.collisionReport(of: app.scope) else { continue }
            collisions.append(AppCollisions(app: app.id, report: report))
        }
        return collisions
    }
}

extension StatisticsQuery {
    /// The range in whole days; all time without a range.
    fileprivate var delaySpan: CountedSpans {
        var query = self
        query.interval = .day
        return query.spans.first
            ?? CountedSpans(.all, from: Timestamp(milliseconds: 0), before: .init(milliseconds: 1))
    }
}

extension DatabaseSession where Backend.Reader: ReportReader {
    public func statistics(_ query: StatisticsQuery, at now: Timestamp) async throws(StoreError)
        -> StatisticsReport
    {
        try await loop.flushUpdates()
        let directory = try loop.directory()
        let ids = query.app.map { [$0] } ?? directory.apps.map(\.id)
        var apps: [(id: AppID, scope: Scope)] = []
        for id in ids {
            guard let scope = try loop.scope(of: id, isTest: query.isTest) else { continue }
            apps.append((id, scope))
        }
        var report = try await loop.readReport { [apps] reader throws(Backend.Reader.Failure) in
            try StatisticsReader(reader: reader, query: query, apps: apps).report(at: now)
        }
        report.writeAheadLogBytes = loop.logByteCount
        return report
    }

    /// Reads every click and check: commands call it, and loops that serve requests must not.
    public func countCollisions(
        of app: AppID,
        isTest: Bool,
        window: AttributionWindow,
        at now: Timestamp,
        progress: (Double) -> Void
    ) async throws(StoreError) -> CollisionReport? {
        guard let scope = try loop.scope(of: app, isTest: isTest) else { return nil }
        var census = CollisionCensus(of: [CollisionCensus.ScopeWindow(scope: scope, window: window)])
        var isMore = true
        while isMore {
            isMore = try loop.readInPlace { reader throws(Backend.Reader.Failure) in
                try census.runSlice(reader)
            }
            // The snapshot ends, so that a serving process can reset its write-ahead log.
            endTurn()
            progress(census.progress)
        }
        return census.reports(at: now)[scope]
    }
}
