/// Parses Prometheus' text exposition format (version 0.0.4) strictly, and lists violations.
public struct PrometheusText {
    public struct Sample: Equatable {
        public var name: String
        public var labels: [String: String]
        public var value: Double
    }

    public private(set) var samples: [Sample] = []
    /// The type of each metric, by the metric's name.
    public private(set) var types: [String: String] = [:]
    public private(set) var helps: [String: String] = [:]
    public private(set) var violations: [String] = []

    public init(_ text: String) {
        if !text.hasSuffix("\n") { violations.append("the text does not end in a line feed") }
        var family = ""
        var closed: Set<String> = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            guard !line.isEmpty else {
                violations.append("an empty line")
                continue
            }
            let name = line.hasPrefix("#") ? readComment(line) : readSample(line)
            guard let name else { continue }
            if name != family {
                // The lines of a metric must follow each other without lines of another metric.
                if !closed.insert(name).inserted { violations.append("\(name) comes in two groups") }
                family = name
            }
        }
        checkFamilies()
    }

    /// Returns the value of the sample with this name and exactly these labels; nil if there is none.
    public func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        samples.first { $0.name == name && $0.labels == labels }?.value
    }

    private mutating func readComment(_ line: Substring) -> String? {
        let parts = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        let words = parts.map(String.init)
        guard words.count == 4, Self.isName(words[2]), !words[3].isEmpty else {
            violations.append("neither a HELP nor a TYPE line: \(line)")
            return nil
        }
        switch words[1] {
        case "HELP":
            if helps.updateValue(words[3], forKey: words[2]) != nil {
                violations.append("two HELPs: \(line)")
            }
        case "TYPE":
            guard ["counter", "gauge", "histogram"].contains(words[3]) else {
                violations.append("an unknown type: \(line)")
                return nil
            }
            if types.updateValue(words[3], forKey: words[2]) != nil {
                violations.append("two TYPEs: \(line)")
            }
            if samples.contains(where: { $0.name == words[2] }) {
                violations.append("TYPE comes late: \(line)")
            }
        default: violations.append("an unknown comment: \(line)")
        }
        return words[2]
    }

    private mutating func readSample(_ line: Substring) -> String? {
        let name = String(line.prefix { $0 != "{" && $0 != " " })
        var rest = line.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" {
            guard let read = Self.labels(&rest) else {
                violations.append("malformed labels: \(line)")
                return nil
            }
            labels = read
        }
        guard Self.isName(name), rest.first == " ", let value = Double(rest.dropFirst()) else {
            violations.append("malformed sample: \(line)")
            return nil
        }
        let sample = Sample(name: name, labels: labels, value: value)
        if samples.contains(where: { $0.name == name && $0.labels == labels }) {
            violations.append("a sample twice: \(line)")
        }
        samples.append(sample)
        let family = family(of: name)
        if types[family] == nil { violations.append("no TYPE before \(line)") }
        if helps[family] == nil { violations.append("no HELP before \(line)") }
        return family
    }

    /// Parses `{name="value",…}`, in which backslash, quotation mark and line feed are escaped; nil if malformed.
    private static func labels(_ rest: inout Substring) -> [String: String]? {
        var labels: [String: String] = [:]
        rest.removeFirst()
        while true {
            let name = rest.prefix { $0 != "=" }
            rest = rest.dropFirst(name.count)
            guard isName(String(name)), !name.contains(":"), rest.hasPrefix("=\"") else { return nil }
            rest = rest.dropFirst(2)
            var value = ""
            while let character = rest.popFirst(), character != "\"" {
                guard character == "\\" else {
                    value.append(character)
                    continue
                }
                switch rest.popFirst() {
                case "\\": value.append("\\")
                case "\"": value.append("\"")
                case "n": value.append("\n")
                default: return nil
                }
            }
            guard labels.updateValue(value, forKey: String(name)) == nil else { return nil }
            switch rest.popFirst() {
            case "}": return labels
            case ",": continue
            default: return nil
            }
        }
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x3A: true
            default: false
            }
        }
    }

    /// Returns the metric that a sample belongs to: a histogram has three kinds of samples.
    private func family(of name: String) -> String {
        for suffix in ["_bucket", "_sum", "_count"] where name.hasSuffix(suffix) {
            let stem = String(name.dropLast(suffix.count))
            if types[stem] == "histogram" { return stem }
        }
        return name
    }

    private mutating func checkFamilies() {
        for (name, type) in types {
            switch type {
            case "counter":
                if !name.hasSuffix("_total") {
                    violations.append("the counter \(name) does not end in _total")
                }
                for sample in samples where sample.name == name && (sample.value < 0 || sample.value.isNaN) {
                    violations.append("the counter \(name) is \(sample.value)")
                }
            case "histogram": checkHistogram(name)
            default: if name.hasSuffix("_total") { violations.append("the gauge \(name) ends in _total") }
            }
        }
    }

    private mutating func checkHistogram(_ name: String) {
        let buckets = samples.filter { $0.name == name + "_bucket" }
        let groups = Dictionary(grouping: buckets) { $0.labels.filter { $0.key != "le" } }
        for (labels, members) in groups {
            let bounds = members.compactMap { $0.labels["le"] }.compactMap {
                $0 == "+Inf" ? .infinity : Double($0)
            }
            let counts = members.map(\.value)
            let isWhole =
                bounds.count == members.count && bounds.last == .infinity
                && zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }
                && zip(counts, counts.dropFirst()).allSatisfy { $0 <= $1 }
                && value(name + "_count", labels) == counts.last && value(name + "_sum", labels) != nil
            if !isWhole { violations.append("the histogram \(name) of \(labels) is incomplete") }
        }
    }
}
