import Attribution
import Testing

@Suite("Deep links")
struct DeepLinkURLTests {
    @Test(
        "stay unchanged if clients can open them",
        arguments: [
            "myapp://promo", "myapp://promo/item?id=5&x=a%20b#top", "MyApp://Promo/Item", "my-app.v2+x://h",
            "a://b", "myapp://h?x", "myapp://h#f", "myapp://h:8080/x", "myapp://item;v=1/x",
            "myapp://a_b~c.d-e!$&'()*+,;=/x", "https://shop.example/item", "https://shop.example/item?x=1",
            "http://shop.example/x", "https://shop.example//", "https://shop.example:8443/x",
            "https://192.0.2.1/x", "https://[2001:db8::1]/x", "https://[2001:db8::1]:8443/x",
            "https://xn--rn-9ia.example/x", "https://a_b.example/x",
            "https://shop.example/a;b=c,d/e:f@g!$&'()*+~", "https://shop.example/x?a=/b?c:d@e",
            "myapp://h/%41%ff", "https://localhost/x", "myapp://127.0.0.1",
        ]
    )
    func accepts(_ text: String) throws { #expect(try DeepLinkURL(parsing: text).text == text) }

    @Test(
        "are percent-encoded where clients could not read them",
        arguments: [
            ("myapp://promo/yaz indirimi", "myapp://promo/yaz%20indirimi"),
            ("  myapp://promo ", "myapp://promo"),
            ("myapp://promo/ğ?q=ü#ş", "myapp://promo/%C4%9F?q=%C3%BC#%C5%9F"),
            ("myapp://h/😀", "myapp://h/%F0%9F%98%80"), ("myapp://h/100%", "myapp://h/100%25"),
            ("myapp://h/%4", "myapp://h/%254"), ("myapp://h/%zz", "myapp://h/%25zz"),
            ("myapp://h/%%41", "myapp://h/%25%41"),
            (#"myapp://h/"<>^`{|}"#, "myapp://h/%22%3C%3E%5E%60%7B%7C%7D"),
            ("myapp://h?a[]=1", "myapp://h?a%5B%5D=1"), ("myapp://h#a#b", "myapp://h#a%23b"),
            ("myapp://h/%C3%BC", "myapp://h/%C3%BC"), ("myapp://h/\u{a0}", "myapp://h/%C2%A0"),
        ]
    )
    func encodes(_ text: String, expected: String) throws {
        let url = try DeepLinkURL(parsing: text)
        #expect(url.text == expected)
        #expect(try DeepLinkURL(parsing: url.text) == url)
    }

    @Test(
        "are refused if clients would lose them or they could do harm",
        arguments: [
            ("", .empty), ("   ", .empty), ("myapp", .noScheme), ("promo/item", .noScheme),
            ("//shop.example/x", .noScheme), ("/a:b", .noScheme), ("://x", .noScheme), ("?a:b", .noScheme),
            ("1app://x", .malformedScheme), ("my_app://x", .malformedScheme),
            ("my app://x", .malformedScheme), ("ğ://x", .malformedScheme), ("%61pp://x", .malformedScheme),
            ("-a://x", .malformedScheme), ("#a:b", .malformedScheme),
            ("javascript://x/%0aalert(1)", .forbiddenScheme), ("JavaScript:alert(1)", .forbiddenScheme),
            ("data:text/html,x", .forbiddenScheme), ("data://h/x", .forbiddenScheme),
            ("file:///etc/passwd", .forbiddenScheme), ("blob:https://x/y", .forbiddenScheme),
            ("vbscript:x", .forbiddenScheme), ("about:blank", .forbiddenScheme),
            ("view-source:https://x/y", .forbiddenScheme), ("intent://x#Intent;end", .forbiddenScheme),
            ("content://x/y", .forbiddenScheme), ("filesystem:https://x/y", .forbiddenScheme),
            ("myapp:///x", .noHost), ("myapp:x", .noHost), ("myapp:/x", .noHost), ("myapp://", .noHost),
            ("myapp:", .noHost), ("myapp://?x=1", .noHost), ("myapp://#x", .noHost), ("https:///x", .noHost),
            ("https:x", .noHost), ("myapp://:80/x", .noHost), ("mailto:a@b.example", .noHost),
            ("tel:+90", .noHost), ("https://shop.example", .noPath), ("https://shop.example/", .noPath),
            ("https://shop.example?x=1", .noPath), ("https://shop.example/?x=1", .noPath),
            ("https://shop.example/#x", .noPath), ("http://shop.example#x", .noPath),
            ("HTTPS://SHOP.EXAMPLE/", .noPath), ("https://user@shop.example/x", .credentials),
            ("https://user:secret@shop.example/x", .credentials),
            ("https://shop.example@evil.example/x", .credentials), ("myapp://u@h/x", .credentials),
            ("myapp://@h/x", .credentials), ("https://ürün.example/x", .nonASCIIHost),
            ("myapp://ürün/x", .nonASCIIHost), ("https://shop。example/x", .nonASCIIHost),
            ("https://-a.example/x", .malformedHost), ("https://a-.example/x", .malformedHost),
            ("https://a..b/x", .malformedHost), ("https://a.example./x", .malformedHost),
            ("https://.a/x", .malformedHost), ("https://a b/x", .malformedHost),
            ("https://a%2fb/x", .malformedHost), ("https://a,b/x", .malformedHost),
            ("https://[::1/x", .malformedHost), ("https://[1.2.3.4]/x", .malformedHost),
            ("https://[::g]/x", .malformedHost), ("https://[::1]x/y", .malformedHost),
            ("https://[fe80::1%25eth0]/x", .malformedHost), ("myapp://a%41/x", .malformedHost),
            ("myapp://a<b/x", .malformedHost), ("https://a.example:/x", .malformedPort),
            ("https://a.example:0/x", .malformedPort), ("https://a.example:65536/x", .malformedPort),
            ("https://a.example:080/x", .malformedPort), ("https://a.example:1:2/x", .malformedPort),
            ("https://a.example:x/y", .malformedPort), ("myapp://h:-1/x", .malformedPort),
            ("myapp://h/a\nb", .controlCharacter), ("myapp://h/a\tb", .controlCharacter),
            ("myapp://h/a\0b", .controlCharacter), ("\u{7f}myapp://h", .controlCharacter),
            ("java\nscript://x/y", .controlCharacter), ("myapp://h/x\r\n", .controlCharacter),
            ("https:\\\\shop.example/x", .backslash), ("https://shop.example\\@evil.example/x", .backslash),
            ("myapp://h/a\\b", .backslash),
        ] as [(String, DeepLinkURLError)]
    )
    func refuses(_ text: String, error: DeepLinkURLError) {
        #expect(throws: error) { try DeepLinkURL(parsing: text) }
    }

    @Test("have at most 2048 characters, and an escaped character counts as one")
    func length() throws {
        let start = "myapp://h/"
        let longest = start + String(repeating: "é", count: 2048 - start.count)
        let url = try DeepLinkURL(parsing: longest)
        #expect(url.text.hasSuffix("%C3%A9"))
        #expect(try DeepLinkURL(parsing: url.text) == url)
        for text in [longest, url.text, start + String(repeating: "%80", count: 2048 - start.count)] {
            #expect(throws: DeepLinkURLError.tooLong) { try DeepLinkURL(parsing: text + "x") }
        }
    }

    @Test("are refused with a different sentence for each rule", arguments: DeepLinkURLError.allCases)
    func messages(_ error: DeepLinkURLError) {
        #expect(error.message.hasSuffix("."))
        #expect(DeepLinkURLError.allCases.count { $0.message == error.message } == 1)
    }

    @Test("have parameters in order, with escapes and plus signs decoded")
    func queryItems() throws {
        let text = "myapp://h?source=insta%67ram&q=a+b%2B&empty=&flag&&utm_source=%C3%BC&bad=%4#?x=1"
        let url = try DeepLinkURL(parsing: text)
        let expected = [
            ("source", "instagram"), ("q", "a b+"), ("empty", ""), ("flag", ""), ("utm_source", "ü"),
            ("bad", "%4"),
        ]
        #expect(url.queryItems == expected.map(QueryItem.init(name:value:)))
        #expect(try DeepLinkURL(parsing: "myapp://h#?x=1").queryItems.isEmpty)
        #expect(try DeepLinkURL(parsing: "myapp://h").queryItems.isEmpty)
    }
}
