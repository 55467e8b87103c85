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
            let items = QueryItem.items(ofQuery: Self.query(of: text)[...].utf8)
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

    /// What follows the question mark, if it is a whole link.
    private static func query(of text: [UInt8]) -> String {
        let mark = text.firstIndex(of: UInt8(ascii: "?")).map { $0 + 1 }
        return String(decoding: text[(mark ?? 0)...], as: UTF8.self).trimmed
    }
}
