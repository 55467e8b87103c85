internal import Attribution
internal import HTTPServer

/// The first page: the figures of a span beside those of the span before, and what needs attention.
enum OverviewPage {
    /// The number of rows of a panel.
    private static let rowCount = 8

    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError)
        -> DashboardResult
    {
        let filter = try DashboardFilter(exchange, isOfCounts: true)
        let query = filter.query(filter.span)
        let (report, earlier) = try await reports(&exchange, filter)
        let directory = exchange.directory
        let warnings =
            directory.warnings + directory.policyWarnings(report.policyFigures(of: query))
            + report.drift.flatMap(\.readings).compactMap(alarm)
        let slugs = try await slugs(of: report.byLink, exchange)
        let hasData = report.totals.values.contains { $0 > 0 }
        return .page(
            DashboardPage(title: DashboardText.overview) { html in
                filter.writeForm(visit, to: &html, filter.writeCountChoices)
                writeWarnings(warnings, to: &html)
                guard hasData else {
                    html.element("p", ["class": "empty"], reason(filter, directory))
                    writeFirstSteps(to: &html)
                    return
                }
                writeFigures(report, earlier, filter, to: &html)
                html.exports(exports(visit, filter, panel: .figures))
                if filter.slice != nil { html.element("p", ["class": "note"], DashboardText.partsOfSlice) }
                chart(report, filter).write(to: &html)
                html.exports(exports(visit, filter, panel: .series))
                writePanels(report, slugs, visit, filter, to: &html)
            }
        )
    }

    /// Returns the slugs of the links that still exist, by their ids.
    private static func slugs(of links: [StatisticsReport.Group], _ exchange: Exchange) async throws(APIError)
        -> [String: String]
    {
        var slugs: [String: String] = [:]
        for id in links.compactMap({ LinkID($0.name) }) {
            let found = try await exchange.store(await exchange.stores.links.link(id))
            if let found { slugs[id.text] = found.link.slug.text }
        }
        return slugs
    }

    /// Reads the figures of a page's span, and of the earlier span if the page compares them.
    static func reports(_ exchange: inout Exchange, _ filter: DashboardFilter) async throws(APIError)
        -> (StatisticsReport, earlier: StatisticsReport?)
    {
        let (statistics, now) = (exchange.stores.statistics, exchange.now)
        var query = filter.query(filter.span)
        query.groupLimit = rowCount
        let report = try await exchange.store(await statistics.statistics(query, at: now))
        guard filter.compares, filter.span.period != .all else { return (report, nil) }
        var before = filter.query(filter.span.earlier)
        before.hasGroups = false
        return (report, try await exchange.store(await statistics.statistics(before, at: now)))
    }

    /// Returns the sentence about a group whose match rate has fallen; nil for other groups.
    private static func alarm(_ reading: DriftReading) -> String? {
        reading.alarm.map {
            DashboardText.fallen(reading.group.title, from: reading.usualRate, to: $0.rate, since: $0.since)
        }
    }

    /// Returns why a span has no figures.
    private static func reason(_ filter: DashboardFilter, _ directory: Directory) -> String {
        if directory.apps.isEmpty { return DashboardText.noApp }
        if filter.campaign != nil || filter.slice != nil { return DashboardText.noCounts(filter.span.text) }
        if filter.span.to <= filter.firstData {
            return DashboardText.beforeFirstData(filter.firstData)
        }
        return DashboardText.noTraffic(filter.span.text, isTest: filter.isTest)
    }

    private static func writeWarnings(_ warnings: [String], to html: inout HTML) {
        guard !warnings.isEmpty else { return }
        html.element("ul", ["class": "warnings", "aria-label": DashboardText.warnings]) { html in
            for warning in warnings { html.element("li", warning) }
        }
    }

    private static func writeFirstSteps(to html: inout HTML) {
        html.element("ol", ["class": "card"]) { html in
            for step in DashboardText.firstSteps { html.element("li", step) }
        }
    }
}

/// The figures, the chart and the panels.
extension OverviewPage {
    /// A figure: its name, its text, and its number for the comparison.
    struct Figure {
        let name: String
        let text: String
        let number: Double?
        let earlier: Double?
    }

    static func figures(
        _ report: StatisticsReport,
        _ earlier: StatisticsReport?,
        _ filter: DashboardFilter
    ) -> [Figure] {
        func figure(
            _ name: String,
            _ text: (Double?) -> String,
            _ number: (StatisticsReport) -> Double?
        ) -> Figure {
            let value = number(report)
            return Figure(name: name, text: text(value), number: value, earlier: earlier.flatMap(number))
        }
        let whole = { (value: Double?) in DashboardText.count(value.map { Int64($0) }) }
        let (hasChecks, isSlice) = (filter.query(filter.span).hasChecks, filter.slice != nil)
        return [
            figure(DashboardText.clicks, whole) { Double($0.totals[.clicks] ?? 0) },
            figure(DashboardText.launches, whole) { hasChecks ? Double($0.totals.launches) : nil },
            figure(DashboardText.matches, whole) { Double($0.totals[.matches] ?? 0) },
            figure(DashboardText.matchRate, DashboardText.percent) { StatisticsBody.matchRate($0.totals) },
            figure(DashboardText.medianTime, DashboardText.duration) { $0.timeToInstall.quantile(0.5) },
            figure(DashboardText.expected, DashboardText.decimal) { isSlice ? nil : $0.expected.count },
        ]
    }

    private static func writeFigures(
        _ report: StatisticsReport,
        _ earlier: StatisticsReport?,
        _ filter: DashboardFilter,
        to html: inout HTML
    ) {
        let figures = figures(report, earlier, filter)
        html.element("dl", ["class": "figures"]) { html in
            for figure in figures {
                html.element("div") { html in
                    html.element("dt", figure.name)
                    html.element("dd", ["class": "figure"], figure.text)
                    guard earlier != nil else { return }
                    let change = DashboardText.change(from: figure.earlier, to: figure.number)
                    html.element("dd", ["class": "change"], change)
                }
            }
        }
        if earlier != nil {
            html.element("p", ["class": "note"], DashboardText.compared(with: filter.span.earlier.text))
        }
    }

    static func chart(_ report: StatisticsReport, _ filter: DashboardFilter) -> LineChart {
        let counts = Dictionary(report.series.map { ($0.start, $0.counts) }) { first, _ in first }
        let starts = filter.span.starts.filter { $0 <= filter.now }
        // There was nothing to count before the interval in which the first app was created.
        let length: Int64 = filter.span.interval == .hour ? 3_600_000 : DashboardSpan.dayMilliseconds
        let first = filter.firstData.advanced(byMilliseconds: -length)
        func series(_ name: String, _ count: (Counts) -> Int64) -> LineChart.Series {
            let values = starts.map { start -> Int64? in
                if let counts = counts[start] { return count(counts) }
                return start <= first ? nil : 0
            }
            return LineChart.Series(name: name, values: values)
        }
        let end = starts.last?.advanced(byMilliseconds: length)
        return LineChart(
            title: DashboardText.chartTitle(filter.span.text),
            labels: starts.map(filter.span.label),
            series: [series(DashboardText.clicks) { $0[.clicks] ?? 0 }]
                + (filter.query(filter.span).hasChecks
                    ? [series(DashboardText.launches) { $0.launches }] : [])
                + [series(DashboardText.matches) { $0[.matches] ?? 0 }],
            isRunning: end.map { $0 > filter.now } ?? false
        )
    }

    private static func writePanels(
        _ report: StatisticsReport,
        _ slugs: [String: String],
        _ visit: DashboardVisit,
        _ filter: DashboardFilter,
        to html: inout HTML
    ) {
        html.element("div", ["class": "panels"]) { html in
            for panel in OverviewPanel.allCases {
                guard let (groups, name) = panel.groups(of: report), !groups.isEmpty else { continue }
                let title = panel.title
                html.open("div")
                let most = groups.map { $0.counts[.clicks] ?? 0 }.max() ?? 0
                html.table(title, [title] + DashboardText.panelHeadings, groups) { html, group in
                    html.element("th", ["scope": "row"]) { html in
                        // A launch is listed by its campaign; the other names choose the counts of this page.
                        let page = name == "campaign" ? visit.address.page("/launches") : visit.address
                        html.link(page.with(name, group.name), slugs[group.name] ?? group.name)
                    }
                    let clicks = group.counts[.clicks] ?? 0
                    html.element("td", ["class": "n"]) { html in
                        html.bar(clicks, of: most)
                        html.text(DashboardText.count(clicks))
                    }
                    html.number(DashboardText.count(group.counts[.matches] ?? 0))
                    html.number(DashboardText.percent(StatisticsBody.matchRate(group.counts)))
                }
                html.exports(exports(visit, filter, panel: panel))
                html.close("div")
            }
            writeReasons(report.totals, visit, to: &html)
        }
    }

    /// Writes why launches got no match, each reason with a link to its launches.
    private static func writeReasons(_ totals: Counts, _ visit: DashboardVisit, to html: inout HTML) {
        let reasons = OverviewPanel.reasons(in: totals)
        guard let most = reasons.first?.1 else { return }
        html.table(DashboardText.reasons, [DashboardText.reason, DashboardText.launches], reasons) {
            html,
            row in
            html.element("th", ["scope": "row"]) { html in
                let address = visit.address.page("/launches").with("reason", row.0.rawValue)
                html.link(address, row.0.name)
            }
            html.element("td", ["class": "n"]) { html in
                html.bar(row.1, of: most)
                html.text(DashboardText.count(row.1))
            }
        }
    }
}

extension Counts {
    /// The checks without those that repeat an answer.
    var launches: Int64 { (self[.checks] ?? 0) - (self[.replays] ?? 0) }
}

extension HTML {
    /// Writes a bar whose length is a share; it is decoration, because the number beside it has the value.
    mutating func bar(_ value: Int64, of most: Int64) {
        let share = most > 0 ? max(0, min(100, value * 100 / most)) : 0
        element("svg", ["class": "bar", "viewBox": "0 0 100 6", "aria-hidden": "true"]) { html in
            html.element("rect", ["width": "\(share)", "height": "6", "x": "\(100 - share)"], "")
        }
    }
}
