internal import Attribution

/// A chart of counts as columns; the parts of a column are stacked, and differ in colour and stripes.
struct ColumnChart {
    let figures: ChartFigures
    /// Whether the parts of a column are stacked.
    ///
    /// If not, they stand side by side without stripes, and empty parts are drawn too.
    var isStacked = true

    /// A wider column would look like an area.
    private static let largestWidth = 120.0

    func write(to html: inout HTML) {
        let sums = figures.labels.indices.map { index in
            let parts = figures.series.map { $0.values[index] ?? 0 }
            return isStacked ? parts.reduce(0, +) : parts.max() ?? 0
        }
        let top = LineChart.roundedUp(max(sums.max() ?? 0, 1))
        figures.write(upTo: top, to: &html, writeKey: writeKey) { html in
            if isStacked, figures.series.count > 1 { writePatterns(to: &html) }
            for index in figures.labels.indices { writeColumn(index, top, to: &html) }
        }
    }

    private func writeColumn(_ index: Int, _ top: Int64, to html: inout HTML) {
        let room = figures.room(of: index)
        let width = isStacked ? min(room.width * 0.8, Self.largestWidth) : room.width * 0.28
        let isRunning = figures.isRunning && index == figures.labels.count - 1
        var sum: Int64 = 0
        for (number, part) in figures.series.enumerated() {
            guard let value = part.values[index], value > 0 || !isStacked else { continue }
            sum = isStacked ? sum + value : value
            let side = room.width * (0.06 + 0.3 * Double(number))
            html.rectangle(
                class: style(number, isRunning),
                fill: fill(number),
                x: room.start + (isStacked ? (room.width - width) / 2 : side),
                y: 100 - 100 * Double(sum) / Double(top),
                width: width,
                height: 100 * Double(value) / Double(top)
            )
        }
    }

    /// Writes the stripe pattern of each part except the first.
    ///
    /// The stripes are horizontal, so that stretching the drawing does not slant them.
    private func writePatterns(to html: inout HTML) {
        html.element("defs") { html in
            for number in figures.series.indices.dropFirst() {
                let attributes: HTML.Attributes = [
                    "id": "stripes\(number)", "width": "4", "height": "\(number * 2)",
                    "patternUnits": "userSpaceOnUse",
                ]
                html.element("pattern", attributes) { html in
                    html.rectangle(class: "c\(number)", x: 0, y: 0, width: 4, height: Double(number) * 1.3)
                }
            }
        }
    }

    private func writeKey(_ html: inout HTML, _ index: Int) {
        html.rectangle(class: style(index, false), fill: fill(index), x: 0, y: 0, width: 24, height: 10)
    }

    /// Returns the class of a part; a striped part has no colour class, because the colour would replace its stripes.
    private func style(_ part: Int, _ isRunning: Bool) -> String? {
        guard isStacked else { return "c\(part)" }
        return part == 0 ? (isRunning ? "c0 running" : "c0") : isRunning ? "running" : nil
    }

    private func fill(_ part: Int) -> String? { part == 0 || !isStacked ? nil : "url(#stripes\(part))" }
}

extension TimeToInstallHistogram {
    /// Returns the times as figures of a chart, in which each label is twice the time of the label before; nil without
    /// times.
    func figures(title: String) -> ChartFigures? {
        // The times double every eight bins; the first bin contains the times under a second.
        func group(_ bin: Int) -> Int { (bin + 7) / 8 }
        var sums: [Int: Int64] = [:]
        for (bin, count) in counts where count > 0 { sums[group(bin), default: 0] += count }
        guard let first = sums.keys.min(), let last = sums.keys.max() else { return nil }
        let labels = (first...last).map { group in
            DashboardText.duration(group == 0 ? 0 : Self.bounds(ofBin: group * 8 - 7).lowerBound)
        }
        let values = (first...last).map { sums[$0] ?? 0 }
        var figures = ChartFigures(
            title: title,
            labels: labels,
            series: [ChartFigures.Series(name: DashboardText.matches, values: values)]
        )
        figures.scale = DashboardText.from
        return figures
    }
}
