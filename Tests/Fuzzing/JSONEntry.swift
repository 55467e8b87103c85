import JSON

extension FuzzEntry {
    /// A document: a value that is written and read again is the same value, with the same text.
    static let json = FuzzEntry(
        "json",
        tokens: [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\u0000", "\\ud83d", "\\ude00", "null", "true",
            "false", "0", "-", "1e9", ".5", "-0", "1E+400", " ", "\n", "\u{0}", "\u{feff}", "é", "{\"a\":",
            "[[[[[[[[",
        ]
    ) { (bytes, _) throws(BrokenPromise) in
        guard let value = try? JSONValue(parsing: bytes) else { return }
        try promise(depth(value) <= 32, "a document is deeper than allowed")
        let written = text(value)
        guard let again = try? JSONValue(parsing: written) else {
            throw BrokenPromise("a written value is refused")
        }
        try promise(again == value, "a written value is read differently")
        try promise(text(again) == written, "a value that was read again is written differently")
    }

    private static func text(_ value: JSONValue) -> [UInt8] {
        var writer = JSONWriter()
        writer.value(value)
        return writer.bytes
    }

    private static func depth(_ value: JSONValue) -> Int {
        switch value {
        case .array(let values): 1 + (values.map(depth).max() ?? 0)
        case .object(let object): 1 + (object.members.map { depth($0.value) }.max() ?? 0)
        default: 0
        }
    }
}
