/// A page as a browser takes it apart, as far as tests need: its tags with their attributes, and its texts.
struct PageMarkup {
    struct Tag: Equatable {
        let name: String
        let attributes: [String: String]
    }

    private(set) var tags: [Tag] = []
    /// Scripts and styles, in their order.
    private(set) var rawTexts: [String] = []
    /// All else between tags.
    private(set) var text = ""

    init(_ page: String) {
        var rest = page[...]
        while let start = rest.firstIndex(of: "<") {
            text += Self.decoded(rest[..<start])
            rest = rest[rest.index(after: start)...]
            let tag = Self.tag(&rest)
            tags.append(tag)
            guard ["script", "style"].contains(tag.name), let end = rest.firstRange(of: "</\(tag.name)")
            else {
                continue
            }
            rawTexts.append(String(rest[..<end.lowerBound]))
            rest = rest[end.lowerBound...]
        }
        text += Self.decoded(rest)
    }

    /// The first tag with this value of its `id`.
    func tag(id: String) -> Tag? { tags.first { $0.attributes["id"] == id } }

    /// What a `meta` tag of this name or property says.
    func meta(_ name: String) -> String? {
        tags.first { $0.name == "meta" && ($0.attributes["name"] ?? $0.attributes["property"]) == name }?
            .attributes["content"]
    }

    var body: [String: String] { tags.first { $0.name == "body" }?.attributes ?? [:] }

    /// What no value may change: which tags there are, and which attributes they have.
    var structure: [String] {
        tags.map { tag in "\(tag.name) \(tag.attributes.keys.sorted().joined(separator: " "))" }
    }

    /// Reads up to behind the `>`; quoted values may hold one.
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
