import Attribution
import HTTPServer
import Server
import Testing

@Suite("The page of a link")
struct LandingPageTests {
    private static let link =
        #"{"slug":"summer25","destination":"/promo/item?a=1","preview_title":"Summer","#
        + #""preview_description":"All about it","preview_image":"https://shop.example/x.png","utm_source":"mail"}"#

    private func service(
        _ link: String = LandingPageTests.link,
        _ change: (inout AppLinks) -> Void = { _ in }
    ) async throws -> TestService {
        var settings = LinkScenario.shop
        change(&settings.links)
        let service = try await TestService(settings)
        try await service.makeLink(link)
        return service
    }

    @Test("the page sends an iPhone to the store, links to the app, too, and records no click by itself")
    func iPhone() async throws {
        let service = try await service()
        let answer = await service.open("summer25", query: "utm_medium=x")
        #expect(answer.status == 200)
        #expect(answer.field("Content-Type") == "text/html; charset=utf-8")
        #expect(answer.field("Cache-Control") == "no-store")
        let page = answer.page
        #expect(page.tag(id: "store")?.attributes["href"] == "/summer25?al_go=store&utm_medium=x")
        #expect(page.tag(id: "open")?.attributes["href"] == "myapp://promo/item?a=1")
        #expect(page.body["data-then"] == "store")
        #expect(page.body["data-store"] == "https://apps.apple.com/app/id1234567890")
        #expect(page.body["data-link"] == "summer25")
        #expect(page.body["data-endpoint"] == "/v1/deferred-deeplink/click")
        #expect(page.body["data-play"] == "" && page.body["data-intent"] == "")
        #expect(page.tag(id: "code") == nil && page.tag(id: "browser") == nil)
        #expect(page.text.contains("Get it on the App Store") && page.text.contains("Summer"))
        #expect(page.meta("apple-itunes-app") == "app-id=1234567890, app-argument=myapp://promo/item?a=1")
        #expect(answer.field("Critical-CH") == nil)
        #expect(try await service.counted(.clicks) == 0)
    }

    @Test("the page names the app clip in Apple's banner, and escapes the link's commas there")
    func banner() async throws {
        let service = try await service(#"{"slug":"summer25","destination":"myapp://a/b,app-id=9"}"#) {
            $0.apple.appClipIDs = ["com.example.shop.Clip"]
        }
        #expect(
            await service.open("summer25").page.meta("apple-itunes-app")
                == "app-id=1234567890, app-argument=myapp://a/b%2Capp-id=9, app-clip-bundle-id=com.example.shop.Clip, app-clip-display=card"
        )
        #expect(await service.open("summer25", Visitors.android).page.meta("apple-itunes-app") == nil)
    }

    @Test("the page opens the app on Android, has placeholders for the token, and asks for the model")
    func android() async throws {
        let service = try await service()
        let answer = await service.open("summer25", Visitors.android)
        let body = answer.page.body
        #expect(body["data-then"] == "open")
        #expect(
            body["data-intent"]
                == "intent://promo/item?a=1#Intent;scheme=myapp;package=com.example.shop;S.browser_fallback_url={fallback};end"
        )
        #expect(
            body["data-play"]
                == "https://play.google.com/store/apps/details?id=com.example.shop&referrer=al%3D{al}%26utm_source%3Dmail"
        )
        #expect(answer.field("Accept-CH") == "Sec-CH-UA-Model, Sec-CH-UA-Platform-Version")
        #expect(answer.field("Critical-CH") == answer.field("Accept-CH"))
        #expect(answer.page.text.contains("Get it on Google Play"))
    }

    @Test("the page shows a code on a computer, and a code and buttons on a device that may be an iPad")
    func computers() async throws {
        let service = try await service()
        // The token in the query belongs to another visit, so no URL on the page contains the token.
        let windows = await service.open("summer25", Visitors.windows, query: "a=b%20c&al=x").page
        #expect(windows.tag(id: "code")?.attributes["src"] == "/summer25?al_go=code&a=b%20c")
        #expect(windows.body["data-code"] == "/summer25?al_go=code&a=b%20c&al=")
        #expect(
            windows.tag(id: "copy")?.attributes["data-text"] == "https://go.shop.example/summer25?a=b%20c"
        )
        #expect(windows.tag(id: "store") == nil && windows.tag(id: "open") == nil)
        #expect(windows.body["data-then"] == "" && windows.body["data-tablet"] == "")
        let mac = await service.open("summer25", Visitors.mac).page
        #expect(mac.tag(id: "code") != nil)
        #expect(mac.tag(id: "store") != nil && mac.tag(id: "open") != nil)
        #expect(mac.body["data-tablet"] == "1")
        #expect(mac.body["data-tablet-store"] == "https://apps.apple.com/app/id1234567890")
    }

    @Test("the page leads a computer to the desktop page, with the parameters that the link passes on")
    func desktopPage() async throws {
        let service = try await service(
            #"{"slug":"a","destination":"myapp://x","desktop_url":"https://shop.example/p?x=1","#
                + #""pass_parameters":["gclid"]}"#
        )
        let page = await service.open("a", Visitors.windows, query: "gclid=7&evil=1").page
        #expect(page.body["data-store"] == "https://shop.example/p?x=1&gclid=7")
        #expect(page.body["data-then"] == "store")
        #expect(page.tag(id: "code") == nil)
        let refresh = page.tags.first { $0.attributes["http-equiv"] == "refresh" }
        #expect(refresh?.attributes["content"] == "0;url=/a?al_go=store&gclid=7&evil=1")
        let robot = await service.open("a", Visitors.preview).page
        #expect(!robot.tags.contains { $0.attributes["http-equiv"] == "refresh" })
    }

    @Test("the page explains how to leave an in-app browser, with a button where a button works")
    func inApp() async throws {
        let service = try await service()
        let tikTok = await service.open("summer25", Visitors.tikTok, query: "a=1").page
        #expect(
            tikTok.tag(id: "browser")?.attributes["href"]
                == "x-safari-https://go.shop.example/summer25?a=1"
        )
        #expect(tikTok.tag(id: "open") == nil)
        #expect(tikTok.body["data-then"] == "")
        #expect(tikTok.text.contains("open this page in your browser"))
        let weChat = await service.open("summer25", Visitors.weChat).page
        #expect(weChat.tag(id: "browser") == nil && weChat.tag(id: "open") == nil)
        #expect(weChat.text.contains("open this page in your browser"))
        #expect(await !service.open("summer25").text.contains("open this page in your browser"))
    }

    @Test(
        "the page uses the text colour that is more readable on the operator's colour",
        arguments: [
            ("#1a7f37", "#ffffff"), ("#767676", "#ffffff"), ("#e60023", "#ffffff"), ("#000000", "#ffffff"),
            ("#0a84ff", "#16181d"), ("#808080", "#16181d"), ("#ffcc00", "#16181d"), ("#ffffff", "#16181d"),
        ]
    )
    func contrast(color: String, ink: String) async throws {
        let service = try await service { $0.color = color }
        let style = await service.open("summer25").page.rawTexts.first ?? ""
        #expect(style.contains("--accent:\(color);--on:\(ink)"), "\(style.suffix(80))")
    }

    @Test("the page gives previews their data, but no script, because a script could record a click")
    func preview() async throws {
        let service = try await service()
        let answer = await service.open("summer25", Visitors.preview, fields: ["Accept": "*/*"])
        #expect(answer.status == 200)
        let page = answer.page
        for (name, content) in [
            ("og:title", "Summer"), ("og:description", "All about it"), ("og:type", "website"),
            ("og:image", "https://shop.example/x.png"), ("og:url", "https://go.shop.example/summer25"),
            ("og:site_name", "Shop"), ("twitter:card", "summary_large_image"), ("twitter:title", "Summer"),
            ("twitter:description", "All about it"), ("twitter:image", "https://shop.example/x.png"),
            ("description", "All about it"), ("robots", "noindex,nofollow"),
        ] {
            #expect(page.meta(name) == content)
        }
        #expect(!page.tags.contains { $0.name == "script" })
        #expect(page.body.isEmpty)
        #expect(answer.field("Content-Security-Policy")?.contains("script-src") == false)
        #expect(try await service.counted(.robots) == 0)
        await service.open("summer25")
        let outcomes = service.logLines().compactMap { line in
            ["preview", "page"].first { line.contains("\"outcome\":\"\($0)\"") }
        }
        #expect(outcomes == ["preview", "page"])
    }

    @Test("the page of a link without preview texts shows the app's name, never the title for operators")
    func noPreview() async throws {
        let service = try await service(#"{"slug":"a","destination":"myapp://x","title":"Secret plan"}"#)
        let answer = await service.open("a")
        #expect(answer.page.meta("og:title") == "Shop")
        #expect(answer.page.meta("twitter:card") == "summary")
        #expect(!answer.text.contains("Secret plan"))
    }

    @Test("the page uses the pasteboard if the link opted in and the store takes no token")
    func pasteboard() async throws {
        let service = try await service(#"{"slug":"a","destination":"myapp://x","pasteboard":true}"#)
        let iPhone = await service.open("a").page.body
        #expect(iPhone["data-pasteboard"] == "https://go.shop.example/a")
        #expect(iPhone["data-then"] == "")
        #expect(await service.open("a", Visitors.android).page.body["data-pasteboard"] == "")
    }

    @Test("the page shows one visitor always the same variant, and names the variant in the store button")
    func variants() async throws {
        let service = try await service(
            #"{"slug":"a","variants":[{"name":"x","weight":1,"destination":"/x"},"#
                + #"{"name":"y","weight":1,"destination":"/y"}]}"#
        )
        var shown: Set<String> = []
        for number in 0..<20 {
            let agent = "\(Visitors.iPhone) \(number)"
            let page = await service.open("a", agent).page
            let name = try #require(page.body["data-variant"])
            shown.insert(name)
            #expect(page.tag(id: "open")?.attributes["href"] == "myapp://\(name)")
            #expect(page.tag(id: "store")?.attributes["href"] == "/a?al_go=store&al_variant=\(name)")
            #expect(await service.open("a", agent).page.body["data-variant"] == name)
        }
        #expect(shown == ["x", "y"])
        let named = await service.open("a", query: "al_variant=y").page
        #expect(named.tag(id: "open")?.attributes["href"] == "myapp://y")
        #expect(
            ["x", "y"].contains(await service.open("a", query: "al_variant=z").page.body["data-variant"])
        )
    }

    @Test("the page passes the app only the parameters that the link lists, encoded again")
    func parameters() async throws {
        let service = try await service(
            #"{"slug":"a","destination":"myapp://x?a=1#f","pass_parameters":["gclid","a"]}"#
        )
        let page = await service.open("a", query: "gclid=%22%3Ex%26y&a=2&evil=javascript:1").page
        #expect(page.tag(id: "open")?.attributes["href"] == "myapp://x?a=1&gclid=%22%3Ex%26y#f")
        #expect(
            page.tag(id: "store")?.attributes["href"]
                == "/a?al_go=store&gclid=%22%3Ex%26y&a=2&evil=javascript%3A1"
        )
    }

    @Test("the page repeats 2,000 to 2,048 bytes of a long query, cut between two parameters")
    func longQuery() async throws {
        let service = try await service()
        let query = (0..<400).map { "p\($0)=1234567" }.joined(separator: "&")
        let page = await service.open("summer25", query: query).page
        let address = try #require(page.tag(id: "store")?.attributes["href"])
        let kept = address.split(separator: "?al_go=store&")[1]
        #expect((2000...2048).contains(kept.utf8.count) && query.hasPrefix("\(kept)&"))
    }

    @Test("the page is found by slugs of several parts and by escaped slugs, on the link's host alone")
    func slugs() async throws {
        let service = try await service(#"{"slug":"go/summer-25","destination":"myapp://x"}"#)
        for path in ["go/summer-25", "go/summer-25/", "go%2Fsummer%2D25"] {
            #expect(await service.open(path).status == 200, "\(path)")
        }
        for path in ["go", "GO/summer-25", "go/summer-25/x", "go//summer-25", "summer-25"] {
            #expect(await service.open(path).status == 404, "\(path)")
        }
        #expect(await service.open("go/summer-25", fields: ["Host": "other.example"]).status == 404)
        #expect(await service.open("go/summer-25", fields: ["Host": "GO.shop.example:8443"]).status == 200)
        // X-Forwarded-Host counts only from a trusted proxy.
        #expect(
            await service.open(
                "go/summer-25",
                fields: ["Host": "other.example", "X-Forwarded-Host": "go.shop.example"]
            ).status == 404
        )
    }

    @Test("the page of an app without a link host names the requested host")
    func noHost() async throws {
        let service = try await service(#"{"slug":"a","destination":"myapp://x"}"#) { $0.hosts = [] }
        let page = await service.open("a", Visitors.windows, fields: ["Host": "127.0.0.1:8080"]).page
        #expect(page.meta("og:url") == "http://127.0.0.1:8080/a")
        // A visitor can leave an in-app browser only for an https URL.
        let inApp = await service.open("a", Visitors.tikTok, fields: ["Host": "127.0.0.1:8080"]).page
        #expect(inApp.tag(id: "browser") == nil && inApp.text.contains("open this page in your browser"))
    }

    @Test("the page posts its click without a key on any host, whatever the app requires of other pages")
    func ownPage() async throws {
        var settings = LinkScenario.shop
        settings.openClicks = false
        settings.allowedOrigins = ["https://shop.example"]
        settings.links.hosts = []
        let service = try await TestService(settings)
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        let body = #"{"link":"a","fingerprint":"\#(hex)"}"#
        let host = ["Host": "127.0.0.1:8080"]
        let own = host.merging(["Origin": "http://127.0.0.1:8080"]) { $1 }
        let other = host.merging(["Origin": "http://127.0.0.2:8080"]) { $1 }
        #expect(await service.click(body, fields: other).status == 401)
        #expect(await service.click(body, fields: own).status == 201)
    }

    @Test("HEAD returns the same status as GET, and records no click")
    func head() async throws {
        let service = try await service()
        for query in [nil, "al_go=store", "al_go=code"] {
            let get = await service.open("summer25", query: query, fields: ["Sec-Purpose": "prefetch"])
            let head = await service.open("summer25", method: .head, query: query)
            #expect(head.status == get.status)
        }
        #expect(try await service.counted(.clicks) == 0)
        #expect(try await service.counted(.robots) == 0)
    }

    @Test("the page is under 15 KB with its script before compression, in every language")
    func size() async throws {
        let service = try await service {
            $0.icon = WebURL(stored: "https://shop.example/icon.png")
            $0.color = "#1a7f37"
        }
        for language in ["en", "tr", "de", "fr", "es", "pt", "it", "ru", "ar", "ja", "zh", "ko"] {
            for agent in [Visitors.iPhone, Visitors.android, Visitors.mac] {
                let answer = await service.open("summer25", agent, fields: ["Accept-Language": language])
                #expect(answer.text.utf8.count < 15 * 1024, "\(language): \(answer.text.utf8.count)")
            }
        }
    }
}
