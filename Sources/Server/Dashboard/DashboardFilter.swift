internal import Attribution

/// The choices that all pages have in common: an app, live or test traffic, and a span of days.
struct DashboardFilter {
    let app: App?
    let isTest: Bool
    /// The campaign, and the value of a dimension, to which a page of counts is limited.
    let campaign: CampaignKey?
    let slice: CountedValue?
    let span: DashboardSpan
    /// Whether figures are compared with the earlier span's figures.
    let compares: Bool
    let now: Timestamp
    /// The reason why the days are UTC's days although an app has another offset; nil if they have the app's offset.
    let noteOfDays: String?
    let apps: [App]

    /// Reads the choices from the address of a request.
    ///
    /// - Parameters:
    ///   - exchange: the request.
    ///   - isOfCounts: whether the page shows counts, which can be limited to a campaign or a value of a dimension.
    /// - Throws: 400 for a malformed choice, 404 for an unknown app.
    init(_ exchange: Exchange, isOfCounts: Bool = false) throws(APIError) {
        app = try exchange.appItem()
        isTest = try exchange.testItem()
        campaign = isOfCounts ? try exchange.campaignItem() : nil
        slice = isOfCounts ? try exchange.sliceItem(of: campaign) : nil
        now = exchange.now
        apps = exchange.directory.apps
        compares = exchange.queryItem("compare") != "off"
        let chosen = try exchange.rangeItems()
        let standard = chosen.from == nil ? DashboardPeriod.standard : .custom
        let choice = DaysOfChoice(period: try exchange.word("period") ?? standard, chosen: chosen, now: now)
        let offsets = Set((app.map { [$0] } ?? apps).map(\.settings.reportingOffset))
        let offset = offsets.count == 1 ? offsets.first ?? 0 : 0
        let local = choice.span(offset: offset, firstData: apps.map(\.createdAt).min())
        // Counts by name are stored by hour only for a limited time; totals and counts by platform are always stored by
        // hour. The comparison with the earlier span needs counts by name only if the page is limited to a name.
        let isNamed = campaign != nil || slice.map { $0.dimension != .platform } ?? false
        let first = compares && isNamed ? local.earlier.from : local.from
        if offset == 0 || first >= StatisticsQuery.firstHour(at: now) {
            (span, noteOfDays) = (local, offsets.count > 1 ? DashboardText.severalOffsets : nil)
        } else {
            span = choice.span(offset: 0, firstData: apps.map(\.createdAt).min())
            noteOfDays = DashboardText.withoutHours
        }
    }

    /// Creates the query for the counts of a span.
    func query(_ span: DashboardSpan) -> StatisticsQuery {
        var query = StatisticsQuery(app: app?.id, isTest: isTest)
        (query.campaign, query.slice) = (campaign, slice)
        // A span that has not ended is read without an end, so that no separate counts are read for its last part.
        (query.from, query.to) = (span.from, span.to > now ? nil : span.to)
        (query.interval, query.offset) = (span.interval, span.offset)
        return query
    }

    /// The sentence on the earlier span.
    var comparison: String { DashboardText.compared(with: span.earlier.text, isRunning: span.to > now) }

    /// The time before which there can be no data: the creation of the chosen app, or of the first app.
    var firstData: Timestamp { app?.createdAt ?? apps.map(\.createdAt).min() ?? now }

    /// Writes the form with these choices and the fields that `further` writes.
    ///
    /// A page with a comparison shows the choice to compare; any other page keeps the choice in a hidden field.
    func writeForm(
        comparing isComparison: Bool = false,
        to html: inout HTML,
        _ further: (inout HTML) -> Void = { _ in }
    ) {
        html.filters(html.address.path) { html in
            html.appChoice(chosen: app?.id)
            html.trafficChoice(isTest: isTest)
            let periods = DashboardPeriod.allCases.map { ($0.rawValue, DashboardText.texts(of: $0).name) }
            let label = DashboardText.inZone(DashboardText.period, offset: span.offset)
            html.select("period", label, periods, chosen: span.period.rawValue)
            for (name, label, day) in [
                ("from", DashboardText.from, span.days.lowerBound),
                ("to", DashboardText.to, span.days.upperBound),
            ] {
                let value = span.period == .custom ? DashboardSpan.text(ofDay: day) : nil
                html.field(name, label, type: "date", value)
            }
            if isComparison {
                let (label, choices) = (DashboardText.comparison, DashboardText.comparisons)
                html.select("compare", label, choices, chosen: compares ? "" : "off")
            } else if !compares {
                html.hidden("compare", "off")
            }
            further(&html)
        }
        if let noteOfDays { html.note(noteOfDays) }
    }

    /// Writes the choices of a page of counts: a campaign, a source, a platform, and the value of another
    /// dimension if the page is limited to one.
    func writeCountChoices(to html: inout HTML) {
        func value(_ dimension: Dimension) -> String {
            slice?.dimension == dimension ? slice?.value ?? "" : ""
        }
        html.field("campaign", DashboardText.campaign, campaign?.text)
        let platform = Platform(rawValue: value(.platform))
        html.choice("platform", DashboardText.platform, of: platform, DashboardText.words)
        html.field("source", DashboardText.source, value(.source))
        let others: [(Dimension, String, String)] = [
            (.osVersion, "os_version", DashboardText.osVersion), (.browser, "browser", DashboardText.browser),
            (.link, "link", DashboardText.linkID),
        ]
        for (dimension, name, label) in others where slice?.dimension == dimension {
            html.field(name, label, value(dimension))
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
        // There was nothing to count before the interval in which the chosen app, or the first app, was created.
        let length: Int64 = span.interval == .hour ? 3_600_000 : DashboardSpan.dayMilliseconds
        let first = firstData.advanced(byMilliseconds: -length)
        func values<Value>(_ zero: Value, _ value: (StatisticsReport.Period) -> Value) -> [Value?] {
            starts.map { start in periods[start].map(value) ?? (start <= first ? nil : zero) }
        }
        return ChartFigures(
            title: title,
            labels: starts.map(span.label),
            series: series.map { line in
                ChartFigures.Series(name: line.name, values: values(0) { line.count($0.counts) })
            },
            expected: hasExpected ? values(.zero, \.expected) : [],
            isRunning: starts.last.map { $0.advanced(byMilliseconds: length) > now } ?? false
        )
    }
}
