import Attribution
import Testing

@Suite("Long Dynamic Links of Firebase")
struct FirebaseLongLinkTests {
    private static func app(
        webHosts: [String]? = ["shop.example"],
        destinations: [String] = [],
        package: String = "com.example.shop",
        id: UInt64 = 1
    ) -> App {
        var links = AppLinks()
        links.hosts = [LinkHost("go.shop.example")].compactMap { $0 }
        links.webHosts = webHosts
        links.apple.bundleIDs = [package]
        links.apple.appStoreID = 1_234_567_890
        links.apple.scheme = "shopapp"
        links.android.package = package
        let settings = App.Settings(name: "Shop", destinations: destinations, links: links)
        return App(id: AppID(high: id, low: id), settings: settings, createdAt: TestValues.noon)
    }

    private static func longLink(_ query: String) throws -> FirebaseLongLink {
        try #require(FirebaseLongLink(query: QueryItem.items(ofQuery: query[...].utf8)))
    }

    private static func refused(_ query: String, _ app: App = app()) throws -> [String] {
        let long = try longLink(query)
        do throws(FieldProblems) {
            _ = try long.settings(for: app.settings)
            return []
        } catch { return error.all.map(\.field) }
    }

    @Test("contain in their parameters the settings that other links have stored")
    func settings() throws {
        let long = try Self.longLink(
            "link=https%3A%2F%2Fshop.example%2Fpromo%3Fid%3D1%26x%3D2&apn=com.example.shop&ibi=com.example.shop"
                + "&isi=1234567890&afl=https%3A%2F%2Fshop.example%2Fa&ifl=https%3A%2F%2Fshop.example%2Fi"
                + "&ofl=https%3A%2F%2Fshop.example%2Fd&st=Summer%20sale&sd=All+of+it&si=https%3A%2F%2Fshop.example%2Fp.png"
                + "&utm_source=newsletter&utm_campaign=summer&link=https%3A%2F%2Fevil.example%2Fx&unknown=1"
        )
        let settings = try long.settings(for: Self.app().settings)
        #expect(settings.target?.text == "https://shop.example/promo?id=1&x=2")
        #expect(settings.fallbacks.android?.text == "https://shop.example/a")
        #expect(settings.fallbacks.ios?.text == "https://shop.example/i")
        #expect(settings.fallbacks.desktop?.text == "https://shop.example/d")
        #expect(settings.preview.title == "Summer sale" && settings.preview.description == "All of it")
        #expect(settings.preview.image?.text == "https://shop.example/p.png")
        #expect(settings.campaignKey?.text == "summer")
        #expect(settings.utm.map(\.value) == ["newsletter", "summer"])
        #expect(!long.isPreview)
    }

    @Test("are recognised by `link` in the query; `d=1` requests the debug page")
    func recognises() throws {
        for query in ["", "apn=com.example.shop", "link=", "Link=https://shop.example/x", "d=1"] {
            #expect(FirebaseLongLink(query: QueryItem.items(ofQuery: query[...].utf8)) == nil, "\(query)")
        }
        for (query, isPreview) in [
            ("d=1", true), ("d=0", false), ("d=", false), ("D=1", false), ("d=0&d=1", false),
        ] {
            #expect(try Self.longLink("link=https://shop.example/x&" + query).isPreview == isPreview)
            #expect(FirebaseLongLink.asksForPreview(QueryItem.items(ofQuery: query[...].utf8)) == isPreview)
        }
    }

    @Test(
        "lead only to destinations that the app lists by name",
        arguments: [
            ("link=https://shop.example/x", []), ("link=https://go.shop.example/summer25", []),
            ("link=shopapp://promo", []), ("link=https://evil.example/x", ["destination"]),
            ("link=https://shop.example.evil.example/x", ["destination"]),
            ("link=https://shop.example@evil.example/x", ["destination"]),
            ("link=https://evil.example%5C@shop.example/x", ["destination"]),
            ("link=http://shop.example/x", ["destination"]), ("link=javascript:alert(1)", ["destination"]),
            ("link=data:text/html,x", ["destination"]), ("link=//evil.example/x", ["destination"]),
            ("link=/promo", ["destination"]), ("link=other://promo", ["destination"]),
            ("link=https://shop.example/", ["destination"]),
            ("link=https://go.shop.example/a?link=https://shop.example/x", ["destination"]),
            ("link=https://shop.example/x&afl=https://evil.example/", ["android_fallback"]),
            ("link=https://shop.example/x&ifl=https://evil.example/", ["ios_fallback"]),
            ("link=https://shop.example/x&ofl=https://evil.example/", ["desktop_url"]),
            ("link=https://shop.example/x&ofl=http://shop.example/", ["desktop_url"]),
            ("link=https://shop.example/x&ofl=javascript:alert(1)", ["desktop_url"]),
            // Another app's page in a store is an open redirect too.
            ("link=https://shop.example/x&ifl=https://apps.apple.com/app/id55555", ["ios_fallback"]),
            ("link=https://shop.example/x&ifl=https://apps.apple.com/app/id1234567890", []),
            ("link=https://shop.example/x&ifl=https://apps.apple.com/app/id12345678901", ["ios_fallback"]),
            (
                "link=https://shop.example/x&afl=https://play.google.com/store/apps/details?id=a.b",
                ["android_fallback"]
            ),
            ("link=https://shop.example/x&isi=55555&ct=x", ["isi", "ios_fallback"]),
            ("link=https://shop.example/x&ct=x", []), ("link=https://shop.example/x&apn=com.other", ["apn"]),
        ] as [(String, [String])]
    )
    func openRedirects(query: String, fields: [String]) throws { #expect(try Self.refused(query) == fields) }

    @Test("do not lead to an unlisted host, even if the app allows any host or lists no destination")
    func anyHost() throws {
        let app = Self.app(webHosts: nil)
        #expect(try Self.refused("link=https://evil.example/x", app) == ["destination"])
        #expect(try Self.refused("link=shopapp://x&ofl=https://evil.example/", app) == ["desktop_url"])
        let listing = Self.app(destinations: ["legacy://", "https://old.example/shop"])
        #expect(try Self.refused("link=legacy://x", listing).isEmpty)
        #expect(try Self.refused("link=https://old.example/shop/1", listing).isEmpty)
        #expect(try Self.refused("link=https://old.example/other", listing) == ["destination"])
        #expect(try Self.refused("link=legacy://x&ofl=https://old.example/shop", listing) == ["desktop_url"])
    }

    @Test("lose invalid texts and pictures from other hosts, but keep their destination")
    func texts() throws {
        let query =
            "link=https://shop.example/x&si=https://evil.example/p.png&utm_term=\(String(repeating: "t", count: 256))"
            + "&sd=\(String(repeating: "%C3%A9", count: 251))&st=a%0Ab&utm_source=s&amv=%22"
        let settings = try Self.longLink(query).settings(for: Self.app().settings)
        #expect(settings.preview.image == nil && settings.preview.title == nil && settings.metadata == nil)
        #expect(settings.preview.description == String(repeating: "é", count: 250))
        #expect(settings.utm.map(\.value) == ["s"])
    }

    @Test("belong to the app that they name, or to the only app of the host")
    func owner() throws {
        let (shop, other) = (Self.app(), Self.app(package: "com.example.other", id: 2))
        let plain = try Self.longLink("link=https://shop.example/x")
        #expect(plain.app(among: [shop])?.id == shop.id)
        #expect(plain.app(among: [shop, other]) == nil && plain.app(among: []) == nil)
        for name in ["apn", "ibi", "ipbi"] {
            let named = try Self.longLink("link=https://shop.example/x&\(name)=com.example.other")
            #expect(named.app(among: [shop, other])?.id == other.id)
        }
    }
}
