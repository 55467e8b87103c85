/// A launch's reference to its click: a signed token, or the click's unsigned identifier.
public enum ClickReference: Hashable, Sendable {
    /// A text that may be a token; neither its form nor its signature has been verified.
    case token(String)
    case click(ClickID)

    /// The name of the parameter with which Afterlink adds a reference to links and referrers.
    public static let linkName = "al"

    /// The names of the parameters that are read as references, in order of preference.
    ///
    /// They do not include `token`, because links of other services use that name for secrets.
    private static let itemNames = [linkName, "click_id"]

    /// The largest number of bytes that are read: more than any token or identifier has, so a text that is
    /// cut here is invalid.
    public static let maximumLength = 128

    /// Returns nil only for a text that is empty or consists of white space.
    ///
    /// Any text that is no identifier becomes a ``token(_:)``; the verification of tokens rejects wrong ones
    /// with a reason.
    public init?(_ text: String) {
        let text = text.trimmed
        guard !text.isEmpty else { return nil }
        if let click = ClickID(text) {
            self = .click(click)
        } else {
            self = .token(String(decoding: text.utf8.prefix(Self.maximumLength), as: UTF8.self))
        }
    }

    /// Whether the reference is an identifier or has the form of a token; any other reference is rejected without
    /// further tests.
    public var isWellFormed: Bool {
        switch self {
        case .token(let text): ClickToken.hasForm(of: text)
        case .click: true
        }
    }

    /// Reads the first well-formed reference among the parameters of a link or a referrer.
    ///
    /// Parameters named `al` come before those named `click_id`. If none is well-formed, the result is the first broken
    /// reference; nil if there is none.
    ///
    /// A reference ends at the first character that cannot be part of one: some apps append text to a referrer with a
    /// wrong separator, and people write text directly after a link.
    init?(items: [QueryItem]) {
        let references = Self.itemNames.lazy.flatMap { name in
            items.lazy.filter { $0.name == name }.compactMap { item -> ClickReference? in
                let value = item.value.trimmed.utf8.prefix { Base64URL.value(of: $0) != nil }
                let reference = ClickReference(String(decoding: value, as: UTF8.self))
                // Other services name their own ids `click_id`; such an id is no broken reference to a click.
                let isOurs = name == Self.linkName || value.starts(with: "\(ClickSubject.prefix)_".utf8)
                return isOurs ? reference : reference.flatMap { $0.isWellFormed ? $0 : nil }
            }
        }
        guard let first = references.first(where: \.isWellFormed) ?? references.first else { return nil }
        self = first
    }
}

/// The text that Google's store takes from the link to an app's page and passes to the app's first launch:
/// `al=<token>&utm_source=…`.
///
/// The store's install referrer service returns the text that was encoded into the link. Some apps encode it
/// once more, or send the whole link.
public struct InstallReferrer: Equatable, Sendable {
    /// The reference to the click; nil if the text has none, as after an install that came from no Afterlink link.
    public let reference: ClickReference?
    /// Whether Google Play states that no campaign link led to the store: its referrer for such an installation is
    /// `utm_source=google-play&utm_medium=organic`.
    public let isOrganic: Bool

    /// The largest number of characters that are read.
    ///
    /// Afterlink's own text has fewer than 500, with the reference first.
    public static let maximumLength = 4096

    /// The largest number of additional percent-encodings and enclosing links that are removed.
    private static let maximumLayers = 3

    public init(_ text: String) {
        let text = Array(Substring(text.unicodeScalars.prefix(Self.maximumLength)).utf8)
        reference = Self.first(in: text) { ClickReference(items: $0) }
        let organic = [("utm_source", "google-play"), ("utm_medium", "organic")].map {
            QueryItem(name: $0, value: $1)
        }
        isOrganic =
            reference == nil
            && Self.first(in: text) { items in organic.allSatisfy(items.contains) ? true : nil } != nil
    }

    /// Returns what `read` finds in the items of a text, or else in the items of a text that is nested or
    /// encoded in it.
    private static func first<Value>(in text: [UInt8], _ read: ([QueryItem]) -> Value?) -> Value? {
        var text = text
        for _ in 0...maximumLayers {
            let items = Self.readings(of: text).flatMap { QueryItem.items(ofQuery: $0[...].utf8) }
            if let value = read(items) { return value }
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

    /// Returns the text itself, and the part after its first question mark, because the text may be a whole
    /// link or a value with a question mark.
    private static func readings(of text: [UInt8]) -> [String] {
        let mark = text.firstIndex(of: UInt8(ascii: "?")).map { $0 + 1 }
        let starts = [0] + (mark.map { [$0] } ?? [])
        return starts.map { String(decoding: text[$0...], as: UTF8.self).trimmed }
    }
}

/// The pasteboard's text at first launch: `https://<link host>/<slug>?al=<token>`, possibly within other text.
///
/// Only the reference is read; nothing else on the pasteboard is stored.
public struct PasteboardText: Equatable, Sendable {
    /// The reference to the click; nil if the text contains no link with one.
    public let reference: ClickReference?

    /// The largest number of characters that are read.
    public static let maximumLength = 4096

    private static let schemes = ["https://", "http://"].map { Array($0.utf8) }

    /// Reads the first link with a well-formed reference, or else the first link with any reference.
    public init(_ text: String) {
        let bytes = Array(Substring(text.unicodeScalars.prefix(Self.maximumLength)).utf8)
        let references = bytes.split(whereSeparator: Self.endsLink).lazy
            .compactMap { Self.link(in: $0).flatMap(Self.reference(in:)) }
        reference = references.first(where: \.isWellFormed) ?? references.first
    }

    /// Returns whether a byte cannot be part of a link: a blank, a control, `"`, `<` or `>`.
    private static func endsLink(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == 0x7f || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "<")
            || byte == UInt8(ascii: ">")
    }

    /// Returns the part of a word from the start of a link in it; nil if it contains no link.
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

/// The link to an app's page in Google's store, with a click's token for the first launch.
///
/// If a referrer is too long, the store drops all of it. Source: the Play Install Referrer documentation.
public struct PlayStoreLink: Equatable, Sendable {
    public let text: String

    /// The limit of the whole link's length in bytes, exclusive.
    public static let byteLimit = 500

    private static let start = "https://play.google.com/store/apps/details?id="

    /// Returns nil for a text that is no package name.
    ///
    /// - Parameters:
    ///   - package: the app's application id, `com.example.shop`.
    ///   - token: the click's token; it comes first, so that the link still contains the token if a program
    ///     cuts the link.
    ///   - utm: the items for the store's own reports, the most important first. An item that does not fit is
    ///     omitted as a whole, because half a campaign's name would count as another campaign.
    public init?(package: String, token: ClickToken, utm: [QueryItem] = []) {
        guard let text = Self.text(package, token.text, utm) else { return nil }
        self.text = text
    }

    /// The placeholder for the token in ``template(package:utm:)``.
    public static let place = "{al}"

    /// Returns the link of ``init(package:token:utm:)`` with the placeholder ``place``, for a page that gets
    /// the token later; nil for a text that is no package name.
    public static func template(package: String, utm: [QueryItem] = []) -> String? {
        text(package, place, utm)
    }

    private static func text(_ package: String, _ token: String, _ utm: [QueryItem]) -> String? {
        guard isPackage(package) else { return nil }
        var text = Array("\(start)\(package)&referrer=".utf8)
        text += PercentEncoding.queryValue("\(ClickReference.linkName)=")
        text += token.utf8
        let spare = ClickToken.textLength - token.utf8.count
        for item in utm where !item.name.isEmpty && !item.value.isEmpty {
            // Items are escaped for the referrer, whose values may contain separators, and again for the link.
            let more = PercentEncoding.queryValue("&\(escaped(item.name))=\(escaped(item.value))")
            if text.count + spare + more.count < byteLimit { text += more }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func escaped(_ text: String) -> String {
        String(decoding: PercentEncoding.queryValue(text), as: UTF8.self)
    }

    /// Returns whether a text can be an Android application id: at most 255 bytes in two or more segments of
    /// letters, digits and underscores, each starting with a letter.
    package static func isPackage(_ text: String) -> Bool {
        let segments = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= 255 && segments.count >= 2
            && segments.allSatisfy { segment in
                segment.first?.isASCIILetter == true
                    && segment.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "_") }
            }
    }
}
