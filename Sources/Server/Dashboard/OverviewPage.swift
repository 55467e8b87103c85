internal import Attribution
internal import HTTPServer

/// The first page: the figures of a span beside those of the span before, and what needs attention.
enum OverviewPage {
    /// The number of rows of a panel.
    private static let rowCount = 8

    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError)
        -> DashboardResult
    {
        let filter = try DashboardFilter(exchange)
        let (statistics, now) = (exchange.stores.statistics, exchange.now)
        let query = filter.query(filter.span)
        let report = try await exchange.store(await statistics.statistics(query, at: now))
        var earlier: StatisticsReport?
        if filter.compares, filter.span.period != .all {
            let before = filter.query(filter.span.earlier)
            earlier = try await exchange.store(await statistics.statistics(before, at: now))
        }
        let directory = exchange.directory
        let warnings =
            directory.warnings + directory.policyWarnings(report.policyFigures(of: query))
            + report.drift.flatMap(\.readings).compactMap(alarm)
        let hasData = report.totals.values.contains { $0 > 0 }
        return .page(
            DashboardPage(title: DashboardText.overview) { [earlier] html in
                filter.writeForm(visit, to: &html)
                writeWarnings(warnings, to: &html)
                guard hasData else {
                    html.element("p", ["class": "empty"], reason(filter, directory))
                    writeFirstSteps(to: &html)
                    return
                }
                let span = earlier.map { _ in filter.span.earlier.text }
                html.figures(figures((report, earlier)), comparedWith: span)
                let chart = filter.figures(
                    DashboardText.chartTitle(filter.span.text),
                    of: report,
                    DashboardText.traffic(hasLaunches: true)
                )
                LineChart(figures: chart).write(to: &html)
                writePanels(report, visit, to: &html)
            }
        )
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
    private static func figures(_ reports: (StatisticsReport, StatisticsReport?)) -> [Figure] {
        [
            Figure(DashboardText.clicks, Figure.whole, of: reports) { Double($0.totals[.clicks] ?? 0) },
            Figure(DashboardText.launches, Figure.whole, of: reports) { Double($0.totals.launches) },
            Figure(DashboardText.matches, Figure.whole, of: reports) { Double($0.totals[.matches] ?? 0) },
            Figure(DashboardText.matchRate, DashboardText.percent, of: reports) {
                StatisticsBody.matchRate($0.totals)
            },
            Figure(DashboardText.medianTime, DashboardText.duration, of: reports) {
                $0.timeToInstall.quantile(0.5)
            },
            Figure(DashboardText.expected, DashboardText.decimal, of: reports) { $0.expected.count },
        ]
    }

    private static func writePanels(
        _ report: StatisticsReport,
        _ visit: DashboardVisit,
        to html: inout HTML
    ) {
        html.element("div", ["class": "panels"]) { html in
            let page = visit.address.page(OneCampaignPage.path)
            let campaigns = Array(report.byCampaign.prefix(rowCount))
            html.panel(DashboardText.campaigns, campaigns, address: { page.with("campaign", $0) })
            html.panel(DashboardText.sources, Array(report.bySource.prefix(rowCount)))
            html.panel(DashboardText.platforms, report.byPlatform)
            html.panel(DashboardText.osVersions, Array(report.byOSVersion.prefix(rowCount)))
            writeReasons(report.totals, visit, to: &html)
        }
        if let times = report.timeToInstall.figures(title: DashboardText.timesToInstall) {
            html.element("h2", DashboardText.timesToInstall)
            ColumnChart(figures: times).write(to: &html)
        }
    }

    /// Writes why launches got no match, each reason with a link to its launches.
    private static func writeReasons(_ totals: Counts, _ visit: DashboardVisit, to html: inout HTML) {
        let reasons = NoMatchReason.allCases.map { ($0, totals[.noMatch($0)] ?? 0) }.filter { $0.1 > 0 }
            .sorted { $0.1 > $1.1 }
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
    /// Writes a bar whose length is a share; the number beside it has the meaning.
    mutating func bar(_ value: Int64, of most: Int64) {
        let share = most > 0 ? max(0, min(100, value * 100 / most)) : 0
        element("svg", ["class": "bar", "viewBox": "0 0 100 6", "aria-hidden": "true"]) { html in
            html.element("rect", ["width": "\(share)", "height": "6", "x": "\(100 - share)"], "")
        }
    }
}
