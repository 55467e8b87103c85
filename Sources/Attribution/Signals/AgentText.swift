/// A user agent as bytes, with the places of the marks that tell something.
struct AgentText {
    let bytes: [UInt8]
    private let ends: InlineArray<32, Int16>

    /// How many bytes of an agent are read; no real one is longer.
    static let maximumLength = 2048

    init(_ text: Span<UInt8>) {
        let text = text.extracting(first: Self.maximumLength)
        bytes = [UInt8](capacity: text.count) { free in
            for index in text.indices { free.append(text[index]) }
        }
        ends = AgentKeywordFinder.shared.ends(in: bytes)
    }

    func contains(_ mark: AgentKeyword) -> Bool {
        ends[mark.rawValue] > 0
    }

    /// Where the first occurrence of `mark` ends.
    func end(of mark: AgentKeyword) -> Int? {
        let end = Int(ends[mark.rawValue])
        return end > 0 ? end : nil
    }

    /// Where the first occurrence of `mark` that begins at `start` or later ends.
    func end(of mark: AgentKeyword, after start: Int) -> Int? {
        if let first = end(of: mark), first - mark.text.utf8.count >= start { return first }
        let text = Array(mark.text.utf8)
        var rest = bytes[min(start, bytes.count)...]
        while let candidate = rest.firstIndex(of: text[0]) {
            if bytes[candidate...].starts(with: text) { return candidate + text.count }
            rest = bytes[(candidate + 1)...]
        }
        return nil
    }

    /// What follows `mark` as long as `belongs` holds; nil when the mark is missing or nothing follows it.
    func value(after mark: AgentKeyword, while belongs: (UInt8) -> Bool) -> ArraySlice<UInt8>? {
        guard let start = end(of: mark) else { return nil }
        let value = bytes[start...].prefix(while: belongs)
        return value.isEmpty ? nil : value
    }

    /// The version that follows `mark`, of digits, dots and underscores.
    func version(after mark: AgentKeyword) -> OSVersion? {
        value(after: mark) { $0.isASCIIDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_") }
            .flatMap { OSVersion(bytes: $0) }
    }

    /// The kernel's version in the default agent of an iOS app's own requests (`CFNetwork/1568.1 Darwin/24.1.0`);
    /// apps of Macs have one that says so.
    var darwin: OSVersion? {
        contains(.cfNetwork) && !contains(.intel) ? version(after: .darwin) : nil
    }

    /// The whole number that follows `mark`; nil when it has more than six digits.
    func number(after mark: AgentKeyword) -> Int? {
        value(after: mark, while: \.isASCIIDigit).flatMap(Self.number)
    }

    /// The language tag that follows `mark`.
    func tag(after mark: AgentKeyword) -> String? {
        value(after: mark) { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
            .map { String(decoding: $0.prefix(35), as: UTF8.self) }
    }

    static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard (1...6).contains(digits.count), digits.allSatisfy(\.isASCIIDigit) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// The parts between semicolons from `start` up to the bracket that closes the list, without blanks around.
    ///
    /// Names of models have brackets of their own: `moto g(60)s`.
    func list(from start: Int) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        parts.reserveCapacity(8)
        var partStart = start
        let end = endOfList(from: start)
        for index in start..<end where bytes[index] == UInt8(ascii: ";") {
            parts.append(bytes[partStart..<index].trimmed)
            partStart = index + 1
        }
        parts.append(bytes[partStart..<end].trimmed)
        return parts
    }

    private func endOfList(from start: Int) -> Int {
        var depth = 0
        var first: Int?
        for index in start..<bytes.count {
            if bytes[index] == UInt8(ascii: "(") { depth += 1 }
            guard bytes[index] == UInt8(ascii: ")") else { continue }
            if depth == 0 { return index }
            depth -= 1
            first = first ?? index
        }
        return first ?? bytes.count
    }
}
