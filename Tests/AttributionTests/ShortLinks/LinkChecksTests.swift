import Attribution
import Testing

@Suite("Destinations that an app allows its links")
struct LinkChecksTests {
    private static let now = TestValues.noon

    private static func app(
        scheme: String? = "myapp",
        android: String? = nil,
        webHosts: [String]? = ["shop.example"],
        destinations: [String] = []
    ) -> App.Settings {
        var links = AppLinks()
        links.apple.scheme = scheme
        links.android.scheme = android
        links.webHosts = webHosts
        links.hosts = [LinkHost("go.shop.example")].compactMap { $0 }
        return App.Settings(name: "Shop", destinations: destinations, links: links)
    }

    private static func problems(_ field: LinkField, _ text: String, _ app: App.Settings) throws -> [String] {
        var fields = LinkFields()
        fields[field] = [text]
        if field != .destination { fields.set(.destination, "myapp://home") }
        return try Link.Settings(fields).problems(for: app, at: now).map(\.field)
    }

    @Test(
        "are the app's schemes and hosts, and the stores",
        arguments: [
            (LinkField.destination, "myapp://promo", true), (.destination, "MyApp://promo", true),
            (.destination, "other://promo", false), (.destination, "https://shop.example/x", true),
            (.destination, "https://SHOP.example/x", true), (.destination, "https://go.shop.example/x", true),
            (.destination, "https://evil.example/x", false),
            (.destination, "https://shop.example.evil.example/x", false),
            (.destination, "https://www.shop.example/x", false),
            // An attacker on the network can replace an unencrypted page.
            (.destination, "http://shop.example/x", false), (.destination, "/promo/1", true),
            (.destination, "/pro%20mo/1", false),
            (.iosDestination, "https://evil.example/x", false), (.androidDestination, "other://x", false),
            (.variants, "a 1 https://evil.example/x", false), (.variants, "a 1 myapp://a", true),
            (.desktopURL, "https://shop.example", true), (.desktopURL, "https://evil.example", false),
            (.iosFallback, "https://apps.apple.com/app/id1234567890", true),
            (.iosFallback, "https://evil.example/?u=https://apps.apple.com", false),
            (.androidFallback, "https://play.google.com/store/apps/details?id=a.b", true),
            (.huaweiFallback, "https://appgallery.huawei.com/app/C1", true),
        ]
    )
    func lists(_ field: LinkField, _ text: String, isAllowed: Bool) throws {
        let problems = try Self.problems(field, text, Self.app())
        #expect(problems == (isAllowed ? [] : [field.rawValue]))
    }

    @Test("may be on any web host if the operator allows all, and have any scheme if the app has none")
    func open() throws {
        let anyHost = Self.app(scheme: nil, webHosts: nil)
        #expect(try Self.problems(.destination, "https://evil.example/x", anyHost).isEmpty)
        #expect(try Self.problems(.desktopURL, "https://evil.example/", anyHost).isEmpty)
        #expect(try Self.problems(.destination, "other://promo", anyHost).isEmpty)
        // A path needs a scheme.
        #expect(try Self.problems(.destination, "/promo", anyHost) == ["destination"])
    }

    @Test("include the destinations that the app allows clicks without a link")
    func destinations() throws {
        let app = Self.app(destinations: ["legacy://", "https://old.example/shop"])
        #expect(try Self.problems(.destination, "legacy://x", app).isEmpty)
        #expect(try Self.problems(.destination, "https://old.example/shop/1", app).isEmpty)
        #expect(try Self.problems(.destination, "https://old.example/other", app) == ["destination"])
        #expect(try Self.problems(.desktopURL, "https://old.example/shop", app) == ["desktop_url"])
    }

    @Test("are required, at least in a variant, and an expiry must be in the future")
    func needs() throws {
        #expect(Link.Settings().problems(for: Self.app(), at: Self.now).map(\.field) == ["destination"])
        var fields = LinkFields()
        fields[.variants] = ["a 1 myapp://a"]
        #expect(try Link.Settings(fields).problems(for: Self.app(), at: Self.now).isEmpty)
        for (milliseconds, isAllowed) in [(-1, false), (0, false), (1, true)] as [(Int64, Bool)] {
            fields.set(.expiresAt, Self.now.advanced(byMilliseconds: milliseconds).iso8601)
            let problems = try Link.Settings(fields).problems(for: Self.app(), at: Self.now)
            #expect(problems.map(\.field) == (isAllowed ? [] : ["expires_at"]))
        }
    }

    @Test("are refused with the command that allows the host, or with the app's scheme")
    func advice() throws {
        var fields = LinkFields()
        fields.set(.destination, "https://evil.example/x")
        fields.set(.iosDestination, "other://x")
        let problems = try Link.Settings(fields).problems(for: Self.app(), at: Self.now)
        #expect(problems.first?.message.contains("afterlink apps set --web-host evil.example") == true)
        #expect(problems.last?.message.contains("myapp") == true)
    }
}
