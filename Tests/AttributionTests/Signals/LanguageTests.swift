import Attribution
import Testing

@Suite("Language codes")
struct LanguageTests {
    private let languages = DeviceData.embedded.languages

    @Test("agree between browser and app in the test vectors")
    func vectors() throws {
        let pairs = try Vectors.read("canonical", as: Vectors.Canonical.self).language
        #expect(pairs.count == 10)
        for pair in pairs {
            #expect(languages.canonical(pair.web) != nil)
            #expect(languages.canonical(pair.web) == languages.canonical(pair.native), "\(pair)")
        }
    }

    @Test(
        "have today's spelling",
        arguments: [
            ("iw", "he"), ("in", "id"), ("ji", "yi"), ("jw", "jv"), ("mo", "ro"), ("no", "nb"), ("tl", "fil"),
            ("sh", "sr"), ("tur", "tr"), ("ger", "de"), ("deu", "de"), ("heb", "he"), ("nor", "nb"),
            ("tgl", "fil"), ("yue", "yue"), ("TR", "tr"), ("zh-Hans_CN", "zh"), (" en-GB ", "en"),
            ("en_US.UTF-8", "en"), ("de@euro", "de"), ("kmr", "kmr"),
        ]
    )
    func canonical(_ tag: String, code: String) { #expect(languages.canonical(tag) == code) }

    @Test(
        "are unknown if they are malformed or undetermined",
        arguments: ["", "x", "türkçe", "|", "t|r", "und", "und-Latn", "mul", "C", "abcdefghi", "12", "e n"]
    )
    func unknown(_ tag: String) { #expect(languages.canonical(tag) == nil) }

    @Test("are tags only with a known code of two letters, or one of three")
    func tags() {
        for tag in ["tr", "fil", "yue", "pt-BR", "zh_Hans", "es-419", "EN", "zh-Hant-HK"] {
            #expect(languages.isTag(tag), "\(tag)")
        }
        let others = ["", "xx", "english", "und", " en", "en ", "tr-", "tr--TR", "tr|x", "tr.UTF-8", "t"]
        for tag in others { #expect(!languages.isTag(tag), "\(tag)") }
    }

    @Test("of iOS apps are the person's first language that the app has, else the app's default")
    func negotiation() {
        let app = AppLocalization(
            localizations: ["Base", "tr", "pt-BR", "iw"],
            developmentLanguage: "en",
            languages: languages
        )
        #expect(app.negotiated(["de", "tr", "en"]) == "tr")
        #expect(app.negotiated(["pt"]) == "pt")
        #expect(app.negotiated(["he"]) == "he")
        #expect(app.negotiated(["de"]) == "en")
        #expect(app.negotiated([]) == nil)
        #expect(AppLocalization.unknown.negotiated(["de"]) == nil)
        let single = AppLocalization(localizations: ["tr"], developmentLanguage: nil, languages: languages)
        #expect(single.negotiated(["tr"]) == "tr")
        #expect(single.negotiated(["de"]) == nil)
    }

    @Test(
        "of a request are ordered by quality, and else as given",
        arguments: [
            ("tr-TR,tr;q=0.9,en-US;q=0.8,en;q=0.7", ["tr-TR", "tr", "en-US", "en"]),
            ("en;q=0.5, tr , de;q=0.5", ["tr", "en", "de"]), ("*", []), ("tr;q=0, en", ["en"]),
            ("tr; q=0.001, en;q=1.000", ["en", "tr"]), ("tr;q=2, en;q=x, de", ["de"]), ("", []), (",,", []),
        ]
    )
    func acceptLanguage(_ field: String, tags: [String]) { #expect(AcceptLanguage.tags(field) == tags) }
}
