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

extension DeepLinkURL {
    /// The parameters in their order, escapes and `+` decoded (application/x-www-form-urlencoded).
    public var queryItems: [QueryItem] {
        guard let query = rawQuery else { return [] }
        return query.split(separator: UInt8(ascii: "&")).map { pair in
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            let value = pair.dropFirst(name.count + 1)
            return QueryItem(
                name: String(decoding: PercentEncoding.decoded(name, plusIsBlank: true), as: UTF8.self),
                value: String(decoding: PercentEncoding.decoded(value, plusIsBlank: true), as: UTF8.self)
            )
        }
    }

    private var rawQuery: Substring.UTF8View? {
        let bytes = text.utf8
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        guard let start = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) else { return nil }
        return bytes[bytes.index(after: start)..<end]
    }
}
