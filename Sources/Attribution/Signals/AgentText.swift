/// A user agent as bytes, and finding marked values in it.
struct AgentText {
    let bytes: [UInt8]

    init(_ text: Span<UInt8>) {
        bytes = [UInt8](capacity: text.count) { free in
            for index in text.indices { free.append(text[index]) }
        }
    }

    func contains(_ mark: String) -> Bool {
        end(of: mark) != nil
    }

    /// What follows `mark` as long as `belongs` holds; nil when the mark is missing or nothing follows it.
    func value(after mark: String, while belongs: (UInt8) -> Bool) -> String? {
        guard let start = end(of: mark) else { return nil }
        let value = bytes[start...].prefix(while: belongs)
        return value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
    }

    /// The version that follows `mark`, of digits, dots and underscores.
    func version(after mark: String) -> OSVersion? {
        value(after: mark) { $0.isASCIIDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_") }
            .flatMap { OSVersion($0) }
    }

    /// Where the first occurrence of `mark` ends, after `start`.
    func end(of mark: String, from start: Int = 0) -> Int? {
        let mark = mark.utf8.span
        let text = bytes.span
        guard !mark.isEmpty, text.count >= mark.count else { return nil }
        let first = mark[0]
        var index = start
        while index <= text.count - mark.count {
            if text[index] == first {
                var length = 1
                while length < mark.count, text[index + length] == mark[length] { length += 1 }
                if length == mark.count { return index + length }
            }
            index += 1
        }
        return nil
    }
}
