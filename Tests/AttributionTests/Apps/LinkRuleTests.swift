import Attribution
import Testing

@Suite("Rules that operators write")
struct LinkRuleTests {
    @Test(
        "keep their text when they are parsed and written again",
        arguments: [
            "/products/*", "exclude /help/*", "/search ?q=?*&lang=tr", "exclude #web", "?*campaign*",
            "* #top ignore-case", "/ürün/* decoded", "/$(lang)/*", "exclude /legal/* -- lawyers want the web",
        ]
    )
    func roundTrips(text: String) throws { #expect(try LinkRule(parsing: text).text == text) }

    @Test("consist of a path, a query, a fragment, settings and a comment, and may exclude what they match")
    func reads() throws {
        let text = "exclude  /p/* ?id=?*&kind=a* #x* ignore-case decoded -- why not"
        let rule = try LinkRule(parsing: text).component
        #expect(rule.path == "/p/*")
        let items = [QueryItem(name: "id", value: "?*"), QueryItem(name: "kind", value: "a*")]
        #expect(rule.query == .items(items))
        #expect(rule.fragment == "x*")
        #expect(rule.excludes)
        #expect(rule.settings == MatchingSettings(caseSensitive: false, percentEncoded: false))
        #expect(rule.comment == "why not")
        #expect(try LinkRule(parsing: "??*").component.query == .pattern("?*"))
    }

    @Test(
        "are refused with a message if a part is missing, unknown, repeated, malformed or too long",
        arguments: [
            ("", LinkRuleError.empty), ("exclude", .empty), ("ignore-case", .empty),
            ("products/*", .unknownWord("products/*")), ("/a /b", .repeated("/b")), ("/a#b", .glued("/a#b")),
            ("/a ?x=1 ?y=2", .repeated("?y=2")), ("/a ?x=1&", .malformedItem("")),
            ("/a ?=1&x=2", .malformedItem("=1")), ("/a ?x=1&x=2", .repeated("x")),
            ("/a #b #c", .repeated("#c")), ("/a exclude", .misplacedExclude),
            ("exclude /a exclude", .misplacedExclude),
            ("/a ignore-case ignore-case", .repeated("ignore-case")),
            ("https://a.example/b", .unknownWord("https://a.example/b")),
            ("/$(drink)", .unknownVariable("drink")), ("/a\n/b", .controlCharacter),
            ("/*a*b*c*d*e*f*g*h*i", .tooManyWildcards("/*a*b*c*d*e*f*g*h*i")),
            ("/" + String(repeating: "a", count: 512), .tooLong),
        ]
    )
    func refuses(text: String, error: LinkRuleError) {
        #expect(throws: error) { try LinkRule(parsing: text) }
        #expect(error.message.hasSuffix("."))
    }
}
