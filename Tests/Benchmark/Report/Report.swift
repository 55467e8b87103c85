import Foundation

/// The results of a run, row by row, as a table and as JSON.
struct Report: Encodable {
    /// The figures of one row, or the reason why there are none.
    struct Row: Encodable {
        let name: String
        var figures: [Figure] = []
        /// The reason why the row cannot be measured on this machine or with this binary.
        var notMeasured: String?
        var failed: String?
    }

    let machine: Machine
    let rounds: Int
    let seconds: Double
    let workers: Int
    /// Whether the run used so little data that its figures mean nothing and are not judged.
    let isQuick: Bool
    /// Whether each figure is a ratio of two binaries.
    private let isComparison: Bool
    private(set) var rows: [Row] = []

    private enum CodingKeys: CodingKey { case machine, rounds, seconds, workers, isQuick, rows }

    init(machine: Machine, options: Options) {
        (self.machine, isQuick, isComparison) = (machine, options.isQuick, options.rival != nil)
        (rounds, seconds, workers) = (options.rounds, options.seconds, options.workers)
    }

    mutating func add(_ row: Row) {
        var row = row
        if isQuick { for index in row.figures.indices { row.figures[index].verdict = nil } }
        rows.append(row)
    }

    var method: String {
        isQuick
            ? "A quick run: the figures mean nothing."
            : "\(rounds) rounds of \(NumberText.short(seconds)) s, medians."
    }

    /// A Markdown table, as the documentation contains it.
    var table: String {
        let heading = [
            "| row | figure | \(isComparison ? "ratio" : "median") | least – most | bar | |",
            "|---|---|---:|---:|---:|---|",
        ]
        return (heading + rows.flatMap(lines)).joined(separator: "\n")
    }

    private func lines(_ row: Row) -> [String] {
        if let reason = row.notMeasured { return ["| \(row.name) | – | | | | not measured: \(reason) |"] }
        if let reason = row.failed { return ["| \(row.name) | – | | | | failed: \(reason) |"] }
        return row.figures.map { figure in
            let (least, most) = (figure.rounds.min() ?? .nan, figure.rounds.max() ?? .nan)
            let judgement = [figure.verdict?.rawValue, figure.note].compactMap { $0 }.joined(separator: "; ")
            return "| \(row.name) | \(figure.title) | \(NumberText.short(figure.median)) "
                + "| \(NumberText.short(least)) – \(NumberText.short(most)) | \(figure.bar ?? "") | \(judgement) |"
        }
    }

    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy =
            .convertToString(positiveInfinity: "infinite", negativeInfinity: "-infinite", nan: "unknown")
        return try encoder.encode(self)
    }
}
