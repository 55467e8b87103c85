internal import Attribution

/// The choices that all pages have in common: an app, live or test traffic, and a span of days.
struct DashboardFilter {
    let app: App?
    let isTest: Bool
    let span: DashboardSpan
    /// Whether figures are shown with those of the span before.
    let compares: Bool
    let now: Timestamp
    private let apps: [App]

    /// Reads the choices from the address of a request.
    ///
    /// - Throws: 400 for a malformed choice, 404 for an unknown app.
    init(_ exchange: Exchange) throws(APIError) {
        app = try exchange.appItem()
        isTest = try exchange.testItem()
        now = exchange.now
        apps = exchange.directory.apps
        compares = exchange.queryItem("compare") != "off"
        let chosen = try exchange.rangeItems()
        let today = Self.day(of: now)
        let first = apps.map { Self.day(of: $0.createdAt) }.min() ?? today
        var days: ClosedRange<Int64>?
        if let from = chosen.from {
            // A page of more days than the calendar of one life has no reader.
            let start = max(Self.day(of: from), today - Self.maximumDays)
            days = start...min(max(chosen.to.map(Self.day) ?? today, start), start + Self.maximumDays)
        }
        let period = try exchange.word("period") ?? (days == nil ? DashboardPeriod.standard : .custom)
        span = DashboardSpan(period, period.days(today: today, first: first, chosen: days))
    }

    private static let maximumDays: Int64 = 3660

    static func day(of moment: Timestamp) -> Int64 {
        CivilDate.floorDivide(moment.milliseconds, by: DashboardSpan.dayMilliseconds)
    }

    /// The query for the counts of a span.
    func query(_ span: DashboardSpan) -> StatisticsQuery {
        var query = StatisticsQuery(app: app?.id, isTest: isTest)
        (query.from, query.to, query.interval) = (span.from, span.to, span.interval)
        return query
    }

    /// The time before which there can be no data: the creation of the app, or of the first one.
    var firstData: Timestamp {
        app?.createdAt ?? apps.map(\.createdAt).min() ?? now
    }

    /// Writes the form with these choices and those that `further` writes.
    func writeForm(_ visit: DashboardVisit, to html: inout HTML, _ further: (inout HTML) -> Void = { _ in }) {
        html.element(
            "form",
            ["class": "filters", "action": visit.address.path, "aria-label": DashboardText.filters]
        ) { html in
            if apps.count > 1 {
                let choices = [("", DashboardText.allApps)] + apps.map { ($0.id.text, $0.settings.name) }
                html.select("app", DashboardText.app, choices, chosen: app?.id.text ?? "")
            }
            let traffic = [("false", DashboardText.live), ("true", DashboardText.test)]
            html.select("test", DashboardText.traffic, traffic, chosen: isTest ? "true" : "false")
            let periods = DashboardPeriod.allCases.map { ($0.rawValue, DashboardText.name(of: $0)) }
            html.select("period", DashboardText.period, periods, chosen: span.period.rawValue)
            for (name, label, day) in [
                ("from", DashboardText.from, span.days.lowerBound),
                ("to", DashboardText.to, span.days.upperBound),
            ] {
                let value = span.period == .custom ? DashboardSpan.text(ofDay: day) : nil
                html.element("label") { html in
                    html.element("span", label)
                    html.open("input", ["type": "date", "name": name, "value": value])
                }
            }
            further(&html)
            html.element("button", ["type": "submit"], DashboardText.show)
        }
    }
}

extension DashboardFilter {
    /// Returns counts by interval as the figures of a chart, with the expected conversions if the chart has them.
    ///
    /// - Parameters:
    ///   - title: the chart's title.
    ///   - report: the counts of the span.
    ///   - series: the name of each series and its count.
    ///   - hasExpected: whether the chart has the expected conversions.
    /// - Returns: the figures, in the intervals of the span that have begun.
    func figures(
        _ title: String,
        of report: StatisticsReport,
        _ series: [(name: String, count: (Counts) -> Int64)],
        hasExpected: Bool = true
    ) -> ChartFigures {
        let periods = Dictionary(report.series.map { ($0.start, $0) }) { first, _ in first }
        let starts = span.starts.filter { $0 <= now }
        // There was nothing to count before the interval in which the first app was created.
        let length: Int64 = span.interval == .hour ? 3_600_000 : DashboardSpan.dayMilliseconds
        let first = firstData.advanced(byMilliseconds: -length)
        func values<Value>(_ zero: Value, _ value: (StatisticsReport.Period) -> Value) -> [Value?] {
            starts.map { start in periods[start].map(value) ?? (start <= first ? nil : zero) }
        }
        return ChartFigures(
            title: title,
            labels: starts.map { start in
                let text = start.iso8601
                return String(span.interval == .hour ? text.dropFirst(11).prefix(5) : text.prefix(10))
            },
            series: series.map { line in
                ChartFigures.Series(name: line.name, values: values(0) { line.count($0.counts) })
            },
            expected: hasExpected ? values(.zero, \.expected) : [],
            isRunning: starts.last.map { $0.advanced(byMilliseconds: length) > now } ?? false
        )
    }
}
