internal import Server

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
        write(value, to: &json)
        return json.text
    }

    private static func write(_ value: JSONValue, to json: inout JSONWriter) {
        switch value {
        case .null: json.null()
        case .bool(let flag): json.value(flag)
        case .number(let number): json.raw(number.text.utf8)
        case .string(let text): json.value(text)
        case .array(let values):
            json.array { json in for value in values { write(value, to: &json) } }
        case .object(let object):
            json.object { json in
                for member in object.members {
                    json.name(member.name)
                    write(member.value, to: &json)
                }
            }
        }
    }
}
