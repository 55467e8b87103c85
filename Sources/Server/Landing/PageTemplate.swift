/// A page template with placeholders for values.
///
/// `{{name}}` is a value, escaped for HTML's texts and quoted attributes. `{{{name}}}` is one of the page's own parts,
/// such as its style or script, which is not escaped. The text between `{{#name}}` and `{{/name}}` is left out if the
/// value `name` is empty.
struct PageTemplate: Sendable {
    fileprivate enum Part: Sendable {
        case text([UInt8])
        case value(String)
        case rawPart(String)
        case section(String, [Part])
    }

    /// The reason why a text is not a template.
    struct Problem: Error, Equatable {
        /// The line of the mistake, counted from 1.
        let line: Int
        let message: String
    }

    private let parts: [Part]

    /// - Parameters:
    ///   - text: the page.
    ///   - values: the names of the values that the page may use.
    ///   - rawParts: the names of the parts that are not escaped.
    /// - Throws: the first mistake: an unknown name, an unclosed placeholder or section, or an end without its section.
    init(_ text: String, values: Set<String>, rawParts: Set<String>) throws(Problem) {
        var reader = TemplateReader(bytes: Array(text.utf8), values: values, rawParts: rawParts)
        parts = try reader.parts(until: nil)
    }

    /// Returns the page with its values; missing values are empty.
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

/// Writes texts into HTML pages.
enum HTMLText {
    /// Appends a text, and escapes the characters that could end a text or a quoted attribute (HTML, 13.1.2.3 and 13.1.4).
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

/// Splits a template into its parts.
private struct TemplateReader {
    let bytes: [UInt8]
    let values: Set<String>
    let rawParts: Set<String>
    var position = 0

    /// Reads the parts of the page, or of the section whose name and position `end` states.
    mutating func parts(until end: (name: String, position: Int)?)
        throws(PageTemplate.Problem) -> [PageTemplate.Part]
    {
        var parts: [PageTemplate.Part] = []
        while position < bytes.count {
            let start = find("{{", from: position) ?? bytes.count
            guard start == position else {
                parts.append(.text(Array(bytes[position..<start])))
                position = start
                continue
            }
            if bytes[start...].starts(with: "{{{".utf8) {
                parts.append(.rawPart(try place("{{{", "}}}", of: rawParts)))
            } else if bytes[start...].starts(with: "{{#".utf8) {
                let name = try place("{{#", "}}", of: values)
                parts.append(.section(name, try self.parts(until: (name, position))))
            } else if bytes[start...].starts(with: "{{/".utf8) {
                let name = try place("{{/", "}}", of: values)
                guard name == end?.name else {
                    throw problem("{{/\(name)}} closes nothing: no section of this name is open here")
                }
                return parts
            } else {
                parts.append(.value(try place("{{", "}}", of: values)))
            }
        }
        if let end { throw problem("{{#\(end.name)}} is not closed", at: end.position) }
        return parts
    }

    /// Reads the name of the placeholder at ``position``, and moves ``position`` after it.
    private mutating func place(_ open: String, _ close: String, of names: Set<String>)
        throws(PageTemplate.Problem) -> String
    {
        let start = position + open.utf8.count
        guard let end = find(close, from: start) else {
            throw problem("A placeholder is not closed with \(close)")
        }
        let name = String(decoding: bytes[start..<end], as: UTF8.self)
        guard names.contains(name) else {
            let known = names.sorted().joined(separator: ", ")
            throw problem("There is no value \"\(name.prefix(40))\"; there are \(known)")
        }
        position = end + close.utf8.count
        return name
    }

    private func problem(_ message: String, at place: Int? = nil) -> PageTemplate.Problem {
        let line = bytes[..<(place ?? position)].count { $0 == UInt8(ascii: "\n") } + 1
        return PageTemplate.Problem(line: line, message: message)
    }

    private func find(_ text: String, from start: Int) -> Int? {
        let sought = Array(text.utf8)
        guard let first = sought.first else { return nil }
        var rest = bytes[start...]
        while let found = rest.firstIndex(of: first) {
            rest = rest[found...]
            if rest.starts(with: sought) { return found }
            rest = rest.dropFirst()
        }
        return nil
    }
}
