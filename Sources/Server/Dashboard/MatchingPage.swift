internal import Attribution

/// How well launches are matched: answers over time, watched groups, calibration, and shared fingerprints.
enum MatchingPage {
    /// How many days the small lines show, and how many the tables of rates add up.
    private static let (trendDays, rateDays) = (28, 7)

    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let filter = try DashboardFilter(exchange)
        let (statistics, now) = (exchange.stores.statistics, exchange.now)
        var query = filter.query(filter.span)
        query.groupLimit = 0
        let report = try await exchange.statistics(query)
        let directory = exchange.directory
        var history: DriftHistory?
        var grid: PolicyGridPanel?
        if let app = filter.app ?? (directory.apps.count == 1 ? directory.apps.first : nil) {
            history = try await exchange.store(
                await statistics.matchRates(of: app.id, days: trendDays, at: now)
            )
            grid = try await PolicyGridPanel(app, exchange)
        }
        let exports = filter.exports
        return .page(title: DashboardText.matching) { [history, grid] html in
            filter.writeForm(to: &html)
            if report.totals.launches > 0 {
                html.element("h2", DashboardText.answers)
                let figures = answers(report, filter)
                ColumnChart(figures: figures).write(to: &html)
                html.exports(exports, of: figures.title)
            } else {
                let sentence = DashboardText.noTraffic(filter.span.text, isTest: filter.isTest)
                html.empty(filter.emptyReason(sentence))
            }
            html.element("h2", DashboardText.drift)
            writeDrift(report.drift, history, exports, to: &html)
            if let history { writeRates(history, exports, to: &html) }
            html.element("h2", DashboardText.calibration)
            write(report.calibration, exports, to: &html)
            html.element("h2", DashboardText.collisions)
            if report.collisions.isEmpty { html.note(DashboardText.noCollisions) }
            for collisions in report.collisions {
                let app = DashboardText.name(of: collisions.app, in: directory)
                write(collisions.report, of: app, at: filter.now, to: &html)
            }
            html.element("h2", DashboardText.grid)
            if let grid { grid.write(to: &html) } else { html.note(DashboardText.chooseAppToCompare) }
        }
    }

    /// Returns the launches by answer: the matches, the three most frequent reasons, and all others.
    private static func answers(_ report: StatisticsReport, _ filter: DashboardFilter) -> ChartFigures {
        let reasons = OverviewPanel.reasons(in: report.totals).map(\.0)
        let (named, others) = (reasons.prefix(3), reasons.dropFirst(3))
        var series: [(name: String, count: (Counts) -> Int64)] = [
            (DashboardText.matches, { $0[.matches] ?? 0 })
        ]
        for reason in named { series.append((reason.name, { $0[.noMatch(reason)] ?? 0 })) }
        if !others.isEmpty {
            let sum = { (counts: Counts) in others.reduce(0) { $0 + (counts[.noMatch($1)] ?? 0) } }
            series.append((DashboardText.otherReasons, sum))
        }
        let title = DashboardText.answersTitle(filter.span.text)
        return filter.figures(title, of: report, series, hasExpected: false)
    }

    private static func writeDrift(
        _ drift: [AppDrift],
        _ history: DriftHistory?,
        _ exports: PanelExports,
        to html: inout HTML
    ) {
        let readings = drift.flatMap { app in app.readings.map { (app.app, $0) } }
        guard !readings.isEmpty else { return html.note(DashboardText.noDrift) }
        if history == nil { html.note(DashboardText.chooseApp) }
        let trends = history?.days(of: Set(readings.map(\.1.group))) ?? [:]
        let directory = html.directory
        html.table(DashboardText.driftTable, readings, exports: exports) { html, row in
            let (app, reading) = row
            let name = directory.apps.count > 1 ? directory.app(app).map { "\($0.settings.name): " } : nil
            html.rowName((name ?? "") + reading.group.title)
            html.element("td") { $0.sparkline(trends[reading.group]?.prefix(trendDays).reversed() ?? []) }
            html.counts(reading.recent.trials)
            html.number(DashboardText.percent(reading.usualRate))
            html.number(DashboardText.percent(reading.recent.rate))
            html.cell(DashboardText.status(reading), class: reading.alarm == nil ? nil : "bad")
        }
    }

    /// Writes the rates of the last days by system and SDK, and by system and browser.
    private static func writeRates(_ history: DriftHistory, _ exports: PanelExports, to html: inout HTML) {
        for (side, caption) in [
            (DriftSide.launch, DashboardText.ratesBySDK), (.click, DashboardText.ratesByBrowser),
        ] {
            var cells: [String: [String: DriftCount]] = [:]
            for (group, days) in history.days where group.side == side {
                let count = days.prefix(rateDays).reduce(DriftCount(), +)
                guard count.trials > 0 else { continue }
                let (system, client) = (DashboardText.system(of: group), DashboardText.client(group))
                cells[system, default: [:]][client, default: DriftCount()] += count
            }
            guard !cells.isEmpty else { continue }
            html.heatTable(caption, DashboardText.system(side), cells)
            html.exports(exports, of: caption)
        }
    }

    private static func write(_ table: CalibrationTable, _ exports: PanelExports, to html: inout HTML) {
        guard let error = table.error else { return html.note(DashboardText.noCalibration) }
        html.paragraph(DashboardText.calibrationError(error, launches: table.launches))
        let bins = table.bins.enumerated().filter { $0.element.launches > 0 }
        html.table(DashboardText.calibrationTable, bins, exports: exports) { html, row in
            let (launches, width) = (Double(row.element.launches), Double(CalibrationTable.binCount))
            let bounds = (Double(row.offset) / width, Double(row.offset + 1) / width)
            html.rowName(DashboardText.range(bounds.0, bounds.1))
            html.counts(row.element.launches)
            for sum in [row.element.stated, row.element.expected, Double(row.element.right)] {
                let share = sum / launches
                html.number(DashboardText.percent(share), bar: (Int64(share * 1000), 1000))
            }
        }
    }

    private static func write(
        _ report: CollisionReport,
        of app: String,
        at now: Timestamp,
        to html: inout HTML
    ) {
        html.paragraph(DashboardText.falseMatches(report, of: app))
        html.note(DashboardText.age(milliseconds: now.milliseconds(since: report.countedAt)))
        let exports = PanelExports.rows.running(["collisions", "--app", app])
        html.table(DashboardText.sharing(app), report.forms, exports: exports) { html, form in
            let name = form.platformForm.form.map { "\($0.rawValue)" } ?? "–"
            html.rowName("\(form.platformForm.platform.rawValue), \(name)")
            html.number(Figure.whole(form.sharing.clicks))
            html.number(DashboardText.percent(form.sharing.alone))
            html.number(DashboardText.decimal(form.sharing.competing))
        }
        html.table(DashboardText.limits(app), report.limits, exports: exports) { html, limit in
            html.rowName(DashboardText.percent(limit.share))
            html.number(limit.threshold.map { DashboardText.fraction($0.minimum) } ?? DashboardText.noLimit)
            html.counts(limit.threshold?.matches)
            let window = limit.window.map { DashboardText.duration(Double($0.window.seconds) * 1000) }
            html.number(window ?? DashboardText.noLimit)
            html.counts(limit.window?.matches)
        }
    }
}
