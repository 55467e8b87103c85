/// What a launch brings that names the click which led to it: a signed token, or the click's bare identifier.
public enum ClickReference: Hashable, Sendable {
    /// A text that claims to be a token; nothing of it is verified, not even its form.
    case token(String)
    case click(ClickID)

    /// The name under which links, referrers and pasteboard texts carry one.
    public static let linkName = "al"

    /// What carries one in links, referrers and pasteboard texts.
    ///
    /// `token` is not among them: it is a name that other people's links have, with secrets behind it.
    private static let itemNames = [linkName, "click_id"]

    /// No token and no identifier comes near it; what is longer is cut, and is no token then either.
    public static let maximumLength = 128

    /// Nil for an empty text alone: what is neither a token nor an identifier is refused where tokens are verified, so
    /// that somebody is told.
    public init?(_ text: String) {
        let text = text.trimmed
        guard !text.isEmpty else { return nil }
        if let click = ClickID(text) {
            self = .click(click)
        } else {
            self = .token(String(decoding: text.utf8.prefix(Self.maximumLength), as: UTF8.self))
        }
    }

    /// Whether it has the form of a token or is an identifier: anything else is no more than worth a message.
    public var isWellFormed: Bool {
        switch self {
        case .token(let text): ClickToken.hasForm(of: text)
        case .click: true
        }
    }

    /// The first reference among the parameters of a link or a referrer.
    ///
    /// Apps put more into a referrer behind a wrong separator, and people write on behind a link: a reference ends with
    /// the first character that none has.
    init?(items: [QueryItem]) {
        let references = Self.itemNames.lazy.flatMap { name in
            items.lazy.filter { $0.name == name }.compactMap { item in
                let value = item.value.trimmed.utf8.prefix { Base64URL.value(of: $0) != nil }
                return ClickReference(String(decoding: value, as: UTF8.self))
            }
        }
        guard let first = references.first(where: \.isWellFormed) ?? references.first else { return nil }
        self = first
    }
}

/// The text that a store kept from the link to its page until the first launch: `al=<token>&utm_source=…`.
///
/// Google's install referrer service gives it as it was before it was put into the store's link. Apps hand it on
/// percent-encoded once more, or with all of the store's link around it.
public struct InstallReferrer: Equatable, Sendable {
    /// What it says about the click; nil for an install that came from no link of ours.
    public let reference: ClickReference?

    /// How many characters the text may have.
    ///
    /// Our own has fewer than 500, with the reference first.
    public static let maximumLength = 4096

    /// How often it may have been percent-encoded more than it should, or wrapped.
    private static let mostLayers = 3

    public init(_ text: String) {
        reference = Self.reference(in: Array(Substring(text.unicodeScalars.prefix(Self.maximumLength)).utf8))
    }

    private static func reference(in text: [UInt8]) -> ClickReference? {
        var text = text
        for _ in 0...mostLayers {
            let items = Self.readings(of: text).flatMap { QueryItem.items(ofQuery: $0[...].utf8) }
            if let reference = ClickReference(items: items) { return reference }
            if let inner = items.first(where: { $0.name == "referrer" })?.value {
                text = Array(inner.utf8)
            } else {
                let decoded = PercentEncoding.decoded(text)
                guard decoded != text else { return nil }
                text = decoded
            }
        }
        return nil
    }

    /// The text itself, and what follows its question mark, if it is a whole link: a value may have one too.
    private static func readings(of text: [UInt8]) -> [String] {
        let mark = text.firstIndex(of: UInt8(ascii: "?")).map { $0 + 1 }
        let starts = [0] + (mark.map { [$0] } ?? [])
        return starts.map { String(decoding: text[$0...], as: UTF8.self).trimmed }
    }
}

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
