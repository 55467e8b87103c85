/// Finding marked values in a user agent.
extension String {
    /// What follows `mark` up to the first byte for which `ends` holds; nil when the mark is missing or nothing
    /// follows it.
    func value(after mark: String, upTo ends: (UInt8) -> Bool) -> String? {
        guard let range = range(ofASCII: mark) else { return nil }
        let value = utf8[range.upperBound...].prefix { !ends($0) }
        return value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
    }

    /// The version that follows `mark`, of digits, dots and underscores.
    func version(after mark: String) -> OSVersion? {
        value(after: mark) { !$0.isASCIIDigit && $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "_") }
            .flatMap { OSVersion($0) }
    }

    func containsAny(of marks: [String]) -> Bool {
        marks.contains { contains(ascii: $0) }
    }
}
