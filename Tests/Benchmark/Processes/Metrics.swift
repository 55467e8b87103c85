/// The values of `/metrics` at one time.
package struct Metrics {
    private let values: [String: Double]

    /// Reads Prometheus' text format; names keep their labels.
    package init(_ text: String) {
        values = Dictionary(
            text.split(separator: "\n").compactMap { line in
                guard !line.hasPrefix("#"), let blank = line.lastIndex(of: " ") else { return nil }
                return Double(line[line.index(after: blank)...]).map { (String(line[..<blank]), $0) }
            },
            uniquingKeysWith: { $1 }
        )
    }

    /// - Throws: when the server does not report it.
    package func value(_ name: String) throws(BenchmarkError) -> Double {
        guard let value = values[name] else { throw BenchmarkError("/metrics has no \(name).") }
        return value
    }

    func growth(of name: String, since earlier: Metrics) throws(BenchmarkError) -> Double {
        try value(name) - earlier.value(name)
    }
}
