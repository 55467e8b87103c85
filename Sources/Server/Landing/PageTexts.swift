internal import Attribution

/// The texts of pages, by language.
struct PageTexts: Sendable {
    struct Language: Sendable {
        /// The code for HTML's `lang`.
        let code: String
        /// `ltr` or `rtl`.
        let direction: String
    }

    private let languages: [Language]
    private let texts: [String: [String: String]]

    init(_ rows: [DataRow]) {
        languages = rows.filter { $0.kind == "language" && $0.columns.count == 2 }.map {
            Language(code: $0.columns[0], direction: $0.columns[1])
        }
        var texts: [String: [String: String]] = [:]
        for row in rows where row.kind == "text" && row.columns.count == 3 {
            texts[row.columns[0], default: [:]][row.columns[1]] = row.columns[2]
        }
        self.texts = texts
    }

    /// The first accepted language that has texts, else the first language with texts.
    func language(acceptLanguage: String?) -> Language {
        for tag in acceptLanguage.map(AcceptLanguage.tags) ?? [] {
            let code = String(
                decoding: tag.utf8.prefix { $0 != UInt8(ascii: "-") }.map(Self.lowered),
                as: UTF8.self
            )
            if let language = languages.first(where: { $0.code == code }) { return language }
        }
        return languages.first ?? Language(code: "en", direction: "ltr")
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 0x20 : byte
    }

    /// The text of a key, with the app's name for `{app}`.
    func text(_ key: String, in language: Language, app: String = "") -> String {
        let text = texts[key]?[language.code] ?? texts[key]?["en"] ?? ""
        return text.split(separator: "{app}", omittingEmptySubsequences: false).joined(separator: app)
    }

    /// Every key with its languages.
    var coverage: [String: Set<String>] { texts.mapValues { Set($0.keys) } }
}
