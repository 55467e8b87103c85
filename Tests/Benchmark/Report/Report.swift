import Foundation

/// What a run has found, row by row.
struct Report {
    enum Outcome {
        case measured([Figure])
        case notMeasurable(String)
        case failed(String)
    }

    let machine: Machine
    let options: Options
    private(set) var rows: [(name: RowName, outcome: Outcome)] = []

    init(machine: Machine, options: Options) {
        self.machine = machine
        self.options = options
    }

    mutating func add(_ name: RowName, _ outcome: Outcome) {
        rows.append((name, outcome))
    }

    var hasFailures: Bool {
        rows.contains { if case .failed = $0.outcome { true } else { false } }
    }

    /// The verdict on a figure: none in a quick run, whose figures mean nothing.
    private func verdict(_ figure: Figure) -> Figure.Verdict? {
        options.isQuick ? nil : figure.verdict
    }

    /// A Markdown table, as the documentation has it.
    var table: String {
        var lines = ["| figure | median | least – most | bar | |", "|---|---:|---:|---:|---|"]
        for (name, outcome) in rows {
            switch outcome {
            case .measured(let figures): lines += figures.map(line)
            case .notMeasurable(let reason):
                lines.append("| \(name.rawValue) | – | | | not measured: \(reason) |")
            case .failed(let reason): lines.append("| \(name.rawValue) | – | | | failed: \(reason) |")
            }
        }
        return lines.joined(separator: "\n")
    }

    private func line(_ figure: Figure) -> String {
        let (least, most) = (figure.rounds.min() ?? .nan, figure.rounds.max() ?? .nan)
        let spread = "\(NumberText.short(least)) – \(NumberText.short(most))"
        let judgement = [verdict(figure)?.rawValue, figure.note].compactMap { $0 }.joined(separator: "; ")
        return "| \(figure.name.title) | \(NumberText.short(figure.median)) | \(spread) "
            + "| \(figure.name.bar?.text ?? "") | \(judgement) |"
    }
}

/// The report for programs.
extension Report {
    private struct Document: Encodable {
        let machine: Machine
        let rounds: Int
        let seconds: Double
        let workers: Int
        /// Whether the run was a try with little data, whose figures mean nothing.
        let isQuick: Bool
        let rows: [Row]
    }

    private struct Row: Encodable {
        let name: String
        var figures: [Value] = []
        /// Why there are none.
        var notMeasured: String?
        var failed: String?
    }

    private struct Value: Encodable {
        let name: String
        let title: String
        let median: Double?
        let rounds: [Double]
        let bar: String?
        let verdict: String?
        let note: String?
    }

    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "infinite",
            negativeInfinity: "-infinite",
            nan: "unknown"
        )
        return try encoder.encode(
            Document(
                machine: machine,
                rounds: options.rounds,
                seconds: options.seconds,
                workers: options.workers,
                isQuick: options.isQuick,
                rows: rows.map(row)
            )
        )
    }

    private func row(_ name: RowName, _ outcome: Outcome) -> Row {
        switch outcome {
        case .measured(let figures): Row(name: name.rawValue, figures: figures.map(value))
        case .notMeasurable(let reason): Row(name: name.rawValue, notMeasured: reason)
        case .failed(let reason): Row(name: name.rawValue, failed: reason)
        }
    }

    private func value(_ figure: Figure) -> Value {
        Value(
            name: figure.name.name,
            title: figure.name.title,
            median: figure.median,
            rounds: figure.rounds,
            bar: figure.name.bar?.text,
            verdict: verdict(figure)?.rawValue,
            note: figure.note
        )
    }
}
