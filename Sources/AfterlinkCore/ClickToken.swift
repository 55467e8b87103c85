#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A click's token, as links carry it in their query item `al`.
struct ClickToken: Hashable, Sendable, Codable {
    let text: String

    private static let item = "al"
    /// The possible lengths; the server refuses a request with a longer token.
    private static let lengths = 20...128

    init?(_ text: String) {
        let isWord = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isWord, Self.lengths.contains(text.utf8.count) else { return nil }
        self.text = text
    }

    /// Reads the token of a link; nil if the link has none.
    init?(in url: URL) {
        guard let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems,
            let value = items.first(where: { $0.name == Self.item })?.value
        else { return nil }
        self.init(value)
    }

    /// Reads the token of a pasted link; nil if the text is not a link, is a link of another host, or has no token.
    ///
    /// - Parameters:
    ///   - text: the pasted text.
    ///   - hosts: the hosts of the app's links; if empty, any host is accepted.
    init?(pasted text: String, hosts: [String]) {
        guard text.utf8.count <= 4096, let url = URL(string: text.trimmed),
            let scheme = url.scheme?.lowercased(), scheme == "https" || scheme == "http",
            let host = url.host?.lowercased(),
            hosts.isEmpty || hosts.contains(where: { $0.lowercased() == host })
        else { return nil }
        self.init(in: url)
    }

    /// Returns a link without its token.
    static func removing(from url: URL) -> URL {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let items = components.percentEncodedQueryItems, items.contains(where: { $0.name == item })
        else { return url }
        let rest = items.filter { $0.name != item }
        components.percentEncodedQueryItems = rest.isEmpty ? nil : rest
        return components.url ?? url
    }
}

extension String {
    /// The text without white space at its ends.
    var trimmed: String {
        let reversed = reversed().drop(while: \.isWhitespace)
        return String(reversed.reversed().drop(while: \.isWhitespace))
    }
}

/// Random identifiers of 128 bits.
enum RandomID {
    static func make() -> String { UUID().uuidString.lowercased() }
}
