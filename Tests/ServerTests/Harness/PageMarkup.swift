/// A parsed HTML page, reduced to what tests need: its tags with their attributes, and its texts.
struct PageMarkup {
    struct Tag: Equatable {
        let name: String
        let attributes: [String: String]
    }

    private(set) var tags: [Tag] = []
    /// The content of scripts and styles, in order.
    private(set) var rawTexts: [String] = []
    /// All other text between tags.
    private(set) var text = ""

    init(_ page: String) {
        var rest = page[...]
        while let start = rest.firstIndex(of: "<") {
            text += Self.decoded(rest[..<start])
            rest = rest[rest.index(after: start)...]
            let tag = Self.tag(&rest)
            tags.append(tag)
            guard ["script", "style"].contains(tag.name), let end = rest.firstRange(of: "</\(tag.name)")
            else { continue }
            rawTexts.append(String(rest[..<end.lowerBound]))
            rest = rest[end.lowerBound...]
        }
        text += Self.decoded(rest)
    }

    /// Returns the first tag with this `id`.
    func tag(id: String) -> Tag? { tags.first { $0.attributes["id"] == id } }

    /// Returns the content of the `meta` tag with this name or property.
    func meta(_ name: String) -> String? {
        tags.first { $0.name == "meta" && ($0.attributes["name"] ?? $0.attributes["property"]) == name }?
            .attributes["content"]
    }

    var body: [String: String] { tags.first { $0.name == "body" }?.attributes ?? [:] }

    /// The tags with their attribute names, which must not depend on the texts in the page.
    var structure: [String] {
        tags.map { tag in "\(tag.name) \(tag.attributes.keys.sorted().joined(separator: " "))" }
    }

    /// Reads a tag up to and including its `>`; a quoted value may contain `>`, too.
    private static func tag(_ rest: inout Substring) -> Tag {
        let name = rest.prefix { !$0.isWhitespace && $0 != ">" }
        rest = rest[name.endIndex...]
        var attributes: [String: String] = [:]
        while let next = rest.first, next != ">" {
            guard !next.isWhitespace else {
                rest.removeFirst()
                continue
            }
            let key = rest.prefix { !$0.isWhitespace && $0 != "=" && $0 != ">" }
            rest = rest[key.endIndex...]
            guard rest.hasPrefix("=\"") else {
                attributes[String(key)] = rest.hasPrefix("=") ? "not quoted" : ""
                if rest.hasPrefix("=") { rest.removeFirst() }
                continue
            }
            let value = rest.dropFirst(2).prefix { $0 != "\"" }
            attributes[String(key)] = decoded(value)
            rest = rest[value.endIndex...].dropFirst()
        }
        rest = rest.dropFirst()
        return Tag(name: name.lowercased(), attributes: attributes)
    }

    private static func decoded(_ text: Substring) -> String {
        let references = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        return references.reduce(String(text)) { $0.replacing($1.0, with: $1.1) }
    }
}
