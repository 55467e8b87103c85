/// The language codes that browsers and systems spell differently.
public enum LanguageCode {
    /// Codes that were replaced, and common three-letter codes with a two-letter one (ISO 639).
    private static let replacements = [
        "iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro", "no": "nb", "tl": "fil", "sh": "sr",
        "ara": "ar", "ces": "cs", "cze": "cs", "dan": "da", "deu": "de", "ger": "de", "ell": "el",
        "gre": "el",
        "eng": "en", "spa": "es", "fas": "fa", "per": "fa", "fin": "fi", "fra": "fr", "fre": "fr",
        "heb": "he",
        "hin": "hi", "hun": "hu", "ind": "id", "ita": "it", "jpn": "ja", "kor": "ko", "msa": "ms",
        "may": "ms",
        "nld": "nl", "dut": "nl", "nob": "nb", "nor": "nb", "pol": "pl", "por": "pt", "ron": "ro",
        "rum": "ro",
        "rus": "ru", "srp": "sr", "swe": "sv", "tha": "th", "tur": "tr", "ukr": "uk", "vie": "vi",
        "zho": "zh",
        "chi": "zh",
    ]

    /// The code before the first `-`, `_`, `.` or `@`, in lower case and in its present spelling.
    ///
    /// Nil for what is no code: fewer than two or more than eight letters, or other characters.
    public static func canonical(_ tag: String) -> String? {
        let code = tag.trimmed.asciiLowercased.prefix { !"-_.@".contains($0) }
        guard (2...8).contains(code.utf8.count), code.utf8.allSatisfy(\.isASCIILetter) else { return nil }
        return replacements[String(code)] ?? String(code)
    }
}
