/// What a request says about whether a person waits for it.
///
/// Browsers fetch pages, and even run them, before anybody has tapped a link, and say so: `Sec-Purpose: prefetch` with
/// parameters such as `;prerender` (the prefetch specification of the W3C's nav-speculation), in older ones `Purpose`, in
/// Firefox before 115 `X-Moz`, in old Safari `X-Purpose: preview`.
public enum Prefetching {
    /// The header fields that may say so, in lower case.
    public static let fieldNames = ["sec-purpose", "purpose", "x-purpose", "x-moz"]

    private static let words = ["prefetch", "prerender", "preview", "instant"]

    /// Whether the value of such a field says that nobody waits: one of its items is a word for it, whatever the item's
    /// parameters are.
    public static func isAnnounced(by value: Span<UInt8>) -> Bool {
        var bytes: [UInt8] = []
        for index in value.indices { bytes.append(value[index].asciiLowercased) }
        return bytes.split(separator: UInt8(ascii: ",")).contains { item in
            let word = item.prefix { $0 != UInt8(ascii: ";") }.trimmed
            return words.contains { word.elementsEqual($0.utf8) }
        }
    }
}
