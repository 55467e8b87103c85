import Attribution
import Testing

@Suite("The URL of a page for browsers")
struct WebURLTests {
    @Test(
        "is stored as written, apart from characters beyond ASCII; its `host` is in lower case",
        arguments: [
            ("https://shop.example", "shop.example", "https://shop.example"),
            (" https://Shop.Example:8443/a?b=c#d ", "shop.example", "https://Shop.Example:8443/a?b=c#d"),
            ("HTTPS://shop.example/ürün", "shop.example", "HTTPS://shop.example/%C3%BCr%C3%BCn"),
        ]
    )
    func reads(text: String, host: String, written: String) throws {
        let page = try WebURL(parsing: text)
        #expect(page.host == host)
        #expect(page.text == written)
        #expect(WebURL(stored: page.text) == page)
    }

    @Test("has at most 2048 bytes, and an escaped byte counts as one")
    func length() throws {
        let longest = "https://shop.example/" + String(repeating: "é", count: 1013) + "x"
        let page = try WebURL(parsing: longest)
        #expect(WebURL(stored: page.text) == page)
        #expect(throws: WebURLError.malformed(.tooLong)) { try WebURL(parsing: page.text + "x") }
        // A link for a client may have as many characters; a page may have as many bytes.
        #expect(WebURLError.malformed(.tooLong).message.contains("2048 bytes"))
        #expect(DeepLinkURLError.tooLong.message.contains("2048 characters"))
    }

    @Test(
        "is refused if browsers could read it otherwise, or if its scheme is not https",
        arguments: [
            ("", .malformed(.empty)), ("http://shop.example/", .notSecure), ("myapp://promo", .notSecure),
            ("https://shop.example/a\\b", .malformed(.backslash)),
            ("https:\\\\shop.example/", .malformed(.backslash)),
            ("https://shop.example/a\nb", .malformed(.controlCharacter)),
            ("https://shop.example/a\u{7f}", .malformed(.controlCharacter)),
            ("https://user@shop.example/", .malformed(.credentials)), ("https:///a", .malformed(.noHost)),
            ("javascript:alert(1)", .malformed(.forbiddenScheme)),
            ("https://shop.example/" + String(repeating: "a", count: 2028), .malformed(.tooLong)),
        ] as [(String, WebURLError)]
    )
    func refuses(text: String, error: WebURLError) {
        #expect(throws: error) { try WebURL(parsing: text) }
        #expect(WebURL(stored: text) == nil)
    }
}
