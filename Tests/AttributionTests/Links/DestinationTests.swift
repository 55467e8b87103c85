import Attribution
import Testing

@Suite("Allowed destinations")
struct DestinationTests {
    @Test(
        "cover links of their scheme, host, port and path prefix",
        arguments: [
            (
                "myapp://", ["myapp://promo", "MYAPP://x/y?z"],
                ["myapp2://promo", "my://app", "https://myapp/x", "otherapp://myapp"]
            ),
            (
                "myapp://promo", ["myapp://promo", "myapp://PROMO/x", "myapp://promo?x"],
                ["myapp://promo2", "myapp://promo.x/y", "myapp://promo:80/x", "myapp://other"]
            ),
            (
                "https://shop.example",
                [
                    "https://shop.example/x", "https://SHOP.example/x?y", "https://shop.example:443/x",
                    "https://shop.example//x",
                ],
                [
                    "https://shop.example.evil.com/x", "https://evil.shop.example/x",
                    "https://shop.examplee/x", "http://shop.example/x", "https://shop.example:8443/x",
                    "myapp://shop.example/x", "https://evil.com/shop.example/x",
                    "https://evil.com/x?https://shop.example/",
                ]
            ),
            ("https://shop.example/", ["https://shop.example/x"], ["https://other.example/x"]),
            (
                "https://shop.example:8443", ["https://shop.example:8443/x"],
                ["https://shop.example/x", "https://shop.example:443/x"]
            ),
            ("http://shop.example:80", ["http://shop.example/x"], ["https://shop.example/x"]),
            (
                "https://shop.example/app",
                [
                    "https://shop.example/app", "https://shop.example/app/x", "https://shop.example/app?x",
                    "https://shop.example/app/",
                ],
                [
                    "https://shop.example/apple", "https://shop.example/App", "https://shop.example/x/app",
                    "https://shop.example/app/../admin", "https://shop.example/app/%2e%2e/admin",
                    "https://shop.example/app/.%2E/admin", "https://shop.example/app/..%2fadmin",
                    "https://shop.example/app/..;/admin", "https://shop.example/app/..%3bx=1/admin",
                    "https://shop.example/app/%252e%252e/admin", "https://shop.example/app/%5c..%5cadmin",
                    "https://shop.example/app/.", "https://shop.example/app%2fx",
                ]
            ),
            (
                "https://shop.example/app/", ["https://shop.example/app", "https://shop.example/app/x"],
                ["https://shop.example/apple"]
            ),
            ("https://[2001:DB8::1]", ["https://[2001:db8:0::1]/x"], ["https://[2001:db8::2]/x"]),
            ("https://192.0.2.1", ["https://192.0.2.1/x"], ["https://192.0.2.10/x"]),
        ] as [(String, [String], [String])]
    )
    func covers(_ text: String, allowed: [String], refused: [String]) throws {
        let destination = try Destination(parsing: text)
        for link in allowed { #expect(destination.covers(try DeepLinkURL(parsing: link)), "\(link)") }
        for link in refused { #expect(!destination.covers(try DeepLinkURL(parsing: link)), "\(link)") }
    }

    @Test(
        "have one spelling, which stays the same when read again",
        arguments: [
            (" MyApp:// ", "myapp://"), ("myapp://Promo", "myapp://promo"),
            ("https://SHOP.example/", "https://shop.example"),
            ("https://shop.example/App/", "https://shop.example/App"),
            ("https://shop.example/App//", "https://shop.example/App"),
            ("https://shop.example:8443", "https://shop.example:8443"),
        ]
    )
    func text(_ text: String, expected: String) throws {
        let destination = try Destination(parsing: text)
        #expect(destination.text == expected)
        #expect(try Destination(parsing: destination.text) == destination)
    }

    @Test(
        "without a host are refused with a hint how to allow a whole scheme",
        arguments: ["myapp:", "myapp:///x", "https://"]
    )
    func schemeAlone(text: String) {
        let error = #expect(throws: DestinationError.self) { try Destination(parsing: text) }
        #expect(error?.message.contains("may stand alone, as in myapp://") == true)
        #expect(error?.message.contains("link") == false)
    }

    @Test(
        "are refused with a reason",
        arguments: [
            ("", .malformed(.noScheme)), ("shop.example", .malformed(.noScheme)),
            ("*", .malformed(.noScheme)), ("https://", .noHost), ("http://", .noHost),
            ("https:///x", .noHost), ("myapp:", .malformed(.noHost)), ("myapp:///x", .noHost),
            ("https://*.example", .malformed(.malformedHost)),
            ("javascript://", .malformed(.forbiddenScheme)), ("data://x", .malformed(.forbiddenScheme)),
            ("https://u@shop.example", .malformed(.credentials)),
            ("https://shop.example:x", .malformed(.malformedPort)),
            ("https://shop.example?x", .queryOrFragment), ("https://shop.example/#", .queryOrFragment),
            ("myapp://?", .queryOrFragment), ("https://shop.example/a/../b", .dotSegment),
            ("https://shop.example/%2e", .dotSegment), ("https://shop example", .malformed(.malformedHost)),
            ("https://ürün.example", .malformed(.malformedHost)), ("my_app://", .malformed(.malformedScheme)),
        ] as [(String, DestinationError)]
    )
    func refuses(_ text: String, error: DestinationError) {
        #expect(throws: error) { try Destination(parsing: text) }
        #expect(error.message.hasSuffix("."))
    }

    @Test("allow every link if the list is empty, else only links that a listed destination covers")
    func lists() throws {
        let link = try DeepLinkURL(parsing: "otherapp://promo")
        let destinations = try ["myapp://", "https://shop.example"].map { try Destination(parsing: $0) }
        #expect(!destinations.contains { $0.covers(link) })
        #expect(try Destination(parsing: "otherapp://").covers(link))
        #expect(App.Settings(name: "Shop").allows(link))
        #expect(!App.Settings(name: "Shop", destinations: ["myapp://"]).allows(link))
        #expect(App.Settings(name: "Shop", destinations: ["myapp://", "otherapp://"]).allows(link))
        // A stored destination that cannot be read allows nothing.
        #expect(!App.Settings(name: "Shop", destinations: ["rubbish"]).allows(link))
    }
}

@Suite("Origins")
struct OriginTests {
    @Test(
        "are compared in full, without regard to case and to the scheme's default port",
        arguments: [
            ("https://shop.example", "https://shop.example"),
            ("HTTPS://Shop.Example", "https://shop.example"),
            ("https://shop.example:443", "https://shop.example"),
            ("http://shop.example:80", "http://shop.example"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("https://shop.example:80", "https://shop.example:80"),
            ("https://[2001:DB8::1]:8443", "https://[2001:db8::1]:8443"),
            ("capacitor://localhost", "capacitor://localhost"),
        ]
    )
    func reads(_ text: String, expected: String) throws {
        #expect(try #require(Origin(text)).text == expected)
        #expect(Origin(expected) == Origin(text))
    }

    @Test(
        "are refused unless the text is exactly one origin",
        arguments: [
            "", "null", "NULL", "*", "shop.example", "https://", "https://shop.example/",
            "https://shop.example/x", "https://shop.example?x", "https://shop.example#x",
            "https://u@shop.example", "https://shop.example:", "https://shop.example:0", "https://*.example",
            " https://shop.example", "https://shop.example ", "https:shop.example", "https://ürün.example",
            "https://a https://b", "https://a,https://b", "https://shop.example\\", "https://shop.example\n",
        ]
    )
    func refuses(_ text: String) { #expect(Origin(text) == nil) }

    @Test("are all allowed if an app lists no origins, else only the listed origins")
    func lists() throws {
        let shop = try #require(Origin("https://shop.example"))
        let evil = try #require(Origin("https://shop.example.evil.com"))
        let plain = try #require(Origin("http://shop.example"))
        let settings = App.Settings(name: "Shop", allowedOrigins: ["https://SHOP.example:443"])
        #expect(settings.allows(shop))
        #expect(!settings.allows(evil))
        #expect(!settings.allows(plain))
        #expect(App.Settings(name: "Shop").allows(evil))
    }
}
