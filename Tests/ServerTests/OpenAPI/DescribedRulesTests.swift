import Attribution
internal import JSON
import Server
import Support
import Testing

/// Compares the pattern of `link_rules` with the reader of rules, which must accept every text that the pattern allows.
@Suite("Link rules in the description of the API")
struct DescribedRulesTests {
    private let schema = Described.api.schema("AppChange")["properties"]["link_rules"]["items"]

    private func describes(_ text: String) throws -> Bool {
        let pattern = try #require(schema["pattern"].string)
        let limit = try #require(schema["maxLength"].double)
        let regex = try Regex(pattern).matchingSemantics(.unicodeScalar)
        return Double(text.unicodeScalars.count) <= limit && text.contains(regex)
    }

    /// Returns whether the admin API accepts a rule.
    private func accepts(_ text: String) -> Bool {
        var fields = AppLinkFields()
        fields[.rules] = [text]
        return (try? AppLinks(fields)) != nil
    }

    @Test(
        "the description refuses rules that the service refuses",
        arguments: [
            "?a=1&a=2", "/x ?a=1&b=2&a=3", "??a=1&?a=2", "?=1", "?a=1&=2", "?a&b=1", "?a=1&b", "?a=1&",
            "?&a=1", "/a#b", "*#b", "$(lang)#b", "?q=1#top", "?a#b", "?a#b=1", "/a ?#",
            "/$(x)", "/$()", "/$(Lang)", "?$(x)", "?a=$(x)", "#$(x)", "/$(lang$(x))",
            "*********", "/a/*/*/*/*/*/*/*/*/*", "?*********", "?a=*********", "#*********",
            "/a /b", "/a * ", "?a ?b", "?a=1 ?b=2", "#a #b", "/a ignore-case ignore-case",
            "/a decoded decoded", "exclude exclude /a", "/a exclude", "exclude", "exclude ?a=1&a=2",
            "ignore-case", "decoded", "-- x", "  -- x", "exclude -- x", "/a --", "/a --x", "a", "a/b", "=",
            "&", "/a b", "/a\t", "\t/a", "/a\n", "\u{7f}", "/\u{1f}", "#\u{7f}",
            "/" + String(repeating: "a", count: 512), "#" + String(repeating: "\u{e9}", count: 256),
            "/a -- " + String(repeating: "\u{20ac}", count: 170),
        ]
    )
    func refuses(text: String) throws {
        #expect(!accepts(text))
        #expect(try !describes(text))
    }

    @Test(
        "the description allows rules in every form that operators write",
        arguments: [
            "", "  ", "\t", "/", "*", "/products/*", "exclude /help/*", "/a?b", "/a=b&c", "/$(lang)/*",
            "$(region)/x", "/search ?q=?*&lang=tr #top ignore-case decoded -- a comment", "?", "?utm_*",
            "?a=1", "?a=1&ab=2", "?a=b=c", "?a=$(digit)", "#top", "#$(alpha)*", "?a=1 #top", "/a #top",
            "/a ignore-case", "/a decoded", "/a decoded ignore-case", "/a -- ", "/a  --  x -- y",
            " exclude  /a  ", "********", "?********", "?a=********&b=********",
            "/" + String(repeating: "a", count: 511),
        ]
    )
    func allows(text: String) throws {
        #expect(accepts(text))
        #expect(try describes(text))
    }

    @Test("the service accepts every random rule that the description allows")
    func agrees() throws {
        let parts = [
            "/", "*", "?", "#", "=", "&", " ", " ", "a", "b", "$", "(", ")", "$(lang)", "exclude ",
            " ignore-case", " decoded", " -- ", "--", "?a=", "&a=", "%20", "\t", "\u{e9}",
        ]
        var random = SeededGenerator(seed: 16)
        var described = 0
        for _ in 0..<4000 {
            let text = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                parts.randomElement(using: &random) ?? ""
            }.joined()
            guard try describes(text) else { continue }
            described += 1
            #expect(accepts(text), "\(text)")
        }
        #expect(described > 200)
    }
}
