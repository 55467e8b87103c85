import Foundation

/// A figure that can be measured.
struct FigureName {
    /// The figure's name in the JSON.
    let name: String
    /// The figure's name in the table.
    let title: String
    /// The bar that the figure must reach; nil if every value passes.
    let bar: Bar?

    init(_ name: String, _ title: String, _ bar: Bar? = nil) {
        (self.name, self.title, self.bar) = (name, title, bar)
    }

    func figure(_ rounds: [Double], note: String? = nil) -> Figure {
        let median = rounds.median
        var figure = Figure(
            name: name,
            title: title,
            median: median,
            rounds: rounds,
            bar: bar?.text,
            note: note
        )
        figure.verdict = bar.map { $0.isReached(median) ? .pass : .miss }
        return figure
    }

    /// Returns one contestant's values as shares of another contestant's, round by round.
    func figure(_ rounds: [Double], of others: [Double], note: String? = nil) -> Figure {
        figure(zip(rounds, others).map { $1 == 0 ? .nan : $0 / $1 }, note: note)
    }
}

/// A figure with its value in each round, as the table and the JSON show it.
struct Figure: Encodable {
    enum Verdict: String, Encodable { case pass = "PASS", miss = "MISS" }

    let name: String
    let title: String
    let median: Double
    /// The values in the order of the rounds; at least one.
    let rounds: [Double]
    let bar: String?
    /// Whether the figure reaches its bar; nil without a bar.
    var verdict: Verdict?
    /// A note for the reader; nil if the value needs none.
    let note: String?

    /// Whether a larger value is better; for all figures that are not rates, a smaller value is better.
    var isRate: Bool { name.hasSuffix("_per_second") }
}

/// An upper or lower limit for a figure.
struct Bar: Sendable {
    let text: String
    let isReached: @Sendable (_ value: Double) -> Bool

    static func atLeast(_ bound: Double) -> Bar { Bar(text: "≥ \(NumberText.short(bound))") { $0 >= bound } }
    static func atMost(_ bound: Double) -> Bar { Bar(text: "≤ \(NumberText.short(bound))") { $0 <= bound } }
    static func within(_ bound: Double) -> Bar {
        Bar(text: "± \(NumberText.short(bound))") { abs($0) <= bound }
    }
    static func below(_ bound: Double) -> Bar { Bar(text: "< \(NumberText.short(bound))") { $0 < bound } }
}

extension [Double] {
    /// The middle value; of an even number, the mean of the two middle ones.
    package var median: Double {
        guard !isEmpty else { return .nan }
        let sorted = sorted()
        let middle = count / 2
        return count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}

/// Formats numbers with as many digits as a reader needs.
enum NumberText {
    static func short(_ value: Double) -> String {
        guard value.isFinite else { return "–" }
        if value == value.rounded(), abs(value) < 1e6 { return String(Int(value)) }
        let digits = abs(value) >= 100 ? 0 : abs(value) >= 10 ? 1 : abs(value) >= 0.1 ? 2 : 3
        return String(format: "%.\(digits)f", value)
    }
}

/// Whether a series of samples stays flat.
package enum Trend {
    /// The share at the start that does not count, because caches and pools fill.
    private static let warmUp = 0.2

    /// Returns by how many percent of the mean the straight line through the samples (least squares) rises from the
    /// end of the warm-up to the last sample; negative when it falls.
    package static func growthPercent(_ samples: [Double]) -> Double {
        let values = samples.dropFirst(Int(Double(samples.count) * warmUp))
        guard values.count > 1 else { return .nan }
        let count = Double(values.count)
        let mean = values.reduce(0, +) / count
        let middle = (count - 1) / 2
        var (covariance, variance) = (0.0, 0.0)
        for (index, value) in values.enumerated() {
            covariance += (Double(index) - middle) * (value - mean)
            variance += (Double(index) - middle) * (Double(index) - middle)
        }
        guard mean != 0, variance > 0 else { return .nan }
        return covariance / variance * (count - 1) / mean * 100
    }
}
