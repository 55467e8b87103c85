import Attribution
import HTTPServer
import JSON
import Server
import Testing

@Suite("A long Dynamic Link of Firebase on a link host")
struct LongLinkTests {
    private let service: TestService

    init() async throws { service = try await TestService(LinkScenario.shop) }

    private static let query =
        "link=https%3A%2F%2Fshop.example%2Fpromo%3Fid%3D1%26x%3D2&apn=com.example.shop&st=Summer&utm_source=mail"
        + "&utm_campaign=SUMMER25"
    private static let target = "https://shop.example/promo?id=1&x=2"

    /// The long link's name on its page: the link's parameters in the order of Firebase's documentation, encoded alike.
    private static let name =
        "?link=https%3A%2F%2Fshop.example%2Fpromo%3Fid%3D1%26x%3D2&apn=com.example.shop&st=Summer&utm_source=mail"
        + "&utm_campaign=SUMMER25"

    @Test("a long link at any prefix gets the page of a link, whose buttons and code contain the long link")
    func page() async throws {
        for path in ["", "links", "links/"] {
            let slash = path.isEmpty ? "/" : "/links"
            let answer = await service.open(path, Visitors.android, query: Self.query + "&gclid=7&al_go=")
            #expect(answer.status == 200, "\(path)")
            let page = answer.page
            #expect(page.meta("og:title") == "Summer")
            #expect(page.body["data-link"] == slash.dropFirst() + Self.name)
            #expect(page.tag(id: "open")?.attributes["href"] == Self.target)
            #expect(page.tag(id: "store")?.attributes["href"] == "\(slash)\(Self.name)&al_go=store&gclid=7")
            #expect(page.body["data-play"]?.contains("utm_source%3Dmail%26utm_campaign%3DSUMMER25") == true)
            let computer = await service.open(path, Visitors.windows, query: Self.query).page
            #expect(computer.tag(id: "code")?.attributes["src"] == "\(slash)\(Self.name)&al_go=code")
            let address = computer.tag(id: "copy")?.attributes["data-text"]
            #expect(address == "https://go.shop.example\(slash)\(Self.name)")
        }
        let code = await service.open("", Visitors.windows, query: Self.query + "&al_go=code")
        #expect(code.status == 200 && code.field("Content-Type") == "image/svg+xml")
    }

    @Test("a long link's campaign reaches the click by the page's script, and by the store button without it")
    func clicks() async throws {
        let page = await service.open("", Visitors.iPhone, query: Self.query + "&source=Poster").page
        let click = await service.click(
            #"{"link":"\#(page.body["data-link"] ?? "")","fingerprint":"\#(hex)","query":"\#(Self.query)&source=Poster"}"#,
            fields: ["Host": "go.shop.example", "Origin": "https://go.shop.example"]
        )
        #expect(click.status == 201, "\(click.text)")
        let facts = try #require(service.watch.click?.facts)
        #expect(facts.destination.text == Self.target && facts.link == nil)
        #expect(facts.rawSource == "Poster" && facts.campaignKey?.text == "SUMMER25")
        let launch = await service.check(hex)
        #expect(launch.text.contains(#""campaignKey":"SUMMER25""#), "\(launch.text)")
        #expect(launch.text.contains(#""utm_source":"mail""#))
        service.clock.advance(seconds: 60)
        let store = await service.open("", Visitors.android, query: Self.name.dropFirst() + "&al_go=store")
        #expect(store.status == 302)
        let location = try #require(store.field("Location"))
        #expect(
            location.hasPrefix(
                "https://play.google.com/store/apps/details?id=com.example.shop&referrer=al%3D"
            )
        )
        #expect(service.watch.click?.facts.destination.text == Self.target)
        #expect(try await service.counted(.clicks) == 2)
    }

    @Test("a long link never replaces a link with a slug, and leads only to destinations that the app allows")
    func refusals() async throws {
        try await service.makeLink(#"{"slug":"links","destination":"/own"}"#)
        let own = await service.open("links", query: Self.query).page
        #expect(own.tag(id: "open")?.attributes["href"] == "myapp://own" && own.body["data-link"] == "links")
        for query in [
            "link=https://evil.example/x", "link=javascript:alert(1)", "link=", "apn=com.example.shop",
            "link=https://shop.example/x&apn=com.example.other",
            "link=https://shop.example/x&ofl=https://evil.example/",
            "link=https://shop.example/x&ofl=https://shop.example:8443/", "link=https://shop.example:8443/x",
        ] {
            for more in ["", "&al_go=store", "&al_go=code"] {
                let answer = await service.open("", Visitors.windows, query: query + more)
                #expect(answer.status == 404, "\(query)")
                #expect(answer.field("Location") == nil && !answer.text.contains("evil.example"))
            }
        }
        let program = await service.open("", query: "link=https://evil.example/x", fields: ["Accept": "*/*"])
        #expect(program.status == 404 && program.member("error_code") == "NOT_FOUND")
        #expect(program.text.contains("d=1"))
        for (link, status) in [
            ("?link=https://evil.example/x", 400), ("?apn=com.example.shop", 404), ("a?b", 404), ("?", 404),
            ("../x?link=https://shop.example/x", 404), ("/links/?link=https://shop.example/x", 201),
        ] {
            let click = await service.click(
                #"{"link":"\#(link)","fingerprint":"\#(hex)"}"#,
                fields: ["Host": "go.shop.example", "Origin": "https://go.shop.example"]
            )
            #expect(click.status == status, "\(link): \(click.text)")
            if status >= 400 { #expect(click.member("field") == "link") }
        }
    }

    @Test("a long link belongs to the app that it names among a host's several apps, else to no app")
    func severalApps() async throws {
        var other = LinkScenario.shop.links
        other.android.package = "com.example.other"
        _ = try await service.addApp(App.Settings(name: "Other", links: other))
        let named = "link=https://shop.example/x&apn=com.example.other"
        #expect(await service.open("", query: named).page.meta("og:site_name") == "Other")
        #expect(await service.open("", query: "link=https://shop.example/x").status == 404)
    }

    @Test("with d=1, a long link and a short link show their effect on every device, and record no click")
    func flow() async throws {
        try await service.makeLink(
            #"{"slug":"ab","campaign_key":"<b>","variants":[{"name":"x","weight":1,"destination":"/x"},"#
                + #"{"name":"y","weight":3,"destination":"/y"}]}"#
        )
        let gone = try await service.makeLink(#"{"slug":"gone","destination":"/x"}"#)
        await service.admin(.post, "/links/\(gone)/archive")
        for (slug, query, holds) in [
            (
                "ab", "d=1",
                [
                    "https://go.shop.example/ab", "This is what a tap on the link does", "myapp://x",
                    "https://apps.apple.com/app/id1234567890", "com.example.shop", "<b>", "3 of 4: /y",
                    "A page with a code for a phone",
                ]
            ),
            ("", Self.query + "&d=1", [Self.target, "SUMMER25", "utm_source", "Summer"]),
            (
                "", "link=https://evil.example/x&d=1",
                ["This long link leads nowhere", "--web-host evil.example"]
            ),
            ("gone", "d=1&al_go=store", ["This link was archived", "myapp://x"]),
        ] {
            let answer = await service.open(slug, Visitors.android, query: query)
            #expect(answer.status == 200 && answer.field("Location") == nil)
            for text in holds { #expect(answer.page.text.contains(text), "\(slug): \(text)") }
            #expect(!answer.text.contains("<script") && !answer.text.contains("<b>"))
            #expect(
                answer.field("Content-Security-Policy")?.contains("default-src 'none'; style-src") == true
            )
            #expect(answer.page.meta("robots") == "noindex,nofollow")
        }
        #expect(await service.open("ab", query: "d=0").page.tag(id: "open") != nil)
        #expect(try await service.counted(.clicks) == 0)
    }
}
