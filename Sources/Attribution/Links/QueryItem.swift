/// A parameter of a link, decoded.
public struct QueryItem: Hashable, Sendable {
    public let name: String
    /// Empty when there is no `=`.
    public let value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension QueryItem {
    /// The items of a query in their order, escapes and `+` decoded (application/x-www-form-urlencoded).
    ///
    /// The query comes without its question mark; bytes that are no UTF-8 become U+FFFD.
    public static func items(ofQuery query: Substring.UTF8View) -> [QueryItem] {
        query.split(separator: UInt8(ascii: "&")).map { pair in
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            let value = pair.dropFirst(name.count + 1)
            return QueryItem(
                name: String(decoding: PercentEncoding.decoded(name, plusIsBlank: true), as: UTF8.self),
                value: String(decoding: PercentEncoding.decoded(value, plusIsBlank: true), as: UTF8.self)
            )
        }
    }

    /// The value of a query's first item of this name, decoded; the others are passed over without decoding them.
    ///
    /// The name has no characters that need an escape; an item that spells it with one is not found.
    public static func value(of name: String, inQuery query: String) -> String? {
        var rest = query.utf8[...]
        while true {
            let pair = rest.prefix { $0 != UInt8(ascii: "&") }
            let isNamed = pair.starts(with: name.utf8)
            if isNamed, pair.count == name.utf8.count { return "" }
            let value = pair.dropFirst(name.utf8.count)
            if isNamed, value.first == UInt8(ascii: "=") {
                return String(
                    decoding: PercentEncoding.decoded(value.dropFirst(), plusIsBlank: true),
                    as: UTF8.self
                )
            }
            guard pair.endIndex < rest.endIndex else { return nil }
            rest = rest[query.utf8.index(after: pair.endIndex)...]
        }
    }

    /// The text that percent-encoded bytes of a path stand for.
    public static func text(ofPathPart part: String) -> String {
        String(decoding: PercentEncoding.decoded(part.utf8), as: UTF8.self)
    }
}

extension DeepLinkURL {
    /// The parameters in their order, decoded.
    public var queryItems: [QueryItem] {
        let bytes = text.utf8
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        guard let start = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) else { return [] }
        return QueryItem.items(ofQuery: bytes[bytes.index(after: start)..<end])
    }
}
