/// The languages of a request's `Accept-Language`, most wanted first (RFC 9110, 12.5.4).
public enum AcceptLanguage {
    /// The most that are read: browsers send a handful.
    static let maximumCount = 16

    /// Tags by falling quality, equal ones in their order; without `*` and those that are refused with a zero.
    public static func tags(_ field: String) -> [String] {
        var tags: [(tag: String, quality: Int, position: Int)] = []
        for part in field.utf8.split(separator: UInt8(ascii: ",")).prefix(maximumCount) {
            let pieces = part.split(separator: UInt8(ascii: ";"))
            guard let first = pieces.first else { continue }
            let tag = String(decoding: first, as: UTF8.self).trimmed
            let quality = pieces.count > 1 ? quality(pieces[1]) : 1000
            guard !tag.isEmpty, tag != "*", let quality, quality > 0 else { continue }
            tags.append((tag, quality, tags.count))
        }
        return tags.sorted { ($1.quality, $0.position) < ($0.quality, $1.position) }.map(\.tag)
    }

    /// `q=0.8` in thousandths; nil for what is none.
    private static func quality(_ parameter: some Sequence<UInt8>) -> Int? {
        let text = parameter.filter { !$0.isBlank }.map(\.asciiLowercased)
        guard text.count >= 3, text.count <= 7, text.starts(with: "q=".utf8) else { return nil }
        let whole = text[2]
        guard whole == UInt8(ascii: "0") || whole == UInt8(ascii: "1"),
            text.count == 3 || text[3] == UInt8(ascii: "."),
            text.dropFirst(4).allSatisfy(\.isASCIIDigit)
        else { return nil }
        var thousandths = Int(whole - UInt8(ascii: "0")) * 1000
        var place = 100
        for digit in text.dropFirst(4) {
            thousandths += Int(digit - UInt8(ascii: "0")) * place
            place /= 10
        }
        return thousandths <= 1000 ? thousandths : nil
    }
}
