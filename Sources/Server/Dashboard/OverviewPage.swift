internal import Attribution
internal import DomainFiles
internal import HTTPServer

/// The first page: the figures of a span beside the earlier span's figures, and warnings.
enum OverviewPage {
    /// The maximum number of rows in a panel.
    static let rowCount = 8

    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let filter = try DashboardFilter(exchange, isOfCounts: true)
        let query = filter.query(filter.span)
        let (report, earlier) = try await reports(&exchange, filter)
        let directory = exchange.directory
        // An endpoint that an operator has disabled raises no alarm.
        let endpoints = try await exchange.endpoints(of: filter.app?.id).map(\.endpoint)
            .filter { !$0.isDisabledByOperator }
        let warnings =
            directory.warnings(at: exchange.now) + directory.policyWarnings(report.policyFigures(of: query))
            + report.drift.flatMap(\.readings).compactMap(DashboardText.alarm)
            + endpoints.compactMap(DashboardText.alarm) + machineAlarms(exchange)
        let slugs = try await exchange.slugs(ofLinks: report.byLink.map(\.name))
        let hasData = report.totals.values.contains { $0 > 0 }
        let steps = try await firstSteps(report, filter, exchange)
        let revenue = try await events(exchange, filter).map { [$0.revenue] } ?? []
        return .page(title: DashboardText.overview) { html in
            filter.writeForm(comparing: true, to: &html, filter.writeCountChoices)
            html.warnings(warnings)
            if !hasData { html.empty(reason(filter)) }
            html.firstSteps(steps)
            guard hasData else { return }
            let comparison = earlier.map { _ in filter.comparison }
            html.figures(figures((report, earlier), filter) + revenue, comparison: comparison)
            html.exports(filter.exports(of: .figures))
            if filter.slice != nil { html.note(DashboardText.partsOfSlice) }
            LineChart(figures: chart(report, filter)).write(to: &html)
            html.exports(filter.exports(of: .series))
            writePanels(report, slugs, filter, to: &html)
        }
    }

    /// Reads the figures of a page's span, and of the earlier span if the page compares them.
    static func reports(
        _ exchange: inout Exchange,
        _ filter: DashboardFilter,
        groupLimit: Int = rowCount
    ) async throws(APIError) -> (StatisticsReport, earlier: StatisticsReport?) {
        var query = filter.query(filter.span)
        query.groupLimit = groupLimit
        let report = try await exchange.statistics(query)
        guard filter.comparesSpans else { return (report, nil) }
        var before = filter.query(filter.span.earlier)
        before.hasGroups = false
        return (report, try await exchange.statistics(before))
    }

    /// Reads the events of a page's span, and the figure of their revenue; nil without events.
    ///
    /// It is nil too if the page is limited to a value of a dimension, because events are not counted by these values.
    static func events(_ exchange: Exchange, _ filter: DashboardFilter, hasGroups: Bool = false)
        async throws(APIError) -> (report: EventReport, revenue: Figure)?
    {
        guard filter.slice == nil else { return nil }
        let store = exchange.stores.events
        var query = EventQuery(filter.query(filter.span))
        query.hasGroups = hasGroups
        let report = try await exchange.store(await store.events(query))
        guard !report.totals.isEmpty else { return nil }
        var earlier: EventSums?
        if filter.comparesSpans {
            var before = EventQuery(filter.query(filter.span.earlier))
            before.hasGroups = false
            earlier = try await exchange.store(await store.events(before)).totals
        }
        return (report, Figure(revenue: report.totals, earlier: earlier))
    }

    /// Returns why a span has no figures.
    private static func reason(_ filter: DashboardFilter) -> String {
        let (span, isLimited) = (filter.span.text, filter.campaign != nil || filter.slice != nil)
        let noTraffic = DashboardText.noTraffic(span, isTest: filter.isTest)
        return filter.emptyReason(isLimited ? DashboardText.noCounts(span) : noTraffic)
    }

    /// Returns the steps to the first match and whether each is done; none once there was a match, live or test.
    private static func firstSteps(
        _ report: StatisticsReport,
        _ filter: DashboardFilter,
        _ exchange: Exchange
    ) async throws(APIError) -> [(text: String, isDone: Bool)] {
        guard report.totals[.matches] ?? 0 == 0 else { return [] }
        var all = Counts()
        for isTest in [false, true] {
            var query = StatisticsQuery(app: filter.app?.id, isTest: isTest)
            query.hasGroups = false
            all.merge(try await exchange.statistics(query).totals, uniquingKeysWith: +)
        }
        guard all[.matches] ?? 0 == 0 else { return [] }
        return Array(zip(DashboardText.firstSteps, [(all[.clicks] ?? 0) > 0, all.launches > 0, false]))
    }
}

/// The figures, the chart and the panels.
extension OverviewPage {
    static func figures(
        _ reports: (StatisticsReport, earlier: StatisticsReport?),
        _ filter: DashboardFilter
    ) -> [Figure] {
        let (hasChecks, isSlice) = (filter.query(filter.span).hasChecks, filter.slice != nil)
        return [
            Figure(DashboardText.clicks, Figure.whole, of: reports) { Double($0.totals[.clicks] ?? 0) },
            Figure(DashboardText.launches, Figure.whole, of: reports) {
                hasChecks ? Double($0.totals.launches) : nil
            },
            Figure(DashboardText.matches, Figure.whole, of: reports) { Double($0.totals[.matches] ?? 0) },
            Figure(DashboardText.matchRate, DashboardText.percent, of: reports) {
                StatisticsBody.matchRate($0.totals)
            },
            .medianTime(of: reports),
            Figure(DashboardText.expected, DashboardText.decimal, of: reports) {
                isSlice ? nil : $0.expected.count
            },
        ]
    }

    static func chart(_ report: StatisticsReport, _ filter: DashboardFilter) -> ChartFigures {
        filter.figures(
            DashboardText.chartTitle(filter.span.text),
            of: report,
            DashboardText.traffic(hasLaunches: filter.query(filter.span).hasChecks),
            hasExpected: filter.slice == nil
        )
    }

    private static func writePanels(
        _ report: StatisticsReport,
        _ slugs: [String: String],
        _ filter: DashboardFilter,
        to html: inout HTML
    ) {
        let address = html.address
        html.element("div", ["class": "panels"]) { html in
            for panel in OverviewPanel.allCases {
                guard let list = panel.list, let item = list.item else { continue }
                // A campaign's name leads to the campaign's page; any other name limits this page to its counts.
                let page = item == "campaign" ? address.page(OneCampaignPage.path) : address
                let exports = filter.exports(of: panel)
                html.panel(list.title, report[keyPath: list.groups], exports) { html, name in
                    html.rowName(slugs[name] ?? name, page.with(item, name))
                }
            }
            writeReasons(report.totals, filter, to: &html)
            html.findings(report.byPlayFinding, filter.exports)
        }
        html.times(report.timeToInstall, filter.exports)
        // The chart of one day has its hours already.
        guard filter.span.days.count > 1, !report.byHour.isEmpty else { return }
        let clicks = Dictionary(report.byHour.map { ($0.name, $0.counts[.clicks] ?? 0) }) { $0 + $1 }
        let hours = (0..<24).map { $0 < 10 ? "0\($0)" : "\($0)" }
        let headings = [DashboardText.inZone(DashboardText.hour, offset: filter.span.offset)] + hours
        let most = max(clicks.values.max() ?? 0, 1)
        let exports = filter.exports(of: .hours)
        html.table([DashboardText.hours: headings], [clicks], exports: exports) { html, clicks in
            html.rowName(DashboardText.clicks)
            for count in hours.map({ clicks[$0] ?? 0 }) {
                html.cell(DashboardText.count(count), class: "h\(Int(5 * Double(count) / Double(most)))")
            }
        }
    }

    /// Writes why launches got no match, each reason with a link to its launches.
    private static func writeReasons(_ totals: Counts, _ filter: DashboardFilter, to html: inout HTML) {
        let reasons = OverviewPanel.reasons(in: totals)
        guard let most = reasons.first?.1 else { return }
        let exports = filter.exports(of: .reasons)
        html.element("div") { html in
            html.table(DashboardText.reasons, reasons, exports: exports) { html, row in
                html.rowName(row.0.name, html.address.page("/launches").with("reason", row.0.rawValue))
                html.number(DashboardText.count(row.1), bar: (row.1, most))
            }
        }
    }
}

/// The alarms about what the service depends on, such as its domain files, its certificate and its disk.
extension OverviewPage {
    /// If a certificate is valid for less than this time in milliseconds, or the disk has fewer free bytes,
    /// there is an alarm; `afterlink doctor` has the same limits.
    private static let (certificateLimit, freeLimit): (Int64, Int64) = (21 * 86_400_000, 1_000_000_000)

    /// Returns the sentences about differing domain files, a certificate that expires soon, and a nearly full disk.
    static func machineAlarms(_ exchange: Exchange) -> [String] {
        let service = exchange.service
        let hosts = Set(exchange.directory.apps.flatMap(\.settings.links.hosts))
        let copies = (service.settings.domainWatch?.all ?? []).filter { hosts.contains($0.host) }
        var alarms = copies.compactMap(DashboardText.alarm)
        // A session of one app gets no alarms about the machine, which serves all apps.
        guard exchange.onlyApp == nil else { return alarms }
        if let expiry = service.connections().certificateExpiry,
            expiry * 1000 - exchange.now.milliseconds < certificateLimit
        {
            alarms.append(DashboardText.certificateEnds(expiry, at: exchange.now))
        }
        if let free = service.storeHealth().freeBytes, free < freeLimit {
            alarms.append(DashboardText.diskFills(free))
        }
        return alarms
    }
}

extension Exchange {
    /// Reads the events and the revenue of groups, by their names.
    func events(of groups: EventGroups, _ query: StatisticsQuery)
        async throws(APIError) -> [String: EventSums]
    {
        try await store(await stores.events.eventSums(of: groups, EventQuery(query)))
    }

    /// Reads the slugs of links that still exist, by the texts of their ids.
    func slugs(ofLinks names: [String]) async throws(APIError) -> [String: String] {
        let slugs = try await store(await stores.links.slugs(of: names.compactMap { LinkID($0) }))
        return Dictionary(uniqueKeysWithValues: slugs.map { ($0.key.text, $0.value.text) })
    }
}

extension Counts {
    /// The number of checks without replays.
    var launches: Int64 { (self[.checks] ?? 0) - (self[.replays] ?? 0) }
}

extension HTML {
    /// Writes the steps to the first match.
    fileprivate mutating func firstSteps(_ steps: [(text: String, isDone: Bool)]) {
        guard !steps.isEmpty else { return }
        element("ol", ["class": "card"]) { html in
            for step in steps {
                let text = step.isDone ? DashboardText.done(step.text) : step.text
                html.element("li", ["class": step.isDone ? "good" : nil]) { $0.prose(text) }
            }
        }
    }

    /// Writes the numbers of matches by the finding about Google Play's report; nothing without one.
    mutating func findings(_ groups: [StatisticsReport.Group], _ exports: PanelExports) {
        guard !groups.isEmpty else { return }
        element("div") { html in
            html.table(DashboardText.playFindings, groups, exports: exports) { html, group in
                html.rowName(DashboardText.words(group.name))
                html.counts(group.counts[.matches] ?? 0)
            }
        }
    }

    /// Writes the histogram of the times to install, under its heading; nothing without times.
    mutating func times(_ times: TimeToInstallHistogram, _ exports: PanelExports) {
        guard let figures = times.figures(title: DashboardText.timesCaption) else { return }
        element("h2", DashboardText.timesToInstall)
        ColumnChart(figures: figures).write(to: &self)
        self.exports(exports, of: DashboardText.timesCaption)
    }

    /// Writes a bar whose length is a share; it is decoration, because the number beside it has the value.
    mutating func bar(_ value: Int64, of most: Int64) {
        let share = most > 0 ? max(0, min(100, value * 100 / most)) : 0
        element("svg", ["class": "bar", "viewBox": "0 0 100 6", "aria-hidden": "true"]) { html in
            html.element("rect", ["width": "\(share)", "height": "6", "x": "\(100 - share)"], "")
        }
    }
}
