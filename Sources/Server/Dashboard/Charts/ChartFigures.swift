internal import Attribution

/// The figures of a chart: counts by interval or by another scale, with the expected conversions.
struct ChartFigures {
    struct Series {
        let name: String
        /// The values by label; nil for a label that can have no value.
        var values: [Int64?]
    }

    let title: String
    /// What the labels mean, as the heading of their column.
    var scale: String = DashboardText.time
    /// The id of the chart, for the script; nil for a chart that never changes.
    var id: String?
    private(set) var labels: [String]
    private(set) var series: [Series]
    /// The expected conversions by label; empty for a chart without them.
    private(set) var expected: [ExpectedConversions?]
    /// Whether the last interval has not ended.
    let isRunning: Bool

    /// With more intervals, bars and dots would overlap, and the page would be too large for a phone.
    private static let maximumCount = 92

    /// Creates the figures; if there are too many labels, adds up the values of seven or more neighbouring labels.
    init(
        title: String,
        labels: [String],
        series: [Series],
        expected: [ExpectedConversions?] = [],
        isRunning: Bool = false
    ) {
        (self.title, self.labels, self.series, self.isRunning) = (title, labels, series, isRunning)
        self.expected = expected
        guard labels.count > Self.maximumCount else { return }
        let step = max(7, (labels.count + Self.maximumCount - 1) / Self.maximumCount)
        let starts = Array(stride(from: 0, to: labels.count, by: step))
        self.labels = starts.map { labels[$0] }
        func sums<Value>(_ values: [Value?], _ add: (Value, Value) -> Value) -> [Value?] {
            guard !values.isEmpty else { return [] }
            return starts.map { start in
                let known = values[start..<min(start + step, labels.count)].compactMap(\.self)
                return known.first.map { known.dropFirst().reduce($0, add) }
            }
        }
        for index in series.indices { self.series[index].values = sums(series[index].values, +) }
        self.expected = sums(expected, +)
    }

    /// Returns the words for one label: its name and its figures.
    func text(at index: Int) -> String {
        var words = series.map { "\($0.name) \(DashboardText.count($0.values[index]))" }
        if !expected.isEmpty {
            words.append("\(DashboardText.expected) \(DashboardText.expected(expected[index]))")
        }
        if isRunning, index == labels.count - 1 { words.append(DashboardText.running) }
        return "\(labels[index]): \(words.joined(separator: ", "))"
    }

    /// Writes the drawing with its legend and the texts of its axes, and the figures as a table.
    ///
    /// The drawing is stretched to the width of the page, so the texts are outside it, where they keep their size.
    ///
    /// - Parameters:
    ///   - top: the value at the upper edge.
    ///   - html: the page.
    ///   - writeKey: draws the symbol of a series in the legend, into 24 × 10 units.
    ///   - draw: draws into 1,000 × 100 units.
    func write(
        upTo top: Int64,
        to html: inout HTML,
        writeKey: (inout HTML, _ series: Int) -> Void,
        draw: (inout HTML) -> Void
    ) {
        html.element("figure", ["id": id]) { html in
            html.element("figcaption") { html in
                let names = series.map(\.name) + (expected.isEmpty ? [] : [DashboardText.expectedBand])
                for (index, name) in names.enumerated() where names.count > 1 {
                    html.element("span", ["class": "k"]) { html in
                        let key: HTML.Attributes = [
                            "class": "key", "viewBox": "0 0 24 10", "aria-hidden": "true",
                        ]
                        html.element("svg", key) { writeKey(&$0, index) }
                        html.text(name)
                    }
                }
            }
            html.element("div", ["class": "plot"]) { html in
                html.element("div", ["class": "scale", "aria-hidden": "true"]) { html in
                    for value in Self.scale(upTo: top) { html.element("span", DashboardText.count(value)) }
                }
                // The role is not `img`: screen readers ignore the parts of an `img`, and the keyboard can focus the
                // parts of a chart.
                let drawing: HTML.Attributes = [
                    "viewBox": "0 0 1000 100", "preserveAspectRatio": "none", "role": "group",
                    "class": "chart",
                ]
                html.element("svg", drawing) { html in
                    html.element("title", title)
                    html.element("path", ["class": "axis", "d": "M0 0H1000M0 50H1000M0 100H1000"], "")
                    draw(&html)
                    for index in labels.indices { writePlace(index, to: &html) }
                }
                let places =
                    labels.count % 2 == 1 ? [0, labels.count / 2, labels.count - 1] : [0, labels.count - 1]
                let shown = Set(places).intersection(labels.indices).sorted().map { labels[$0] }
                html.element("div", ["class": "ends", "aria-hidden": "true"]) { html in
                    for text in shown { html.element("span", text) }
                }
            }
            html.element("details") { html in
                html.element("summary", DashboardText.asTable)
                let names = series.map(\.name) + (expected.isEmpty ? [] : [DashboardText.expected])
                html.table([title: [scale] + names], labels.indices) { html, index in
                    html.rowName(labels[index])
                    for line in series { html.number(DashboardText.count(line.values[index]), class: nil) }
                    if !expected.isEmpty { html.number(DashboardText.expected(expected[index]), class: nil) }
                }
            }
        }
    }

    /// Returns the numbers beside a drawing, from the top.
    static func scale(upTo top: Int64) -> [Int64] { top.isMultiple(of: 2) ? [top, top / 2, 0] : [top, 0] }

    /// Returns the horizontal extent of a label, within the drawing's 1,000 units.
    func room(of index: Int) -> (start: Double, width: Double) {
        let width = 1000 / Double(max(labels.count, 1))
        return (width * Double(index), width)
    }

    /// Writes the area of a label, which shows its figures when the pointer or the keyboard selects it.
    private func writePlace(_ index: Int, to html: inout HTML) {
        let (text, room) = (text(at: index), room(of: index))
        html.element("g", ["tabindex": "0", "role": "img"]) { html in
            html.element("title", text)
            html.rectangle(x: room.start, y: 0, width: room.width, height: 100)
        }
    }
}

extension HTML {
    /// Writes a rectangle of a drawing.
    mutating func rectangle(
        class style: String? = nil,
        fill: String? = nil,
        x: Double,
        y: Double,
        width: Double,
        height: Double
    ) {
        let attributes: Attributes = [
            "class": style, "fill": fill, "x": SVGPath.text(x), "y": SVGPath.text(y),
            "width": SVGPath.text(width), "height": SVGPath.text(height),
        ]
        element("rect", attributes, "")
    }
}

/// Points of a drawing as the text of a path.
enum SVGPath {
    /// Returns a coordinate with one digit after the point.
    static func text(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }

    /// Returns a line through the points; where one is missing, the line has a gap.
    static func line(_ points: some Sequence<(x: Double, y: Double)?>) -> String {
        var (path, isGap) = ("", true)
        for point in points {
            if let point { path += "\(isGap ? "M" : "L")\(text(point.x)) \(text(point.y))" }
            isGap = point == nil
        }
        return path
    }

    /// Returns a dot at each point without a neighbour; no line shows such a point.
    static func dots(_ points: [(x: Double, y: Double)?]) -> String {
        points.indices.compactMap { index in
            let hasNeighbor = [index - 1, index + 1].contains {
                points.indices.contains($0) && points[$0] != nil
            }
            guard let point = points[index], !hasNeighbor else { return nil }
            return "M\(text(point.x)) \(text(point.y))h0"
        }
        .joined()
    }
}
