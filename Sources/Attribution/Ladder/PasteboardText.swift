/// What an app found on the pasteboard at first launch: `https://<link host>/<slug>?al=<token>`, perhaps in the midst of
/// other text.
///
/// Only the reference is taken; nothing else of what somebody copied is kept.
public struct PasteboardText: Equatable, Sendable {
    /// Nil when there is no link that carries one.
    public let reference: ClickReference?

    /// How many characters the text may have; what comes behind them is not read.
    public static let maximumLength = 4096

    private static let schemes = ["https://", "http://"].map { Array($0.utf8) }

    /// The first link in the text that carries a whole reference counts, and before none the first that carries
    /// something in its place.
    public init(_ text: String) {
        let bytes = Array(Substring(text.unicodeScalars.prefix(Self.maximumLength)).utf8)
        let references = bytes.split(whereSeparator: Self.endsLink).lazy
            .compactMap { Self.link(in: $0).flatMap(Self.reference(in:)) }
        reference = references.first(where: \.isWellFormed) ?? references.first
    }

    /// The text that a page writes on the tap that leaves for the store.
    ///
    /// - Parameters:
    ///   - linkHost: the host of the server's links, with its port where it has one of its own.
    ///   - slug: the link's own part of its path.
    ///   - token: the click's.
    /// - Returns: the whole text, a link.
    public static func text(linkHost: String, slug: String, token: ClickToken) -> String {
        let slug = String(decoding: PercentEncoding.queryValue(slug), as: UTF8.self)
        return "https://\(linkHost)/\(slug)?\(ClickReference.linkName)=\(token.text)"
    }

    /// What stands in no link: blanks, controls, quotation marks, angle brackets.
    private static func endsLink(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == 0x7f || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "<")
            || byte == UInt8(ascii: ">")
    }

    /// A word from where a link begins in it.
    private static func link(in word: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        word.indices.lazy.map { word[$0...] }.first { rest in
            schemes.contains { scheme in
                rest.count > scheme.count && zip(rest, scheme).allSatisfy { $0.asciiLowercased == $1 }
            }
        }
    }

    private static func reference(in link: ArraySlice<UInt8>) -> ClickReference? {
        let link = link.prefix { $0 != UInt8(ascii: "#") }
        guard let mark = link.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        let query = String(decoding: link[(mark + 1)...], as: UTF8.self)
        return ClickReference(items: QueryItem.items(ofQuery: query[...].utf8))
    }
}
