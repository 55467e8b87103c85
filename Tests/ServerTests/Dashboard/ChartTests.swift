import Attribution
import HTTPServer
import Testing

@testable import Server

/// The lines that charts draw, and the figures in their tables.
@Suite("Charts of the dashboard")
struct ChartTests {
    private func figures(_ values: [Int64?], isRunning: Bool = false) -> ChartFigures {
        ChartFigures(
            title: "Clicks",
            labels: values.indices.map { "day \($0)" },
            series: [ChartFigures.Series(name: "Clicks", values: values)],
            isRunning: isRunning
        )
    }

    private func line(_ figures: ChartFigures) -> String {
        var html = HTML()
        LineChart(figures: figures).write(to: &html)
        return String(decoding: html.bytes, as: UTF8.self)
    }

    private func paths(_ style: String, in text: String) -> [String] {
        PageMarkup(text).tags.filter { $0.attributes["class"] == style }.compactMap { $0.attributes["d"] }
    }

    @Test("a value between gaps, or the only one, is a dot")
    func dots() {
        let text = line(figures([1, nil, 2, nil, 1, 2]))
        #expect(paths("l l0", in: text) == ["M83.3 50M416.7 0M750 50L916.7 0"])
        #expect(paths("l l0 dot", in: text) == ["M83.3 50h0M416.7 0h0"])
        #expect(paths("l l0 dot", in: line(figures([5], isRunning: true))) == ["M500 0h0"])
        #expect(paths("l l0 dot", in: line(figures([1, 2]))).isEmpty)
    }

    @Test("the running interval is dashed, and its table row contains only a number")
    func running() {
        let text = line(figures([1, 2, 1], isRunning: true))
        #expect(paths("l l0 running", in: text) == ["M500 0L833.3 50"])
        #expect(text.contains("day 2: Clicks 1, not ended yet"))
        #expect(PageMarkup.table("Clicks", in: text).map { $0.last ?? "" } == ["Clicks", "1", "2", "1"])
    }

    @Test("more than 92 intervals are added up to weeks or longer spans, and so are the expected conversions")
    func manyIntervals() {
        let one = ExpectedConversions(probability: 0.5)
        let figures = ChartFigures(
            title: "x",
            labels: (0..<100).map(String.init),
            series: [
                ChartFigures.Series(
                    name: "x",
                    values: Array(repeating: 1, count: 93) + Array(repeating: nil, count: 7)
                )
            ],
            expected: Array(repeating: one, count: 100)
        )
        #expect(figures.labels.count == 15 && figures.labels[1] == "7")
        #expect(figures.series[0].values.compactMap(\.self).reduce(0, +) == 93)
        #expect(figures.series[0].values[14] == nil)
        #expect(figures.expected.compactMap(\.self).reduce(.zero, +).millionths == 50_000_000)
    }

    @Test("a band has the spread around the expected conversions, and stops at gaps")
    func band() {
        let certain = ExpectedConversions(millionths: 4_000_000, varianceMillionths: 1_000_000)
        let figures = ChartFigures(
            title: "x",
            labels: ["a", "b", "c", "d"],
            series: [ChartFigures.Series(name: "x", values: [5, 5, 5, 5])],
            expected: [certain, certain, nil, certain]
        )
        let text = line(figures)
        #expect(paths("band", in: text).last == "M125 0L375 0L375 40L125 40ZM875 0L875 40Z")
        #expect(
            PageMarkup.table("x", in: text).map { $0.last ?? "" } == [
                "Expected conversions", "4.0 ± 1.0", "4.0 ± 1.0", "–", "4.0 ± 1.0",
            ]
        )
    }

    @Test("parts of a column lie one on the other, and differ in more than colour")
    func columns() {
        let figures = ChartFigures(
            title: "x",
            labels: ["a"],
            series: [
                ChartFigures.Series(name: "match", values: [1]),
                ChartFigures.Series(name: "none", values: [1]),
            ]
        )
        var html = HTML()
        ColumnChart(figures: figures).write(to: &html)
        let tags = PageMarkup(String(decoding: html.bytes, as: UTF8.self)).tags
        let parts = tags.filter { $0.attributes["width"] == "120" }.map { $0.attributes["y"] }
        #expect(parts == ["50", "0"])
        #expect(
            tags.contains { $0.attributes["fill"] == "url(#stripes1)" && $0.attributes["width"] == "120" }
        )
        // A class with a colour would replace the stripes.
        #expect(
            !tags.contains { $0.attributes["fill"] != nil && $0.attributes["class"]?.hasPrefix("c") == true }
        )
        #expect(tags.contains { $0.name == "pattern" && $0.attributes["id"] == "stripes1" })
    }

    @Test("times to install are grouped by doublings, and no launch is lost")
    func histogram() throws {
        var times = TimeToInstallHistogram()
        for seconds in [0, 1, 3, 5, 7, 64, 100, 100] as [Int64] {
            times.add(1, inBin: TimeToInstallHistogram.bin(forMilliseconds: seconds * 1000))
        }
        let figures = try #require(times.figures(title: "x"))
        #expect(figures.labels.first == "0 s" && figures.labels.contains("64 s"))
        #expect(figures.series[0].values == [1, 1, 1, 2, 0, 0, 0, 3])
        #expect(TimeToInstallHistogram().figures(title: "x") == nil)
    }
}
