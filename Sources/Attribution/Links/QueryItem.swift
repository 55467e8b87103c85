/// A parameter of a link, decoded.
public struct QueryItem: Hashable, Sendable {
    public let name: String
    /// Empty if there is no `=`.
    public let value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Returns the items of a query, in their order; only those whose decoded names `isWanted` accepts.
    ///
    /// In names and values, escapes and `+` are decoded (application/x-www-form-urlencoded).
    ///
    /// `query` does not include the question mark; bytes that are not UTF-8 become U+FFFD.
    public static func items(
        ofQuery query: Substring.UTF8View,
        where isWanted: (_ name: String) -> Bool = { _ in true }
    ) -> [QueryItem] {
        query.split(separator: UInt8(ascii: "&")).compactMap { pair in
            let encodedName = pair.prefix { $0 != UInt8(ascii: "=") }
            let name = decoded(encodedName)
            guard isWanted(name) else { return nil }
            return QueryItem(name: name, value: decoded(pair.dropFirst(encodedName.count + 1)))
        }
    }

    private static func decoded(_ part: Substring.UTF8View) -> String {
        guard part.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
            return String(Substring(part))
        }
        return String(decoding: PercentEncoding.decoded(part, plusIsBlank: true), as: UTF8.self)
    }

    /// Returns the decoded value of a query's first item of this name, without decoding the others; nil
    /// without such an item.
    ///
    /// `name` must not contain characters that need an escape. The query may escape characters of the item's name.
    public static func value(of name: String, inQuery query: String) -> String? {
        withValue(of: name, in: query.utf8.span) { value in
            var bytes: [UInt8] = []
            bytes.reserveCapacity(value.count)
            for index in value.indices { bytes.append(value[index]) }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Passes the decoded value of the first item of this name to `read`, without a copy if nothing is
    /// escaped; returns nil without such an item.
    public static func withValue<Result>(
        of name: String,
        in query: Span<UInt8>,
        _ read: (Span<UInt8>) -> Result
    ) -> Result? {
        value(of: name, in: query, from: 0).map { withDecoded(query.extracting($0), read) }
    }

    /// Passes the decoded value of the only item of this name to `read`; returns nil unless there is exactly one.
    public static func withOnlyValue<Result>(
        of name: String,
        in query: Span<UInt8>,
        _ read: (Span<UInt8>) -> Result
    ) -> Result? {
        guard let only = value(of: name, in: query, from: 0),
            value(of: name, in: query, from: only.upperBound + 1) == nil
        else { return nil }
        return withDecoded(query.extracting(only), read)
    }

    /// Returns the range of the value of the first item of this name that starts at `start` or later; nil
    /// without such an item.
    private static func value(of name: String, in query: Span<UInt8>, from start: Int) -> Range<Int>? {
        var start = start
        while start < query.count {
            var end = start
            while end < query.count, query[end] != UInt8(ascii: "&") { end += 1 }
            if let value = value(ofItem: query.extracting(start..<end), name: name) {
                return start + value..<end
            }
            start = end + 1
        }
        return nil
    }

    /// Returns the offset of the value in an item of this name; nil for an item of another name.
    private static func value(ofItem item: Span<UInt8>, name: String) -> Int? {
        let name = name.utf8.span
        var end = 0
        for index in name.indices {
            guard end < item.count else { return nil }
            if item[end] == name[index] {
                end += 1
            } else if PercentEncoding.escapedByte(in: item, at: end) == name[index] {
                end += 3
            } else {
                return nil
            }
        }
        guard end < item.count else { return end }
        return item[end] == UInt8(ascii: "=") ? end + 1 : nil
    }

    private static func withDecoded<Result>(_ value: Span<UInt8>, _ read: (Span<UInt8>) -> Result) -> Result {
        var index = 0
        while index < value.count, value[index] != UInt8(ascii: "%"), value[index] != UInt8(ascii: "+") {
            index += 1
        }
        guard index < value.count else { return read(value) }
        var bytes: [UInt8] = []
        for index in value.indices { bytes.append(value[index]) }
        return read(PercentEncoding.decoded(bytes, plusIsBlank: true).span)
    }

    /// Returns the text of a percent-encoded part of a path.
    public static func text(ofPathPart part: String) -> String {
        String(decoding: PercentEncoding.decoded(part.utf8), as: UTF8.self)
    }

    /// Returns items as a query without its question mark, with encoded names and values.
    public static func query(of items: [QueryItem]) -> String {
        var query: [UInt8] = []
        for item in items {
            if !query.isEmpty { query.append(UInt8(ascii: "&")) }
            query += PercentEncoding.queryValue(item.name)
            query.append(UInt8(ascii: "="))
            query += PercentEncoding.queryValue(item.value)
        }
        return String(decoding: query, as: UTF8.self)
    }
}

extension DeepLinkURL {
    /// The decoded parameters in their order.
    public var queryItems: [QueryItem] { queryItems { _ in true } }

    /// Returns the decoded parameters in their order; only those whose names `isWanted` accepts.
    func queryItems(where isWanted: (_ name: String) -> Bool) -> [QueryItem] {
        let bytes = text.utf8
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        guard let start = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) else { return [] }
        return QueryItem.items(ofQuery: bytes[bytes.index(after: start)..<end], where: isWanted)
    }
}
