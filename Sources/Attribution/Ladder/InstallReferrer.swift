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
