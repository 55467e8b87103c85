internal import Attribution

/// A figure of a page: its name, its text, and its numbers for the comparison with the earlier span.
struct Figure {
    let name: String
    let text: String
    let number: Double?
    let earlier: Double?

    /// Reads a figure from a report, and from the report on the earlier span if there is one.
    init(
        _ name: String,
        _ text: (Double?) -> String,
        of reports: (present: StatisticsReport, earlier: StatisticsReport?),
        _ number: (StatisticsReport) -> Double?
    ) {
        self.name = name
        self.number = number(reports.present)
        self.text = text(self.number)
        earlier = reports.earlier.flatMap(number)
    }

    /// Creates the figure of the verified revenue; it has a change only if both spans have revenue in one and the same
    /// currency.
    init(revenue sums: EventSums, earlier: EventSums?) {
        func single(_ sums: EventSums) -> EventSum? { sums.revenue.count == 1 ? sums.revenue.first : nil }
        let (present, before) = (single(sums), earlier.flatMap(single))
        (name, text) = (DashboardText.verifiedRevenue, DashboardText.totals(sums))
        number = present.map { Double($0.verified) }
        self.earlier = before?.currency == present?.currency ? before.map { Double($0.verified) } : nil
    }

    static func medianTime(of reports: (StatisticsReport, earlier: StatisticsReport?)) -> Figure {
        Figure(DashboardText.medianTime, DashboardText.duration, of: reports) {
            $0.timeToInstall.quantile(0.5)
        }
    }

    static func whole(_ value: Double?) -> String { DashboardText.count(value.map { Int64($0) }) }
}

extension HTML {
    /// Writes figures side by side, with their changes and a sentence on the comparison if there is an earlier span.
    mutating func figures(_ figures: [Figure], comparison: String?) {
        self.figures(
            figures.map { figure in
                let change = DashboardText.change(from: figure.earlier, to: figure.number)
                return (figure.name, figure.text, comparison.map { _ in change })
            }
        )
        if let comparison { note(comparison) }
    }

    /// Writes figures side by side, each with its change if it has one.
    mutating func figures(_ figures: [(name: String, text: String, change: String?)]) {
        element("dl", ["class": "figures"]) { html in
            for figure in figures {
                html.element("div") { html in
                    html.element("dt", figure.name)
                    html.element("dd", ["class": "figure"], figure.text)
                    if let change = figure.change { html.element("dd", ["class": "change"], change) }
                }
            }
        }
    }

    /// Writes the values of a dimension with their clicks as bars, their matches, and the matches per click; nothing
    /// without values.
    mutating func panel(
        _ title: String,
        _ groups: [StatisticsReport.Group],
        _ exports: PanelExports,
        writeName: (inout HTML, String) -> Void
    ) {
        guard !groups.isEmpty else { return }
        let most = groups.map { $0.counts[.clicks] ?? 0 }.max() ?? 0
        element("div") { html in
            html.table([title: [title] + DashboardText.panelHeadings], groups, exports: exports) {
                html,
                group in
                writeName(&html, group.name)
                let clicks = group.counts[.clicks] ?? 0
                html.number(DashboardText.count(clicks), bar: (clicks, most))
                html.counts(group.counts[.matches] ?? 0)
                html.number(DashboardText.percent(StatisticsBody.conversionRate(group.counts)))
            }
        }
    }

    /// Writes the steps of a funnel as bars of a table, each with its share of the first step.
    mutating func funnel(_ title: String, _ steps: [(name: String, count: Int64)]) {
        let first = steps.first?.count ?? 0
        table([title: DashboardText.funnelHeadings], steps) { html, step in
            html.rowName(step.name)
            html.element("td") { html in
                html.element(
                    "svg",
                    ["class": "funnel", "viewBox": "0 0 100 6", "preserveAspectRatio": "none", "role": "img"]
                ) { html in
                    html.element("title", "\(step.name) \(DashboardText.count(step.count))")
                    let width = first > 0 ? 100 * Double(step.count) / Double(first) : 0
                    html.rectangle(class: "c0", x: 50 - width / 2, y: 0, width: width, height: 6)
                }
            }
            html.counts(step.count)
            html.number(DashboardText.percent(first > 0 ? Double(step.count) / Double(first) : nil))
        }
    }

    /// Writes a rate by day as a small line with the first and the last rate as its title; a dash if no day has a rate.
    mutating func sparkline(_ days: [DriftCount]) {
        let rates = days.map(\.rate)
        guard let last = rates.last(where: { $0 != nil }), let first = rates.first(where: { $0 != nil })
        else { return text("–") }
        let step = 100 / Double(max(days.count - 1, 1))
        let points = rates.enumerated().map { index, rate in
            rate.map { (x: step * Double(index), y: 20 - 20 * $0) }
        }
        element(
            "svg",
            ["class": "spark", "viewBox": "0 -2 100 24", "preserveAspectRatio": "none", "role": "img"]
        ) { html in
            html.element("title", DashboardText.trend(from: first, to: last, days: days.count))
            html.element("path", ["class": "l l0", "d": SVGPath.line(points)], "")
            let dots = SVGPath.dots(points)
            if !dots.isEmpty { html.element("path", ["class": "l l0 dot", "d": dots], "") }
        }
    }

    /// Writes rates by row and column; the shade of a cell repeats its number.
    mutating func heatTable(_ caption: String, _ corner: String, _ cells: [String: [String: DriftCount]]) {
        func busiest(_ counts: [(String, DriftCount)], _ limit: Int) -> [String] {
            counts.sorted { ($1.1.trials, $0.0) < ($0.1.trials, $1.0) }.prefix(limit).map(\.0)
        }
        let rows = busiest(cells.map { ($0.key, $0.value.values.reduce(DriftCount(), +)) }, 12)
        var sums: [String: DriftCount] = [:]
        for row in cells.values { sums.merge(row, uniquingKeysWith: +) }
        let columns = busiest(sums.map { ($0.key, $0.value) }, 10)
        table([caption: [corner] + columns], rows) { html, row in
            html.rowName(row)
            for column in columns {
                let count = cells[row]?[column]
                let shade = count?.rate.map { "n h\(Int($0 * 5))" } ?? "n"
                let title = count.map { DashboardText.matches($0.matches, of: $0.trials) }
                html.element("td", ["class": shade, "title": title], DashboardText.percent(count?.rate))
            }
        }
    }
}
