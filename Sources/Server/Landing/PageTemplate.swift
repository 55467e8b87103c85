/// A page template with places for values.
///
/// `{{name}}` is the value, escaped for HTML's texts and quoted attributes; `{{{name}}}` is one of the page's own parts
/// (its style, its script) as it is; the text between `{{#name}}` and `{{/name}}` is left out where the value is
/// empty.
struct PageTemplate: Sendable {
    private enum Part: Sendable {
        case text([UInt8])
        case value(String)
        case rawPart(String)
        case section(String, [Part])
    }

    /// Why a text is not a template.
    struct Problem: Error, Equatable {
        /// Counted from 1.
        let line: Int
        let message: String
    }

    private let parts: [Part]

    /// - Parameters:
    ///   - text: the page.
    ///   - values: the names of values that it may use.
    ///   - rawParts: the names of parts, which are not escaped.
    /// - Throws: the first unknown name or unclosed place.
    init(_ text: String, values: Set<String>, rawParts: Set<String>) throws(Problem) {
        var reader = TemplateReader(Array(text.utf8), values: values, rawParts: rawParts)
        parts = try Self.parts(&reader, until: nil)
    }

    /// Reads the parts of a section, given its name and the error if it is not closed, or of the whole page.
    private static func parts(_ reader: inout TemplateReader, until end: (name: String, orElse: Problem)?)
        throws(Problem) -> [Part]
    {
        var parts: [Part] = []
        while let token = try reader.next() {
            switch token {
            case .text(let bytes): parts.append(.text(bytes))
            case .value(let name): parts.append(.value(name))
            case .rawPart(let name): parts.append(.rawPart(name))
            case .begin(let name):
                let open = reader.problem("{{#\(name)}} is not closed")
                parts.append(.section(name, try Self.parts(&reader, until: (name, open))))
            case .end(let name):
                guard name == end?.name else {
                    throw reader.problem("{{/\(name)}} closes nothing that is open here")
                }
                return parts
            }
        }
        if let end { throw end.orElse }
        return parts
    }

    /// Fills the values in; missing ones are empty.
    func render(_ values: [String: String], rawParts: [String: [UInt8]]) -> [UInt8] {
        var page: [UInt8] = []
        page.reserveCapacity(16 * 1024)
        Self.write(parts, values, rawParts, to: &page)
        return page
    }

    private static func write(
        _ parts: [Part],
        _ values: [String: String],
        _ rawParts: [String: [UInt8]],
        to page: inout [UInt8]
    ) {
        for part in parts {
            switch part {
            case .text(let bytes): page += bytes
            case .value(let name): HTMLText.append(values[name] ?? "", to: &page)
            case .rawPart(let name): page += rawParts[name] ?? []
            case .section(let name, let parts):
                if values[name]?.isEmpty == false { write(parts, values, rawParts, to: &page) }
            }
        }
    }
}

/// Text in a page.
enum HTMLText {
    /// Escapes what could end a text or a quoted attribute (HTML, 13.1.2.3 and 13.1.4).
    static func append(_ text: String, to page: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): page += "&amp;".utf8
            case UInt8(ascii: "<"): page += "&lt;".utf8
            case UInt8(ascii: ">"): page += "&gt;".utf8
            case UInt8(ascii: "\""): page += "&quot;".utf8
            case UInt8(ascii: "'"): page += "&#39;".utf8
            default: page.append(byte)
            }
        }
    }
}

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
