import Foundation

/// A report for programs.
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
            bar: figure.bar?.text,
            verdict: verdict(figure)?.rawValue,
            note: figure.note
        )
    }
}
