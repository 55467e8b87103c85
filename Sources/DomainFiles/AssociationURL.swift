internal import Attribution

/// A URL of a link host, cut up as the rules of domain files see it.
public struct AssociationURL: Equatable, Sendable {
    /// In lower case; nil for a path alone.
    public let host: String?
    /// In ASCII, as browsers send it, escapes and all; at least `/`.
    public let path: String
    /// Behind `?`; nil without one.
    public let query: String?
    /// Behind `#`; nil without one.
    public let fragment: String?

    /// - Parameter text: a whole `https` URL, or a path such as `/products/1?x=y#z`; nil for anything else.
    public init?(_ text: String) {
        let text = text.trimmed
        let isPath = text.utf8.first == UInt8(ascii: "/")
        // The host of a path alone is dropped again.
        let whole = Array((isPath ? "https://path.invalid" + text : text).utf8)
        guard whole.allSatisfy({ $0 > 0x20 && $0 != 0x7f }), let written = try? URLParts(whole),
            written.scheme == "https" || written.scheme == "http", let host = try? written.host(),
            let parts = try? URLParts(written.encoded)
        else { return nil }
        self.host = isPath ? nil : host.name
        path = parts.path.isEmpty ? "/" : String(decoding: parts.path, as: UTF8.self)
        query = parts.query.map { String(decoding: $0, as: UTF8.self) }
        fragment = parts.fragment.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The values of all query items of a name, as written; one without `=` has an empty one.
    func values(of name: String) -> [String] {
        (query ?? "").split(separator: "&").compactMap { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let written = String(parts[0])
            guard written == name || Self.decoded(written) == name else { return nil }
            return parts.count == 2 ? String(parts[1]) : ""
        }
    }

    static func decoded(_ text: String) -> String {
        String(decoding: PercentEncoding.decoded(text.utf8), as: UTF8.self)
    }
}
