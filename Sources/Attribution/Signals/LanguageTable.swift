/// The codes of languages, with their different spellings in browsers and systems.
public final class LanguageTable: Sendable {
    /// Maps each code, packed by ``packed(_:)``, to its canonical code.
    let canonicalCodes: [UInt64: String]
    let iosSpellings: [String: [Spelling]]
    let androidSpellings: [String: [Spelling]]

    /// Codes for an unknown language (ISO 639-2, RFC 5646), and the default locale of C programs.
    private static let unknown = Set(
        ["und", "mul", "zxx", "mis", "root", "posix"].compactMap { packed($0.utf8) }
    )

    init(_ rows: LanguageRows) {
        var codes: [UInt64: String] = [:]
        for (code, canonical) in rows.canonicalCodes {
            if let packed = Self.packed(code.utf8) { codes[packed] = canonical }
        }
        canonicalCodes = codes
        iosSpellings = Self.whole(rows.iosSpellings)
        androidSpellings = Self.whole(rows.androidSpellings)
    }

    /// Returns all spellings of each code: the others, and the code itself.
    private static func whole(_ others: [String: [Spelling]]) -> [String: [Spelling]] {
        Dictionary(uniqueKeysWithValues: others.map { ($0, Spelling.all(of: $0, others: $1)) })
    }

    /// Returns the code before the first `-`, `_`, `.` or `@`, in lower case and in its current spelling.
    ///
    /// Nil for a text that is no code (two to eight letters), and for the codes of an unknown language.
    public func canonical(_ tag: String) -> String? {
        guard let code = Self.packed(tag.utf8) else { return nil }
        return canonicalCodes[code] ?? (Self.unknown.contains(code) ? nil : Self.text(code))
    }

    /// Returns whether a text is the tag of a language, such as `tr`, `fil`, `pt-BR` or `zh_Hans`.
    ///
    /// The tag starts with a code of three letters, or with a code of two letters that is in the table.
    /// ``canonical(_:)`` also accepts other texts.
    public func isTag(_ text: String) -> Bool {
        let parts = text.utf8.split(omittingEmptySubsequences: false) {
            $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        }
        guard let code = parts.first, code.allSatisfy(\.isASCIILetter), canonical(text) != nil,
            code.count == 3
                || code.count == 2 && Self.packed(text.utf8).map({ canonicalCodes[$0] != nil }) ?? false
        else { return false }
        return parts.dropFirst().allSatisfy {
            (1...8).contains($0.count) && $0.allSatisfy(\.isASCIIAlphanumeric)
        }
    }

    /// Returns the spellings that apps may hash for a canonical code, most likely first.
    func spellings(of code: String, on platform: Platform) -> [Spelling] {
        let known = platform == .ios ? iosSpellings[code] : androidSpellings[code]
        return known ?? [Spelling(code, weight: 1)]
    }

    /// Packs the letters of the code at the start of a tag into a number, in lower case, a byte each, the
    /// first one highest.
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

/// The languages of a request's `Accept-Language`, the most preferred first (RFC 9110, 12.5.4).
public enum AcceptLanguage {
    /// The largest number of languages that are read.
    static let maximumCount = 16

    /// Returns the tags by descending quality, and tags of equal quality in their order; omits `*` and tags
    /// with a quality of zero or a malformed one.
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

    /// Reads `q=0.8` in thousandths; nil for any other text.
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

/// The languages that an app comes in, from which iOS chooses the app's language.
///
/// Source: Apple's "How iOS determines the language for your app" (QA1828): the first of the person's
/// preferred languages that the app has, else the app's development language.
public struct AppLocalization: Equatable, Sendable {
    /// Canonical codes.
    private let codes: Set<String>
    private let development: String?

    public static let unknown = AppLocalization()

    private init() {
        codes = []
        development = nil
    }

    /// - Parameters:
    ///   - localizations: the names that Xcode uses: `tr`, `pt-BR`, `zh-Hans`; `Base` is ignored.
    ///   - developmentLanguage: the language that the app falls back to.
    ///   - languages: the table of codes.
    public init(localizations: [String], developmentLanguage: String?, languages: LanguageTable) {
        development = developmentLanguage.flatMap { languages.canonical($0) }
        var codes = Set(
            localizations.filter { $0.asciiLowercased != "base" }.compactMap { languages.canonical($0) }
        )
        if let development { codes.insert(development) }
        self.codes = codes
    }

    /// Returns the language that the app gets for these preferred languages, all as canonical codes.
    ///
    /// Nil if the app's languages are unknown, or if `preferred` is empty. Nil too if the app has neither a
    /// preferred language nor a development language.
    public func negotiated(_ preferred: [String]) -> String? {
        guard !codes.isEmpty, !preferred.isEmpty else { return nil }
        return preferred.first { codes.contains($0) } ?? development
    }
}

extension App.Settings {
    /// Returns the languages of ``localizations`` and ``developmentLanguage``.
    public func localization(_ languages: LanguageTable) -> AppLocalization {
        guard !localizations.isEmpty || developmentLanguage != nil else { return .unknown }
        return AppLocalization(
            localizations: localizations,
            developmentLanguage: developmentLanguage,
            languages: languages
        )
    }
}
