import Attribution
import Testing

@Suite("The destination of a tap")
struct LinkResolutionTests {
    private static func link(_ fields: [(LinkField, [String])], archivedAt: Timestamp? = nil) throws -> Link {
        var texts = LinkFields()
        for (field, values) in fields { texts[field] = values }
        return Link(
            id: LinkID(high: 1, low: 1),
            app: TestValues.app,
            slug: LinkSlug(stored: "a"),
            settings: try Link.Settings(texts),
            createdAt: TestValues.noon,
            updatedAt: TestValues.noon,
            archivedAt: archivedAt
        )
    }

    private static func links(_ ios: String?, _ android: String?) -> AppLinks {
        var links = AppLinks()
        links.apple.scheme = ios
        links.android.scheme = android
        return links
    }

    @Test(
        "is the platform's, else the general destination, with the platform's scheme before a path",
        arguments: [
            ([(LinkField.destination, ["myapp://a"])], Platform.ios, "myapp://a"),
            ([(.destination, ["myapp://a"])], .android, "myapp://a"),
            ([(.destination, ["myapp://a"]), (.iosDestination, ["myapp://i"])], .ios, "myapp://i"),
            ([(.destination, ["myapp://a"]), (.iosDestination, ["myapp://i"])], .android, "myapp://a"),
            ([(.destination, ["myapp://a"]), (.androidDestination, ["myapp://d"])], .android, "myapp://d"),
            ([(.iosDestination, ["myapp://i"])], .android, "myapp://i"),
            ([(.androidDestination, ["myapp://d"])], .ios, "myapp://d"),
            ([(.androidDestination, ["myapp://d"])], .other, "myapp://d"),
            ([(.destination, ["/p/1?a=b#c"])], .ios, "ios-app://p/1?a=b#c"),
            ([(.destination, ["/p/1"])], .android, "droid-app://p/1"),
            ([(.destination, ["/p/1"])], .unknown, "ios-app://p/1"),
            ([(.variants, ["x 1 /v"]), (.destination, ["myapp://a"])], .android, "droid-app://v"),
        ] as [([(LinkField, [String])], Platform, String)]
    )
    func platforms(_ fields: [(LinkField, [String])], _ platform: Platform, expected: String) throws {
        let link = try Self.link(fields)
        let (app, variant) = (Self.links("ios-app", "droid-app"), link.settings.variant(for: 0))
        #expect(link.settings.deepLink(variant, on: platform, of: app)?.text == expected)
    }

    @Test("uses the other platform's scheme if the platform's own is unknown, and is missing without both")
    func schemes() throws {
        let link = try Self.link([(.destination, ["/p"])])
        #expect(link.settings.deepLink(nil, on: .ios, of: Self.links(nil, "d"))?.text == "d://p")
        #expect(link.settings.deepLink(nil, on: .android, of: Self.links("i", nil))?.text == "i://p")
        #expect(link.settings.deepLink(nil, on: .ios, of: Self.links(nil, nil)) == nil)
    }

    @Test("is a variant chosen by weight, and always the same variant for a visitor")
    func variants() throws {
        let link = try Self.link([(.variants, ["a 70 myapp://a", "b 29 myapp://b", "c 1 myapp://c"])])
        var counts: [String: Int] = [:]
        for visitor in 0..<100_000 as Range<UInt64> {
            // The hashes are spread evenly, like keyed hashes.
            let hash = visitor &* 0x9e37_79b9_7f4a_7c15
            let variant = try #require(link.settings.variant(for: hash))
            #expect(link.settings.variant(for: hash) == variant)
            counts[variant.name, default: 0] += 1
        }
        #expect(abs((counts["a"] ?? 0) - 70_000) < 700)
        #expect(abs((counts["b"] ?? 0) - 29_000) < 700)
        #expect(abs((counts["c"] ?? 0) - 1000) < 150)
        #expect(try Self.link([(.destination, ["myapp://a"])]).settings.variant(for: 1) == nil)
        #expect(link.settings.variant(named: "b")?.weight == 29)
        #expect(link.settings.variant(named: "d") == nil)
    }

    @Test("is a variant that depends on the link, the address's network and the agent")
    func choice() throws {
        let key = try #require(ServerKey(bytes: Array(repeating: 7, count: ServerKey.byteCount)))
        let link = LinkID(high: 1, low: 1)
        func choice(_ link: LinkID, _ address: String, _ agent: String) throws -> UInt64 {
            key.variantChoice(of: link, address: try #require(NetworkAddress(address)), userAgent: agent)
        }
        let one = try choice(link, "2001:db8::1", "Safari")
        #expect(try choice(link, "2001:db8::2", "Safari") == one)
        #expect(try choice(link, "2001:db8:0:1::1", "Safari") != one)
        #expect(try choice(link, "2001:db8::1", "Chrome") != one)
        #expect(try choice(LinkID(high: 1, low: 2), "2001:db8::1", "Safari") != one)
    }

    @Test("a link ends when it is archived, expires, or has had its maximum number of clicks")
    func ending() throws {
        let noon = TestValues.noon
        #expect(try Self.link([], archivedAt: noon).ending(at: noon, clicks: 0) == .archived)
        let expiring = try Self.link([(.expiresAt, [noon.iso8601])])
        #expect(expiring.ending(at: noon.advanced(byMilliseconds: -1), clicks: 9) == nil)
        #expect(expiring.ending(at: noon, clicks: 0) == .expired)
        let counted = try Self.link([(.maximumClicks, ["2"])])
        #expect(counted.ending(at: noon, clicks: 1) == nil)
        #expect(counted.ending(at: noon, clicks: 2) == .usedUp)
    }

    @Test(
        "gets only the listed parameters, encoded, and never in place of the link's own",
        arguments: [
            ("myapp://p", "gclid=x%20y&evil=1", "myapp://p?gclid=x%20y"),
            ("myapp://p?a=1#f", "gclid=1&utm_id=2", "myapp://p?a=1&gclid=1&utm_id=2#f"),
            ("myapp://p?gclid=own", "gclid=theirs", "myapp://p?gclid=own"),
            ("myapp://p", "gclid=%26evil%3D1%23", "myapp://p?gclid=%26evil%3D1%23"),
            ("myapp://p", "", "myapp://p"),
        ]
    )
    func passes(_ destination: String, query: String, expected: String) throws {
        let link = try Self.link([(.passedParameters, ["gclid", "utm_id"])])
        let items = link.settings.passed(QueryItem.items(ofQuery: query[...].utf8))
        #expect(try DeepLinkURL(parsing: destination).adding(items).text == expected)
    }

    @Test("stays unchanged if a parameter would make it too long for clients")
    func tooLong() throws {
        let url = try DeepLinkURL(parsing: "myapp://p")
        let item = QueryItem(name: "gclid", value: String(repeating: "x", count: 2048))
        #expect(url.adding([item]) == url)
        #expect(url.adding([QueryItem(name: "a b", value: "1")]).text == "myapp://p?a%20b=1")
    }
}
