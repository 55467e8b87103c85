/// The codes of languages, of which browsers and systems spell some differently.
public final class LanguageTable: Sendable {
    /// By ``packed(_:)``.
    let canonicalCodes: [UInt64: String]
    let iosSpellings: [String: [Spelling]]
    let androidSpellings: [String: [Spelling]]

    /// Codes for "no language known" (ISO 639-2, RFC 5646), and the default locale of C programs.
    private static let unknown = Set(
        ["und", "mul", "zxx", "mis", "root", "posix"].compactMap { packed($0.utf8) }
    )

    init(_ rows: LanguageRows) {
        var codes: [UInt64: String] = [:]
        for (code, canonical) in rows.canonicalCodes {
            if let packed = Self.packed(code.utf8) { codes[packed] = canonical }
        }
        canonicalCodes = codes
        iosSpellings = rows.iosSpellings.mapValuesWithKeys { Spelling.all(of: $0, others: $1) }
        androidSpellings = rows.androidSpellings.mapValuesWithKeys { Spelling.all(of: $0, others: $1) }
    }

    /// The code before the first `-`, `_`, `.` or `@`, in lower case and in its present spelling.
    ///
    /// Nil for what is no code: fewer than two or more than eight letters, or other characters; and for the
    /// codes that say that the language is not known.
    public func canonical(_ tag: String) -> String? {
        guard let code = Self.packed(tag.utf8) else { return nil }
        return canonicalCodes[code] ?? (Self.unknown.contains(code) ? nil : Self.text(code))
    }

    /// What apps on a device in this language may hash, most likely first; `code` is canonical.
    func spellings(of code: String, on platform: Platform) -> [Spelling] {
        let known = platform == .ios ? iosSpellings[code] : androidSpellings[code]
        return known ?? [Spelling(code, weight: 1)]
    }

    /// The letters of the code at the beginning of a tag, in lower case, a byte each, the first one highest.
    private static func packed(_ tag: String.UTF8View) -> UInt64? {
        var code: UInt64 = 0
        var count = 0
        for byte in tag {
            if byte.isASCIILetter {
                guard count < 8 else { return nil }
                code = code << 8 | UInt64(byte.asciiLowercased)
                count += 1
                continue
            }
            let isSpace = byte == 0x20 || (0x09...0x0d).contains(byte)
            if isSpace, count == 0 { continue }
            let isEnd =
                byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
                || byte == UInt8(ascii: "@")
            guard isEnd || isSpace else { return nil }
            break
        }
        return count >= 2 ? code : nil
    }

    private static func text(_ code: UInt64) -> String {
        let bytes = (0..<8).reversed().map { UInt8(truncatingIfNeeded: code >> UInt64($0 * 8)) }
        return String(decoding: bytes.drop { $0 == 0 }, as: UTF8.self)
    }
}

extension Dictionary {
    fileprivate func mapValuesWithKeys<Mapped>(_ transform: (Key, Value) -> Mapped) -> [Key: Mapped] {
        Dictionary<Key, Mapped>(uniqueKeysWithValues: map { ($0.key, transform($0.key, $0.value)) })
    }
}
