import Attribution
import HTTPServer
import JSON
import Server
import TestDatabases
import Testing

@Suite("Where links lead browsers")
struct LinkRedirectTests {
    /// Parameters and fields that other services read as a destination, or as the requested host.
    private static let foreign =
        "url=https://evil.example/&link=https://evil.example/&redirect=//evil.example&next=/%5Cevil.example"
        + "&ofl=https://evil.example/&ifl=https://evil.example/&afl=https://evil.example/&fallback=https://evil.example"
        + "&ios_fallback=https://evil.example/&desktop_url=https://evil.example/&location=https://evil.example"
        + "&al_url=https://evil.example&destination=evil://x&al=https://evil.example&al_variant=https://evil.example"
    private static let fields = [
        "X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example",
        "X-Original-URL": "https://evil.example/",
        "Referer": "https://evil.example/", "Origin": "https://evil.example",
    ]

    @Test("the target of a store button never depends on a query or a header field")
    func redirects() async throws {
        let service = try await TestService(LinkScenario.shop)
        try await service.makeLink(#"{"slug":"a","destination":"/promo"}"#)
        try await service.makeLink(
            #"{"slug":"b","destination":"/promo","ios_fallback":"https://shop.example/get","desktop_url":"https://shop.example/d"}"#
        )
        for (slug, agent) in [
            ("a", Visitors.iPhone), ("a", Visitors.android), ("b", Visitors.iPhone), ("b", Visitors.windows),
        ] {
            let plain = await service.open(slug, agent, query: "al_go=store")
            let asked = await service.open(
                slug,
                agent,
                query: "al_go=store&\(Self.foreign)",
                fields: Self.fields
            )
            #expect(plain.status == 302 && asked.status == 302)
            let location = try #require(asked.field("Location"))
            // Each click has another token.
            #expect(location.prefix { $0 != "?" } == plain.field("Location")?.prefix { $0 != "?" })
            #expect(!location.contains("evil"), "\(location)")
        }
    }

    @Test("the target of any link or refresh of the page never depends on a query or a header field")
    func pages() async throws {
        let service = try await TestService(LinkScenario.shop)
        try await service.makeLink(#"{"slug":"a","destination":"/promo"}"#)
        for agent in [Visitors.iPhone, Visitors.android, Visitors.mac, Visitors.windows, Visitors.tikTok] {
            let page = await service.open("a", agent, query: Self.foreign, fields: Self.fields).page
            for tag in page.tags {
                for name in [
                    "href", "src", "content", "action", "data-store", "data-intent", "data-endpoint",
                ] {
                    guard let value = tag.attributes[name] else { continue }
                    // Only the query may contain the foreign values: the page gives the phone the link's parameters.
                    let address = value.prefix { $0 != "?" }
                    #expect(!address.contains("evil"), "\(tag.name) \(name): \(value)")
                }
            }
        }
    }

    private static let never = [
        "javascript:alert(1)", "JavaScript:alert(1)//x/y", "java\\tscript:alert(1)", "data:text/html,x",
        "file:///etc/passwd", "vbscript:x", "blob:https://shop.example/x", "intent://x#Intent;end",
        "https://user@shop.example/x", "https://user:secret@shop.example/x",
        "https://shop.example\\\\@evil.example/x", "https://shop.example/a\\\\b",
        "https://shop.example/\\u0000x", "https://shop.example/a\\nb", "https://shop.example/\\u007f",
        "//evil.example/x", "https:///evil.example", "https://shop.example:99999/x",
    ]

    @Test("no link may contain a URL that runs code, reads files, has a password or can be read in two ways")
    func linkFields() async throws {
        let service = try await TestService(LinkScenario.shop)
        let fields: [LinkField] = [
            .destination, .iosDestination, .androidDestination, .desktopURL, .iosFallback, .androidFallback,
            .huaweiFallback, .previewImage,
        ]
        for value in Self.never {
            for field in fields {
                let own = field == .destination ? "" : #""destination":"myapp://x","#
                let body = #"{\#(own)"\#(field.rawValue)":"\#(value)"}"#
                let answer = await service.admin(.post, "/links", body)
                #expect(answer.status == 422 && answer.member("field") == field.rawValue, "\(body)")
            }
            let variant = #"{"variants":[{"name":"a","weight":1,"destination":"\#(value)"}]}"#
            #expect(await service.admin(.post, "/links", variant).status == 422, "\(variant)")
        }
        #expect(await service.admin(.get, "/links", query: "archived=any").text.contains(#""links":[]"#))
    }

    @Test("no app may have a URL that runs code or can be read in two ways, or a scheme of the web")
    func appFields() async throws {
        let service = try await TestService(LinkScenario.shop)
        let path = "/apps/\(service.app.text)"
        let fields: [AppLinkField] = [.icon, .iosFallback, .androidFallback, .huaweiFallback, .desktopURL]
        for value in Self.never + ["http://shop.example/x", "myapp://x"] {
            for field in fields {
                let answer = await service.admin(.patch, path, #"{"\#(field.rawValue)":"\#(value)"}"#)
                #expect(answer.status == 422 && answer.member("field") == field.rawValue, "\(value)")
            }
        }
        for field in [AppLinkField.iosScheme, .androidScheme] {
            for value in [
                "javascript", "data", "file", "https", "HTTP", "intent", "my app", "1a", "a:b", "vbscript",
            ] {
                let answer = await service.admin(.patch, path, #"{"\#(field.rawValue)":"\#(value)"}"#)
                #expect(answer.status == 422 && answer.member("field") == field.rawValue, "\(value)")
            }
        }
    }
}

@Suite("The security fields of every page")
struct PageFieldsTests {
    @Test("security fields are equally strict for links, ended links, unknown paths and a broken database")
    func fields() async throws {
        let service = try await TestService(LinkScenario.shop)
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        let gone = try await service.makeLink(#"{"slug":"gone","destination":"myapp://x"}"#)
        await service.admin(.post, "/links/\(gone)/archive")
        var answers: [(String, Int, Answer)] = []
        for agent in [
            Visitors.iPhone, Visitors.android, Visitors.mac, Visitors.windows, Visitors.tikTok,
            Visitors.weChat, Visitors.preview,
        ] {
            answers.append(("a", 200, await service.open("a", agent)))
            answers.append(("gone", 410, await service.open("gone", agent)))
            answers.append(("unknown", 404, await service.open("unknown", agent)))
        }
        answers.append(("a path that is no slug", 404, await service.open("../%00")))
        answers.append(("another host", 404, await service.open("a", fields: ["Host": "evil.example"])))
        answers.append(("the same host", 200, await service.open("a", fields: ["Host": "GO.Shop.Example."])))
        answers.append(("HEAD", 200, await service.open("a", method: .head)))
        try service.change(.hideLinks)
        answers.append(("unreadable", 503, await service.open("a")))
        for (name, status, answer) in answers {
            #expect(answer.status == status, "\(name)")
            expectStrict(answer, name)
        }
    }

    private func expectStrict(_ answer: Answer, _ name: String) {
        #expect(answer.field("Content-Type") == "text/html; charset=utf-8", "\(name)")
        #expect(answer.field("Cache-Control") == "no-store", "\(name)")
        #expect(answer.field("Referrer-Policy") == "strict-origin", "\(name)")
        #expect(answer.field("Cross-Origin-Opener-Policy") == "same-origin", "\(name)")
        let policy = answer.field("Content-Security-Policy") ?? ""
        let directives = policy.split(separator: "; ").map(String.init)
        for directive in [
            "default-src 'none'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
        ] { #expect(directives.contains(directive), "\(name): \(policy)") }
        #expect(!policy.contains("unsafe") && !policy.contains("*") && !policy.contains("http:"), "\(name)")
        for script in directives where script.hasPrefix("script-src") {
            #expect(
                script.wholeMatch(of: /script-src 'nonce-[A-Za-z0-9_-]{22}'/) != nil,
                "\(name): \(script)"
            )
        }
    }

    @Test("security fields keep pictures that are opened as documents from running or loading anything")
    func pictures() async throws {
        let service = try await TestService(LinkScenario.shop)
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        for answer in [
            await service.open("a/qr.svg"), await service.open("a", Visitors.windows, query: "al_go=code"),
        ] {
            #expect(answer.status == 200 && answer.field("Content-Type") == "image/svg+xml")
            let policy = try #require(answer.field("Content-Security-Policy"))
            #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("script"))
            #expect(!answer.text.contains("<script") && !answer.text.contains("onload"))
        }
    }
}

@Suite("The icon of a link host")
struct LinkHostIconTests {
    private static let icon = "https://cdn.shop.example/icon.png"

    @Test(
        "the icon is a redirect to the app's icon at both of its paths, and empty without an icon",
        arguments: ["favicon.ico", "apple-touch-icon.png"]
    )
    func redirects(path: String) async throws {
        var settings = LinkScenario.shop
        settings.links.icon = WebURL(stored: Self.icon)
        let service = try await TestService(settings)
        let answer = await service.open(path)
        #expect(answer.status == 302 && answer.field("Location") == Self.icon)
        #expect(answer.field("Cache-Control") == "public, max-age=3600")
        #expect(await service.open(path, method: .head).status == 302)
        // Another host's browser gets no icon of this app.
        let elsewhere = await service.open(path, fields: ["Host": "other.example"])
        #expect(elsewhere.status == 204 && elsewhere.field("Location") == nil && elsewhere.body.isEmpty)
        #expect(try await service.totals()[.clicks] ?? 0 == 0)
        let plain = try await TestService(LinkScenario.shop)
        #expect(await plain.open(path).status == 204)
    }

    @Test("no link can have a path of the icon")
    func reserved() async throws {
        let service = try await TestService(LinkScenario.shop)
        for slug in ["favicon.ico", "apple-touch-icon.png", "Apple-Touch-Icon.PNG"] {
            let answer = await service.admin(.post, "/links", #"{"slug":"\#(slug)","destination":"/promo"}"#)
            #expect(answer.status == 422, "\(answer.text)")
        }
    }
}
