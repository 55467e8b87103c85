internal import Attribution

/// A chart of counts over time as lines, with a band for the expected conversions.
struct LineChart {
    let figures: ChartFigures

    func write(to html: inout HTML) {
        let counts = figures.series.flatMap(\.values).compactMap(\.self)
        let bounds = figures.expected.compactMap { $0.map { Int64(($0.count + $0.spread).rounded(.up)) } }
        let top = Self.roundedUp(max((counts + bounds).max() ?? 0, 1))
        figures.write(upTo: top, to: &html, writeKey: writeKey) { html in
            let band = bandPath(top)
            if !band.isEmpty { html.element("path", ["class": "band", "d": band], "") }
            for (index, line) in figures.series.enumerated() { write(line, index, top, to: &html) }
        }
    }

    private func writeKey(_ html: inout HTML, _ index: Int) {
        if index < figures.series.count {
            html.element("path", ["class": "l l\(index)", "d": "M0 5H24"], "")
        } else {
            html.rectangle(class: "band", x: 0, y: 0, width: 24, height: 10)
        }
    }

    private func x(_ index: Int) -> Double {
        let room = figures.room(of: index)
        return room.start + room.width / 2
    }

    private static func y(_ value: Double, _ top: Int64) -> Double { 100 * (1 - value / Double(top)) }

    /// Returns the area from the expected conversions minus their spread to the expected conversions plus their spread.
    private func bandPath(_ top: Int64) -> String {
        var (path, upper, lower) = ("", [(x: Double, y: Double)?](), [(x: Double, y: Double)?]())
        func close() {
            guard !upper.isEmpty else { return }
            path += SVGPath.line(upper + lower.reversed()) + "Z"
            (upper, lower) = ([], [])
        }
        for (index, expected) in figures.expected.enumerated() {
            guard let expected else {
                close()
                continue
            }
            upper.append((x: x(index), y: Self.y(expected.count + expected.spread, top)))
            lower.append((x: x(index), y: Self.y(max(0, expected.count - expected.spread), top)))
        }
        close()
        return path
    }

    /// Writes the line of a series; its part to an unfinished interval is dashed, and a missing value leaves a gap.
    private func write(_ line: ChartFigures.Series, _ number: Int, _ top: Int64, to html: inout HTML) {
        let points = line.values.enumerated().map { index, value in
            value.map { (x: x(index), y: Self.y(Double($0), top)) }
        }
        let solid = SVGPath.line(figures.isRunning ? points.dropLast() : points[...])
        html.element("path", ["class": "l l\(number)", "d": solid], "")
        if figures.isRunning, points.count > 1, points[points.count - 2] != nil, points.last ?? nil != nil {
            html.element("path", ["class": "l l\(number) running", "d": SVGPath.line(points.suffix(2))], "")
        }
        let dots = SVGPath.dots(points)
        if !dots.isEmpty { html.element("path", ["class": "l l\(number) dot", "d": dots], "") }
    }

    /// Returns the smallest number that is at least `value` and is 1, 2 or 5 times a power of ten.
    static func roundedUp(_ value: Int64) -> Int64 {
        var power: Int64 = 1
        while power <= value / 10 { power *= 10 }
        for factor in [1, 2, 5] as [Int64] where power * factor >= value { return power * factor }
        let (result, overflows) = power.multipliedReportingOverflow(by: 10)
        return overflows ? .max : result
    }
}
