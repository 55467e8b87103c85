import Attribution
import HTTPServer
import JSON
import QRCodes
import Server
import Testing
import Threads

@Suite("A link that leads nowhere")
struct LinkEndingTests {
    @Test("an ended or unknown link gets a page with the reason, status and store; programs get the error")
    func endings() async throws {
        var settings = LinkScenario.shop
        settings.links.icon = WebURL(stored: "https://shop.example/icon.png")
        let service = try await TestService(settings)
        let soon = service.clock.now.advanced(byMilliseconds: 30_000).iso8601
        let archived = try await service.makeLink(#"{"slug":"archived","destination":"myapp://x"}"#)
        try await service.makeLink(#"{"slug":"expiring","destination":"myapp://x","expires_at":"\#(soon)"}"#)
        try await service.makeLink(#"{"slug":"once","destination":"myapp://x","maximum_clicks":1}"#)
        await service.admin(.post, "/links/\(archived)/archive")
        await service.open("once", query: "al_go=store")
        service.clock.advance(seconds: 60)
        let words = "This link has expired"
        for (slug, status, heading, code) in [
            ("archived", 410, words, "LINK_ENDED"), ("expiring", 410, words, "LINK_ENDED"),
            ("once", 410, words, "LINK_ENDED"), ("unknown", 404, "This link leads nowhere", "NOT_FOUND"),
            ("", 404, "This link leads nowhere", "NOT_FOUND"),
        ] {
            for query in [nil, "al_go=store", "al_go=code"] {
                let answer = await service.open(slug, query: query)
                #expect(answer.status == status, "\(slug)")
                #expect(answer.page.text.contains(heading))
                #expect(answer.page.text.contains("Get it on the App Store"))
                #expect(answer.text.contains("https://apps.apple.com/app/id1234567890"))
                #expect(answer.text.contains("https://shop.example/icon.png"))
                #expect(
                    answer.field("Content-Security-Policy")?.hasPrefix("default-src 'none'; style-src")
                        == true
                )
                #expect(answer.field("Cache-Control") == "no-store")
                #expect(!answer.text.contains("<script"))
            }
            for accept in ["*/*", "text/html;q=0, */*", "application/json, TEXT/HTML; level=1 ; Q=0.000"] {
                let program = await service.open(slug, fields: ["Accept": accept])
                #expect(program.status == status, "\(accept)")
                #expect(program.member("error_code") == code, "\(accept)")
            }
            for accept in ["text/html;q=0.001", "text/html;q=0, application/xhtml+xml"] {
                let browser = await service.open(slug, fields: ["Accept": accept])
                #expect(browser.page.text.contains(heading), "\(accept)")
            }
        }
        let turkish = await service.open("unknown", fields: ["Accept-Language": "tr"])
        #expect(turkish.page.text.contains("Bu bağlantı bir yere gitmiyor"))
        #expect(try await service.totals()[.clicks] == 1)
    }

    @Test("the page of an unknown link names no store if the host serves several apps")
    func severalApps() async throws {
        let service = try await TestService(LinkScenario.shop)
        _ = try await service.addApp(App.Settings(name: "Other", links: LinkScenario.shop.links))
        #expect(await !service.open("unknown").text.contains("apps.apple.com"))
    }

    @Test("unknown paths next to the service's own paths, and methods that do not read, get 404")
    func ownPaths() async throws {
        let service = try await TestService(LinkScenario.shop)
        for path in [
            "v1", "admin", "admin/api", "healthz/x", "v1/deferred-deeplink/x", ".well-known/x", "robots.txt",
        ] { #expect(await service.open(path).status == 404, "\(path)") }
        for method in [HTTPServer.Method.post, .put, .delete, .patch, .options] {
            #expect(await service.open("summer25", method: method).status == 404)
        }
    }

    @Test("a link's path refuses methods that do not read, and lists those that it allows")
    func methods() async throws {
        let service = try await TestService(LinkScenario.shop)
        let link = try await service.makeLink(#"{"slug":"a/b","destination":"myapp://x"}"#)
        let long = "link=https%3A%2F%2Fshop.example%2Fx&apn=com.example.shop"
        let addresses: [(path: String, query: String?)] = [("a/b", nil), ("", long), ("links", long)]
        for (path, query) in addresses {
            for method in [HTTPServer.Method.post, .put, .delete, .patch] {
                let answer = await service.open(path, method: method, query: query)
                #expect(answer.isRefusal(405, "METHOD_NOT_ALLOWED"), "\(method) /\(path)")
                #expect(answer.field("Allow") == "GET, HEAD, OPTIONS")
            }
            let options = await service.open(path, method: .options, query: query)
            #expect(options.status == 204 && options.field("Allow") == "GET, HEAD, OPTIONS", "/\(path)")
            #expect(await service.open(path, method: .head, query: query).status == 200, "/\(path)")
        }
        await service.admin(.post, "/links/\(link)/archive")
        #expect(await service.open("a/b", method: .post).status == 405)
        #expect(try await service.counted(.clicks) == 0)
    }
}

@Suite("The code for continuing on a phone")
struct HandoffQRCodeTests {
    @Test(
        "the code contains the link with the source of a scan, and the token of the click that the page recorded"
    )
    func code() async throws {
        let service = try await TestService(LinkScenario.shop)
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        let click = await service.click(#"{"link":"a","fingerprint":"\#(hex)"}"#)
        let token = try #require(click.member("token"))
        let query = "al_go=code&x=1&source=mail&al=\(token)"
        let answer = await service.open("a", Visitors.windows, query: query)
        #expect(answer.status == 200)
        #expect(answer.field("Content-Type") == "image/svg+xml")
        #expect(answer.field("Cache-Control") == "no-store")
        let text = "https://go.shop.example/a?source=qr&al=\(token)&x=1"
        #expect(answer.text == (try QRPicture(of: text).svg()))
        let plain = await service.open("a", Visitors.windows, query: "al_go=code&x=1")
        #expect(plain.text == (try QRPicture(of: "https://go.shop.example/a?source=qr&x=1").svg()))
        // An app that is opened with the code has the token, which identifies the click for certain.
        let launch = await service.resolve(#"{"pasteboard":"\#(text)"}"#)
        #expect(launch.flag("guaranteed") == true, "\(launch.text)")
    }

    @Test("a code is refused with 404 if `al` is no token of the app")
    func refused() async throws {
        let service = try await TestService(LinkScenario.shop)
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        for text in ["x", String(repeating: "A", count: 44), "%22%3E"] {
            #expect(await service.open("a", query: "al_go=code&al=\(text)").status == 404)
        }
    }

    @Test("the code omits the visit's query if the query makes the link too long for a code")
    func long() async throws {
        let label = String(repeating: "a", count: 60)
        let host = "\(label).\(label).\(label).shop.example"
        var settings = LinkScenario.shop
        settings.links.hosts = [host].compactMap { LinkHost($0) }
        let service = try await TestService(settings)
        let slug = String(repeating: "s", count: 128)
        try await service.makeLink(#"{"slug":"\#(slug)","destination":"myapp://x"}"#)
        let query = "al_go=code&q=" + String(repeating: "a", count: 2040)
        let answer = await service.open(slug, query: query, fields: ["Host": host])
        #expect(answer.status == 200)
        #expect(answer.text == (try QRPicture(of: "https://\(host)/\(slug)").svg()))
    }

    @Test("the rate limit of codes for each address does not restrict pages")
    func rateLimit() async throws {
        let service = try await TestService(LinkScenario.shop, rateLimits: RateLimits([.pictures], "1/s:1"))
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        let (moment, host) = (MonotonicTime.now(), ["Host": "go.shop.example"])
        var statuses: [Int] = []
        for query in ["al_go=code", "al_go=code", ""] {
            statuses.append(await service.send(.get, "/a", query: query, fields: host, at: moment).status)
        }
        #expect(statuses == [200, 429, 200], "the page itself is no picture")
    }
}

@Suite("The script for other sites' pages")
struct CollectorTests {
    @Test("the script for other sites is cached for an hour and revalidated by its tag, from any origin")
    func caching() async throws {
        let service = try await TestService()
        let answer = await service.send(.get, "/v1/collector.js", fields: ["Origin": "https://shop.example"])
        #expect(answer.status == 200)
        #expect(answer.field("Content-Type") == "text/javascript; charset=utf-8")
        #expect(answer.field("Cache-Control") == "public, max-age=3600")
        #expect(answer.field("Access-Control-Allow-Origin") == "*")
        #expect(answer.text.contains("window.afterlink = { click: click"))
        #expect(answer.text.utf8.count < 5000)
        let tag = try #require(answer.field("ETag"))
        for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
            let again = await service.send(.get, "/v1/collector.js", fields: ["If-None-Match": known])
            #expect(again.status == 304 && again.text.isEmpty && again.field("ETag") == tag)
        }
        let other = await service.send(.get, "/v1/collector.js", fields: ["If-None-Match": "\"x\""])
        #expect(other.status == 200)
        #expect(await service.send(.post, "/v1/collector.js").status == 405)
    }

    @Test("the script for other sites is part of the landing page's script")
    func sameCode() async throws {
        let service = try await TestService(LinkScenario.shop)
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        let script = await service.send(.get, "/v1/collector.js").text
        let shared = script.split(separator: "\n").dropFirst().joined(separator: "\n")
        #expect(await service.open("a").text.contains(shared))
    }
}
