internal import JSON

/// JSON as people read it: a line per member.
enum JSONLayout {
    /// Behind a mark on each line; text that is no JSON as it is.
    static func indented(_ text: String, by mark: String) -> String {
        let value = try? JSONValue(parsing: Array(text.utf8))
        return prefixed(value.map(Self.text) ?? text, by: mark)
    }

    static func prefixed(_ text: String, by mark: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { mark + $0 }.joined(
            separator: "\n"
        )
    }

    static func text(_ value: JSONValue) -> String {
        var json = JSONWriter(isPretty: true)
        json.value(value)
        return json.text
    }
}
