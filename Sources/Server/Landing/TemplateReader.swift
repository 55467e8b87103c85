/// Splits a template into its texts and places.
struct TemplateReader {
    enum Token {
        case text([UInt8])
        case value(String)
        case rawPart(String)
        case begin(String)
        case end(String)
    }

    private let bytes: [UInt8]
    private let values: Set<String>
    private let rawParts: Set<String>
    private var position = 0

    init(_ bytes: [UInt8], values: Set<String>, rawParts: Set<String>) {
        self.bytes = bytes
        self.values = values
        self.rawParts = rawParts
    }

    /// Returns the next token; nil at the end.
    mutating func next() throws(PageTemplate.Problem) -> Token? {
        guard position < bytes.count else { return nil }
        guard let start = find("{{", from: position) else {
            defer { position = bytes.count }
            return .text(Array(bytes[position...]))
        }
        guard start == position else {
            defer { position = start }
            return .text(Array(bytes[position..<start]))
        }
        return bytes[start...].starts(with: "{{{".utf8)
            ? try place(from: start + 3, closedBy: "}}}") : try place(from: start + 2, closedBy: "}}")
    }

    func problem(_ message: String) -> PageTemplate.Problem {
        let line = bytes[..<position].count { $0 == UInt8(ascii: "\n") } + 1
        return PageTemplate.Problem(line: line, message: message)
    }

    private mutating func place(from start: Int, closedBy end: String) throws(PageTemplate.Problem) -> Token {
        guard let close = find(end, from: start) else {
            throw problem("A place for a value is not closed with \(end)")
        }
        let text = String(decoding: bytes[start..<close], as: UTF8.self)
        if end.utf8.count == 3 {
            guard rawParts.contains(text) else { throw unknown(text, rawParts) }
            position = close + 3
            return .rawPart(text)
        }
        let mark = text.utf8.first
        let isSection = mark == UInt8(ascii: "#") || mark == UInt8(ascii: "/")
        let name = isSection ? String(text.dropFirst()) : text
        guard values.contains(name) else { throw unknown(name, values) }
        position = close + 2
        guard isSection else { return .value(name) }
        return mark == UInt8(ascii: "#") ? .begin(name) : .end(name)
    }

    private func unknown(_ name: String, _ known: Set<String>) -> PageTemplate.Problem {
        problem(
            "There is no value \"\(name.prefix(40))\"; there are \(known.sorted().joined(separator: ", "))"
        )
    }

    private func find(_ text: String, from start: Int) -> Int? {
        let sought = Array(text.utf8)
        guard bytes.count >= sought.count, start <= bytes.count - sought.count else { return nil }
        return (start...(bytes.count - sought.count)).first { bytes[$0...].starts(with: sought) }
    }
}
