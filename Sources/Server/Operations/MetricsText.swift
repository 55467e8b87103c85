/// Writes Prometheus' text exposition format.
struct MetricsText {
    enum Kind: String { case counter, gauge, histogram }

    private(set) var bytes: [UInt8] = []

    mutating func header(_ name: String, _ kind: Kind, _ help: String) {
        bytes += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n".utf8
    }

    mutating func sample(_ name: String, _ labels: [(String, String)], _ value: Double) {
        bytes += name.utf8
        if !labels.isEmpty {
            let list = labels.map { "\($0.0)=\"\(Self.escape($0.1))\"" }.joined(separator: ",")
            bytes += "{\(list)}".utf8
        }
        bytes += " \(Self.number(value))\n".utf8
    }

    /// Writes a histogram from counts that are not cumulative: one per bound, and one for everything above.
    mutating func histogram(
        _ name: String,
        _ labels: [(String, String)],
        bounds: [Double],
        counts: [Int64],
        sum: Double
    ) {
        var total: Int64 = 0
        for (bound, count) in zip(bounds, counts) {
            total += count
            sample(name + "_bucket", labels + [("le", Self.number(bound))], Double(total))
        }
        let all = Double(counts.reduce(0, +))
        sample(name + "_bucket", labels + [("le", "+Inf")], all)
        sample(name + "_sum", labels, sum)
        sample(name + "_count", labels, all)
    }

    mutating func cumulativeHistogram(_ name: String, _ histogram: StoreHealth.Histogram) {
        for (bound, count) in histogram.buckets {
            sample(name + "_bucket", [("le", Self.number(bound))], Double(count))
        }
        sample(name + "_bucket", [("le", "+Inf")], Double(histogram.count))
        sample(name + "_sum", [], histogram.sum)
        sample(name + "_count", [], Double(histogram.count))
    }

    private static func number(_ value: Double) -> String {
        guard value == value.rounded(), abs(value) < 1e15 else { return "\(value)" }
        return "\(Int64(value))"
    }

    private static func escape(_ value: String) -> String {
        var escaped = ""
        for character in value {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
