public import Attribution
internal import Synchronization

/// Counts, as a database reads them for statistics.
public protocol StatisticsRows {
    associatedtype Failure: Error

    /// Adds up the counts of a query.
    func sum(_ query: CountQuery) throws(Failure) -> CountSum
    /// Returns, for each given campaign or link, the sum that ``sum(_:)`` returns for a query of only this one.
    ///
    /// The spellings of one name have one sum; see ``ClickedNames``.
    func sums(_ query: CountQuery, of campaigns: [String]) throws(Failure) -> [String: CountSum]
    /// Passes the counts of a query in each span to `body`.
    func series(
        _ query: CountQuery,
        _ body: (_ period: Timestamp, _ value: String, _ metric: String, _ count: Int64) -> Void
    ) throws(Failure)
    /// Returns the servers that share the database; empty for a database that only one process writes to.
    func runningServers() throws(Failure) -> [RunningServer]
    /// Returns the most clicked campaigns or links with their clicks; a name may be in the result several times.
    ///
    /// A database finds up to `limit` names either in each span, with their clicks in that span, or in all spans
    /// together.
    func top(_ dimension: Dimension, of scope: Scope, over spans: CountedSpans, atMost limit: Int)
        throws(Failure) -> [(name: String, clicks: Int64)]
    func liveClickCount(of scope: Scope, at now: Timestamp) throws(Failure) -> Int64
    /// Returns the number of checks that left no record because there were too many.
    func unrecordedCheckCount() throws(Failure) -> Int64
    func databaseByteCount() throws(Failure) -> Int64
}

extension StatisticsRows {
    public func sums(_ query: CountQuery, of campaigns: [String]) throws(Failure) -> [String: CountSum] {
        var (query, sums) = (query, [String: CountSum]())
        for campaign in campaigns {
            query.campaigns = [campaign]
            let counts = try sum(query)
            sums[campaign, default: CountSum()].add(counts)
        }
        return sums
    }

    public func runningServers() throws(Failure) -> [RunningServer] { [] }

    /// Returns campaigns with their other spellings; see ``ClickedNames``.
    ///
    /// A name in ASCII has one spelling, and needs no search. The other spellings are found among the most clicked
    /// campaigns of all time.
    func spellings(of campaigns: [String], in scopes: [Scope]) throws(Failure) -> [String] {
        let isASCII = { (name: String) in name.utf8.allSatisfy { $0 < 0x80 } }
        guard !campaigns.allSatisfy(isASCII) else { return campaigns }
        let whole = StatisticsQuery().spans
        var names = try clicks(.campaign, of: scopes, over: whole, atMost: 10_000).names
        for name in campaigns { names.add(name, 0) }
        return names.spellings(of: Set(campaigns))
    }
}

/// Campaigns or links with their clicks.
///
/// Two days may count one campaign in two spellings of Unicode, such as é and e with an accent. Swift takes them for
/// one text, and a database for two; here they are one name.
struct ClickedNames {
    private(set) var clicks: [String: Int64] = [:]
    /// The spellings of a name that differ from its key in ``clicks``.
    private var others: [String: Set<[UInt8]>] = [:]

    mutating func add(_ name: String, _ count: Int64) {
        guard let index = clicks.index(forKey: name) else {
            clicks[name] = count
            return
        }
        clicks.values[index] += count
        guard !clicks.keys[index].utf8.elementsEqual(name.utf8) else { return }
        others[name, default: []].insert(Array(name.utf8))
    }

    /// Adds the names without their clicks.
    mutating func addNames(of other: ClickedNames) {
        for name in other.spellings(of: other.clicks.keys) { add(name, 0) }
    }

    /// Returns each spelling of these names.
    func spellings(of names: some Sequence<String>) -> [String] {
        names.flatMap { name -> [String] in
            guard let index = clicks.index(forKey: name) else { return [name] }
            return [clicks.keys[index]] + (others[name] ?? []).map { String(decoding: $0, as: UTF8.self) }
        }
    }
}

/// Makes a report from counts, so that its cost grows with the values and spans of the query, and not with the clicks.
struct StatisticsReader<Reader: ReportReader> {
    let reader: Reader
    let query: StatisticsQuery
    /// The apps of the query, each with the scope of its live or test traffic.
    let apps: [(id: AppID, scope: Scope)]
    /// The spellings of the query's campaign; empty if it has none.
    private let spellings: [String]

    init(reader: Reader, query: StatisticsQuery, apps: [(id: AppID, scope: Scope)]) throws(Reader.Failure) {
        (self.reader, self.query, self.apps) = (reader, query, apps)
        let campaigns = query.campaign.map { [$0.text] } ?? []
        spellings = try reader.spellings(of: campaigns, in: apps.map(\.scope))
    }

    private var scopes: [Scope] { apps.map(\.scope) }

    func report(at now: Timestamp) throws(Reader.Failure) -> StatisticsReport {
        var report = StatisticsReport()
        let label = query.label
        for app in apps {
            let total = try sum(label.dimension, campaign: label.campaign, of: [app.scope])
            let counts = total.counts(of: label.value)
            report.byApp.append(StatisticsReport.Group(name: app.id.text, counts: counts))
            report.totals.merge(counts, uniquingKeysWith: +)
            report.expected += total.expected(of: label.value)
            report.liveClicks += try reader.liveClickCount(of: app.scope, at: now)
        }
        if query.slice == nil {
            let (campaign, spans) = (query.campaign?.text, query.daySpans)
            report.timeToInstall = try sum(.timeToInstall, campaign: campaign, over: spans).timeToInstall
        }
        guard query.hasGroups else { return report }
        if query.slice == nil, query.groupLimit > 0 { try addGroups(to: &report) }
        report.series = try series()
        report.calibration = try sum(.calibration, over: query.daySpans).calibration
        report.unrecordedChecks = try reader.unrecordedCheckCount()
        report.drift = try drift(at: now)
        if query.hasLaunchRates { report.launchRates = try launchRates(at: now) }
        report.collisions = try collisions()
        report.databaseBytes = try reader.databaseByteCount()
        return report
    }

    /// Adds the counts by value of each dimension.
    private func addGroups(to report: inout StatisticsReport) throws(Reader.Failure) {
        let limit = query.groupLimit
        func sum(_ dimension: Dimension) throws(Reader.Failure) -> CountSum {
            try self.sum(dimension, campaign: query.campaign?.text)
        }
        report.bySource = try sum(.source).groups(atMost: limit)
        report.byPlatform = try sum(.platform).groups(atMost: limit)
        report.byOSVersion = try sum(.osVersion).groups(atMost: limit)
        report.byBrowser = try sum(.browser).groups(atMost: limit)
        report.byMethod = try groups(.method, AttributionMethod.allCases.map(\.rawValue))
        report.byPlayFinding = try groups(.playFinding, PlayFinding.allCases.map(\.rawValue))
        report.byCampaign = try campaigns(report)
        guard query.campaign == nil else { return }
        report.byLink = try top(.link, by: .link).sum.groups(atMost: limit)
        report.byHour = try hoursOfDay()
    }

    /// Adds up counts by value of a dimension.
    ///
    /// A nil `campaign` means all campaigns together, nil `scopes` all apps of the query, and nil `spans` its spans.
    private func sum(
        _ dimension: Dimension,
        campaign: String? = nil,
        of scopes: [Scope]? = nil,
        over spans: [CountedSpans]? = nil
    ) throws(Reader.Failure) -> CountSum {
        try reader.sum(counts(dimension, campaign: campaign, of: scopes, over: spans))
    }

    private func counts(
        _ dimension: Dimension,
        campaign: String? = nil,
        of scopes: [Scope]? = nil,
        over spans: [CountedSpans]? = nil
    ) -> CountQuery {
        CountQuery(
            scopes: scopes ?? self.scopes,
            campaigns: campaign.map { $0 == query.campaign?.text ? spellings : [$0] } ?? [""],
            dimension: dimension,
            spans: spans ?? query.spans
        )
    }

    /// Returns a group for each word that has counts in the dimension, in the order of the words.
    private func groups(_ dimension: Dimension, _ words: [String]) throws(Reader.Failure)
        -> [StatisticsReport.Group]
    {
        let sum = try sum(dimension, campaign: query.campaign?.text)
        return words.filter(sum.values.contains).map { word in
            StatisticsReport.Group(name: word, counts: sum.counts(of: word))
        }
    }

    private func campaigns(_ report: StatisticsReport) throws(Reader.Failure) -> [StatisticsReport.Group] {
        var groups: [StatisticsReport.Group]
        let names: [String]
        if let campaign = query.campaign {
            let (counts, expected) = (report.totals, report.expected)
            groups = counts.isEmpty ? [] : [.init(name: campaign.text, counts: counts, expected: expected)]
            names = groups.isEmpty ? [] : spellings
        } else {
            let (sum, clicked) = try top(.campaign, by: .total)
            groups = sum.groups(atMost: query.groupLimit)
            for index in groups.indices { groups[index].expected = sum.expected(of: groups[index].name) }
            names = clicked.spellings(of: groups.map(\.name))
        }
        let delays = try reader.sums(counts(.timeToInstall, over: query.daySpans), of: names)
        for index in groups.indices {
            groups[index].timeToInstall = (delays[groups[index].name] ?? CountSum()).timeToInstall
        }
        return groups
    }

    /// Adds up the counts of the most clicked campaigns or links, which an index finds among any number of them.
    ///
    /// Over a range, the function compares only names that are among the most clicked of some span: the first hundred, or
    /// more if the query's limit is higher. So it leaves out a name that comes just after them in every span, although
    /// its sum may be large.
    ///
    /// - Parameters:
    ///   - names: campaigns or links.
    ///   - dimension: the dimension whose counts are added up for each name.
    /// - Returns: the sums by name, and the names' spellings.
    /// - Throws: the failure of the database.
    private func top(_ names: Dimension, by dimension: Dimension)
        throws(Reader.Failure) -> (sum: CountSum, names: ClickedNames)
    {
        var (sum, all) = (CountSum(), ClickedNames())
        for app in apps {
            var clicked = ClickedNames()
            let limit = max(query.groupLimit, StatisticsReport.groupLimit)
            for spans in query.spans {
                for top in try reader.top(names, of: app.scope, over: spans, atMost: limit) {
                    clicked.add(top.name, top.clicks)
                }
            }
            let ranked = clicked.clicks.sorted { ($0.value, $1.key) > ($1.value, $0.key) }
            let candidates = clicked.spellings(of: ranked.prefix(2 * query.groupLimit).map(\.key))
            let sums = try reader.sums(counts(dimension, of: [app.scope]), of: candidates)
            for (name, counts) in sums { sum.add(counts, as: name) }
            all.addNames(of: clicked)
        }
        return (sum, all)
    }

    /// Returns the counts by the hour of the day; at the edges of the range, they are added up from hourly counts.
    private func hoursOfDay() throws(Reader.Failure) -> [StatisticsReport.Group] {
        var sum = try sum(.hourOfDay, over: query.spans.filter { $0.granularity != .hour })
        let edges = query.spans.filter { $0.granularity == .hour }
        if !edges.isEmpty {
            try reader.series(counts(.total, over: edges)) { period, _, metric, count in
                sum.add(count, metric, of: CountDeltas.hourOfDay(at: period))
            }
        }
        return (0..<24 as Range<Int64>).compactMap { hour in
            func time(_ hour: Int64) -> Timestamp { Timestamp(milliseconds: hour * 3_600_000) }
            let counts = sum.counts(of: CountDeltas.hourOfDay(at: time(hour - query.offset)))
            return counts.isEmpty ? nil : .init(name: CountDeltas.hourOfDay(at: time(hour)), counts: counts)
        }
    }

    private func series() throws(Reader.Failure) -> [StatisticsReport.Period] {
        var periods: [Timestamp: CountSum] = [:]
        let (first, end) = query.range
        let (label, spans) = (query.label, CountedSpans(query.seriesGranularity, from: first, before: end))
        let counts = counts(label.dimension, campaign: label.campaign, over: [spans])
        try reader.series(counts) { period, value, metric, count in
            guard value == label.value else { return }
            periods[query.start(of: period), default: CountSum()].add(count, metric, of: "")
        }
        return periods.sorted { $0.key < $1.key }.compactMap { period in
            let counts = period.value.counts()
            guard !counts.isEmpty else { return nil }
            return StatisticsReport.Period(
                start: period.key,
                counts: counts,
                expected: period.value.expected()
            )
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

    /// Returns groups as of the last evaluation: all groups with an alarm, and others until there are `limit` groups.
    private func driftReadings(of scope: Scope, atMost limit: Int) throws(Reader.Failure) -> [DriftReading] {
        let alarms = try reader.driftAlarms(of: scope)
        let alarmed = Set(alarms.map(\.group))
        let others = try reader.driftGroups(of: scope, atMost: limit).filter { !alarmed.contains($0.group) }
        return alarms + others.prefix(max(0, limit - alarms.count))
    }

    /// Adds up the launches of all SDK versions by platform and OS version; returns nothing for several apps.
    private func launchRates(at now: Timestamp) throws(Reader.Failure) -> [DriftGroup: DriftCount] {
        var rates: [DriftGroup: DriftCount] = [:]
        guard apps.count == 1, let scope = apps.first?.scope, !scope.isTest else { return rates }
        let end = DriftHistory.end(at: now)
        let first = end.advanced(byMilliseconds: -7 * 86_400_000)
        let next = end.advanced(byMilliseconds: DriftHistory.periodMilliseconds)
        try reader.driftCounts(of: scope, .launch, from: first, before: next) { _, name, metric, number in
            guard let group = DriftGroup(.launch, name: name) else { return }
            let (platform, osVersion) = (group.platform, group.osVersion)
            let system = DriftGroup(.launch, platform: platform, osVersion: osVersion, client: .all)
            let isTrials = metric == CountWord.trials
            let count = DriftCount(trials: isTrials ? number : 0, matches: isTrials ? 0 : number)
            rates[system, default: DriftCount()] += count
        }
        return rates
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
    /// The range in whole days in UTC, by which delays and probabilities are counted: a day at the edge is included whole.
    var daySpans: [CountedSpans] {
        var query = self
        (query.interval, query.offset) = (.day, 0)
        (query.from, query.to) = (from.map { _ in range.first }, to.map { _ in range.end })
        return query.spans
    }
}

extension DatabaseSession where Backend.Reader: ReportReader {
    public func statistics(_ query: StatisticsQuery, at now: Timestamp) async throws(StoreError)
        -> StatisticsReport
    {
        await loop.flushUpdatesIfPossible()
        let directory = try loop.directory()
        let ids = query.app.map { [$0] } ?? directory.apps.map(\.id)
        var apps: [(id: AppID, scope: Scope)] = []
        for id in ids {
            guard let scope = try loop.scope(of: id, isTest: query.isTest) else { continue }
            apps.append((id, scope))
        }
        let hasManyGroups = query.groupLimit > StatisticsReport.groupLimit
        let isLong = hasManyGroups || LoopState<Backend>.isLong(appCount: apps.count)
        var report = try await loop.readReport(isLong: isLong) {
            [apps] reader throws(Backend.Reader.Failure) in
            try StatisticsReader(reader: reader, query: query, apps: apps).report(at: now)
        }
        report.writeAheadLogBytes = loop.logByteCount
        return report
    }

    public func policyGrid(of app: AppID) async throws(StoreError) -> PolicyGrid? {
        guard let scope = try loop.scope(of: app, isTest: false) else { return nil }
        return try await loop.readReport { reader throws(Backend.Reader.Failure) in
            // A damaged grid is made again within a day, or on request.
            PolicyGrid(figures: try reader.figures(of: .policyGrid, of: scope))
        }
    }

    public func isPolicyGridRequested(of app: AppID) -> Bool {
        loop.state.gridRequests.withLock { $0.contains(app) }
    }

    public func requestPolicyGrid(of app: AppID) {
        loop.state.gridRequests.withLock { _ = $0.insert(app) }
        loop.state.jobs.ask(for: .policyGrid)
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
