import Attribution
import DomainFiles
import Testing

@Suite("Patterns of domain files")
struct WildcardPatternTests {
    @Test(
        "fit as in Apple's documentation: * is any characters, slashes included, ? is one, ?* is one or more",
        arguments: [
            ("*", "", true), ("*", "/a/b", true), ("/products/*", "/products/1", true),
            ("/products/*", "/products/", true), ("/products/*", "/products", false),
            ("/products/*", "/products/1/reviews", true), ("/products/?", "/products/1", true),
            ("/products/?", "/products/12", false), ("/products/?", "/products/", false),
            ("/products/?*", "/products/", false), ("/products/?*", "/products/12", true),
            ("/????/*", "/2025/x", true), ("/????/*", "/202/x", false), ("*.html", "/a/b.html", true),
            ("*.html", "/a/b.htm", false), ("/a*c", "/abbbc", true), ("/a*c*e", "/abcde", true),
            ("/a*c*e", "/abcd", false), ("", "", true), ("", "x", false), ("/Products", "/products", false),
            ("/a.b", "/axb", false), ("/ğ?", "/ğü", true), ("*?", "", false), ("*?", "x", true),
        ]
    )
    func fits(pattern: String, text: String, isFit: Bool) {
        #expect(WildcardPattern(pattern).matches(text) == isFit)
    }

    @Test("ignore case on request")
    func ignoresCase() {
        #expect(WildcardPattern("/Products/*").matches("/pRODUCTS/x", ignoringCase: true))
        #expect(WildcardPattern("/ürün").matches("/ÜRÜN", ignoringCase: true))
        #expect(!WildcardPattern("/Products").matches("/produkts", ignoringCase: true))
    }

    @Test(
        "support the variables that Apple defines",
        arguments: [
            ("/$(digit)", "/7", true), ("/$(digit)", "/x", false), ("/$(digit)", "/77", false),
            ("/$(alpha)$(alpha)", "/aZ", true), ("/$(upper)", "/a", false), ("/$(lower)", "/a", true),
            ("/$(alnum)", "/-", false), ("/$(xdigit)", "/f", true), ("/$(xdigit)", "/g", false),
            ("/$(lang)/*", "/tr/x", true), ("/$(lang)/*", "/fil/x", true), ("/$(lang)/*", "/TR/x", false),
            ("/$(region)/", "/TR/", true), ("/$(region)/", "/tr/", false),
            ("/$(lang)-$(region)/*", "/tr-TR/a", true), ("/$(digit", "/$(digit", true),
        ]
    )
    func predefined(pattern: String, text: String, isFit: Bool) {
        #expect(WildcardPattern(pattern).matches(text) == isFit)
    }

    @Test("fit each value of a variable, with its wildcards")
    func variables() {
        let variables = [SubstitutionVariable(name: "food", values: ["burrito", "pizza*", "sushi"])]
        let pattern = WildcardPattern("/$(food)/price", variables: variables)
        #expect(pattern.matches("/burrito/price"))
        #expect(pattern.matches("/pizza/large/price"))
        #expect(!pattern.matches("/samosa/price"))
        #expect(pattern.unknownVariables.isEmpty)
        #expect(WildcardPattern("/$(drink)").unknownVariables == ["drink"])
        #expect(WildcardPattern("/$(drink)").matches("/$(drink)"), "an unknown name fits itself")
    }

    @Test("are compared in bounded time, even with many wildcards or values")
    func isBounded() {
        let pattern = WildcardPattern(String(repeating: "*a", count: 200) + "b")
        #expect(!pattern.matches(String(repeating: "a", count: 4000)))
        let many = SubstitutionVariable(name: "v", values: (0..<5000).map { "*\($0)" })
        let endless = WildcardPattern(String(repeating: "$(v)", count: 5000), variables: [many])
        #expect(!endless.matches(String(repeating: "1", count: 5000)))
        let long = WildcardPattern(String(repeating: "*a", count: 50_000))
        #expect(!long.covers(long, ignoringCase: false), "a pattern that is not compared covers no other")
    }

    @Test(
        "cover another pattern if they fit every text that the other pattern fits",
        arguments: [
            ("*", "/a/*", true), ("/a/*", "*", false), ("/a/*", "/a/b", true), ("/a/?", "/a/b", true),
            ("/a/?", "/a/*", false), ("/a/?*", "/a/*?", true), ("/a/*", "/a/?*", true),
            ("/a/?*", "/a/*", false), ("/a/b", "/a/b", true), ("/a/b", "/A/b", false), ("*/x", "/a/x", true),
            ("/*b*", "/abc", true), ("/?", "/$(digit)", true), ("/$(digit)", "/?", false),
            ("/?", "/$(lang)", false), ("/*", "/$(lang)", true),
        ]
    )
    func covers(wide: String, narrow: String, isCovered: Bool) {
        #expect(WildcardPattern(wide).covers(WildcardPattern(narrow), ignoringCase: false) == isCovered)
    }

    @Test("never cover a pattern that fits more texts")
    func coversSoundly() {
        let words = ["", "a", "b", "*", "?", "a*", "*a", "?*", "a?", "?b", "*b*", "ab", "a*b", "**", "?a*"]
        let texts = ["", "a", "b", "ab", "ba", "aa", "bb", "aab", "abb", "bab", "aba"]
        for wide in words.map({ WildcardPattern($0) }) {
            for narrow in words.map({ WildcardPattern($0) }) where wide.covers(narrow, ignoringCase: false) {
                for text in texts where narrow.matches(text) {
                    #expect(
                        wide.matches(text),
                        "\(wide.text) covers \(narrow.text), but does not fit \(text)"
                    )
                }
            }
        }
    }
}
