internal import Attribution

/// A chart of counts over time, drawn as SVG with classes and attributes alone.
struct LineChart {
    struct Series {
        let name: String
        /// The values by interval; nil where there can be none.
        var values: [Int64?]
    }

    let title: String
    /// The names of the intervals.
    private(set) var labels: [String]
    private(set) var series: [Series]
    /// Whether the last interval has not ended, so that its line is dashed.
    let isRunning: Bool

    private static let (width, height) = (720.0, 220.0)
    private static let (left, top, bottom) = (48.0, 10.0, 24.0)
    /// With more intervals, people could not distinguish the lines, and the page would be too large for a
    /// phone.
    private static let maximumIntervals = 92

    init(title: String, labels: [String], series: [Series], isRunning: Bool) {
        (self.title, self.labels, self.series, self.isRunning) = (title, labels, series, isRunning)
        guard labels.count > Self.maximumIntervals else { return }
        let step = max(7, (labels.count + Self.maximumIntervals - 1) / Self.maximumIntervals)
        let starts = Array(stride(from: 0, to: labels.count, by: step))
        self.labels = starts.map { labels[$0] }
        for index in series.indices {
            self.series[index].values = starts.map { start in
                let values = series[index].values[start..<min(start + step, labels.count)].compactMap(\.self)
                return values.isEmpty ? nil : values.reduce(0, +)
            }
        }
    }

    /// Writes the chart, its legend, and its figures as a table.
    func write(to html: inout HTML) {
        let highest = max(series.flatMap(\.values).compactMap(\.self).max() ?? 0, 1)
        let top = Self.roundedUp(highest)
        html.element("figure") { html in
            html.element("figcaption") { html in
                for (index, line) in series.enumerated() {
                    html.element("span", ["class": "k k\(index)"], line.name)
                }
            }
            html.element(
                "svg",
                ["viewBox": "0 0 \(Int(Self.width)) \(Int(Self.height))", "role": "img", "class": "chart"]
            ) { html in
                html.element("title", title)
                writeAxes(top, to: &html)
                for (index, line) in series.enumerated() { write(line, index, top, to: &html) }
                for index in labels.indices { writePoint(index, to: &html) }
            }
            html.element("details") { html in
                html.element("summary", DashboardText.asTable)
                html.table(title, [DashboardText.time] + series.map(\.name), labels.indices) { html, index in
                    html.element("th", ["scope": "row"], labels[index])
                    for line in series { html.number(DashboardText.count(line.values[index])) }
                }
            }
        }
    }

    private func x(_ index: Int) -> Double {
        let steps = Double(max(labels.count - 1, 1))
        return Self.left + (Self.width - Self.left - 10) * (labels.count == 1 ? 0.5 : Double(index) / steps)
    }

    private func y(_ value: Int64, _ top: Int64) -> Double {
        let height = Self.height - Self.top - Self.bottom
        return Self.top + height * (1 - Double(value) / Double(top))
    }

    private func writeAxes(_ top: Int64, to html: inout HTML) {
        for value in Set([0, top / 2, top]).sorted() {
            let y = Self.text(y(value, top))
            html.element(
                "line",
                ["class": "axis", "x1": "\(Int(Self.left))", "x2": "\(Int(Self.width))", "y1": y, "y2": y],
                ""
            )
            html.element("text", ["x": "0", "y": y, "dy": "4"], DashboardText.count(value))
        }
        for (index, anchor) in [(0, "start"), (labels.count - 1, "end")] where labels.indices.contains(index)
        {
            html.element(
                "text",
                ["x": Self.text(x(index)), "y": "\(Int(Self.height) - 6)", "text-anchor": anchor],
                labels[index]
            )
        }
    }

    /// Writes the line of a series; the part to a running interval is dashed, and a gap stays a gap.
    private func write(_ line: Series, _ number: Int, _ top: Int64, to html: inout HTML) {
        let points = line.values.enumerated().map { index, value in
            value.map { "\(Self.text(x(index))) \(Self.text(y($0, top)))" }
        }
        let solid = isRunning ? points.dropLast() : points[...]
        var path = ""
        var isGap = true
        for point in solid {
            if let point { path += (isGap ? "M" : "L") + point }
            isGap = point == nil
        }
        html.element("path", ["class": "l l\(number)", "d": path], "")
        if isRunning, points.count > 1, let from = points[points.count - 2], let to = points.last ?? nil {
            html.element("path", ["class": "l l\(number) running", "d": "M\(from)L\(to)"], "")
        }
    }

    /// Writes the area of an interval, on which the pointer and the keyboard find the interval's figures.
    private func writePoint(_ index: Int, to html: inout HTML) {
        let width = (Self.width - Self.left) / Double(max(labels.count, 1))
        var words = series.map { "\($0.name) \(DashboardText.count($0.values[index]))" }
        if isRunning, index == labels.count - 1 { words.append(DashboardText.running) }
        let text = "\(labels[index]): \(words.joined(separator: ", "))"
        html.element("g", ["tabindex": "0", "role": "img", "aria-label": text]) { html in
            html.element("title", text)
            html.element(
                "rect",
                [
                    "x": Self.text(x(index) - width / 2), "y": "\(Int(Self.top))",
                    "width": Self.text(width), "height": "\(Int(Self.height - Self.top - Self.bottom))",
                ],
                ""
            )
        }
    }

    /// Returns the next larger number that is 1, 2 or 5 times a power of ten.
    static func roundedUp(_ value: Int64) -> Int64 {
        var power: Int64 = 1
        while power <= value / 10 { power *= 10 }
        for factor in [1, 2, 5] as [Int64] where power * factor >= value { return power * factor }
        let (result, overflows) = power.multipliedReportingOverflow(by: 10)
        return overflows ? .max : result
    }

    /// Returns a coordinate with one digit after the point.
    private static func text(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }
}
