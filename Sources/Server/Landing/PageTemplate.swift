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
