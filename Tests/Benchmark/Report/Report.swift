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

    /// A verdict on a figure: none in a quick run, whose figures mean nothing.
    func verdict(_ figure: Figure) -> Figure.Verdict? {
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
            + "| \(figure.bar?.text ?? "") | \(judgement) |"
    }
}
