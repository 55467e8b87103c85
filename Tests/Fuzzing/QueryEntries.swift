import Attribution

extension FuzzEntry {
    private static let queryTokens = [
        "&", "=", "%", "%00", "%26", "%3D", "%ff", "%C3%A9", "+", "%2B", "#", "?", ";", "fingerprint",
        "fingerprint=", "\u{0}", "é", "%u0041",
    ]

    /// The query of a request target: reading one item agrees with reading all.
    static let query = FuzzEntry(text: "query", tokens: queryTokens) { (text) throws(BrokenPromise) in
        let items = QueryItem.items(ofQuery: text[...].utf8)
        try promise(items.count <= text.utf8.count + 1, "there are more items than text")
        if let value = QueryItem.value(of: "fingerprint", inQuery: text) {
            let first = items.first { $0.name == "fingerprint" || $0.name.isEmpty }
            let isFound = first == nil || items.contains(QueryItem(name: "fingerprint", value: value))
            try promise(isFound, "one item alone is read differently")
        }
        let written = items.map { "\(escaped($0.name))=\(escaped($0.value))" }.joined(separator: "&")
        let isSame = items.isEmpty || QueryItem.items(ofQuery: written[...].utf8) == items
        try promise(isSame, "written items are read differently")
    }

    /// Percent-encoding, as in a path: decoding undoes encoding.
    static let percentEncoding = FuzzEntry(text: "percent-encoding", tokens: queryTokens) {
        (text) throws(BrokenPromise) in
        let decoded = QueryItem.text(ofPathPart: text)
        // U+FFFD, which replaces a byte that is not UTF-8, has three bytes.
        try promise(decoded.utf8.count <= 3 * text.utf8.count, "decoding makes a text longer")
        try promise(QueryItem.text(ofPathPart: escaped(text)) == text, "decoding does not undo encoding")
    }

    private static func escaped(_ text: String) -> String {
        text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
