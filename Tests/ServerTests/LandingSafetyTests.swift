import Attribution
import HTTPServer
import JSON
import Server
import Support
import Testing

@Suite("The security of a link's page")
struct LandingSafetyTests {
    @Test("the page runs its script and style by an unguessable nonce, and loads nothing but its pictures")
    func policy() async throws {
        var settings = LinkScenario.shop
        settings.links.icon = WebURL(stored: "https://cdn.shop.example:8443/i/icon.png?x=1")
        let service = try await TestService(settings)
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        var nonces: Set<String> = []
        for agent in [Visitors.iPhone, Visitors.android, Visitors.windows, Visitors.preview] {
            let answer = await service.open("a", agent)
            let policy = try #require(answer.field("Content-Security-Policy"))
            let parts = policy.split(separator: "; ").map(String.init)
            let nonce = try #require(policy.firstMatch(of: /nonce-([A-Za-z0-9_-]{22})'/)?.output.1)
            nonces.insert(String(nonce))
            var expected = ["default-src 'none'"]
            if agent != Visitors.preview {
                expected += ["script-src 'nonce-\(nonce)'", "connect-src 'self'"]
            }
            expected += [
                "style-src 'nonce-\(nonce)'", "img-src 'self' data: https://cdn.shop.example:8443",
                "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
            ]
            #expect(parts == expected)
            for tag in answer.page.tags where tag.name == "script" || tag.name == "style" {
                #expect(tag.attributes["nonce"] == String(nonce))
            }
            #expect(answer.field("Referrer-Policy") == "strict-origin")
            #expect(answer.field("Cross-Origin-Opener-Policy") == "same-origin")
        }
        #expect(nonces.count == 4)
    }

    @Test("the page has no event handler in a tag, no outside script, and no script that creates markup")
    func page() async throws {
        let service = try await TestService(LinkScenario.shop)
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        for agent in [Visitors.iPhone, Visitors.mac] {
            let page = await service.open("a", agent).page
            for tag in page.tags {
                #expect(!tag.attributes.keys.contains { $0.lowercased().hasPrefix("on") || $0 == "style" })
                #expect(tag.attributes["srcdoc"] == nil)
                if ["script", "link", "iframe", "object", "embed"].contains(tag.name) {
                    #expect(tag.attributes["src"] == nil)
                }
            }
            for script in page.rawTexts {
                for word in ["innerHTML", "outerHTML", "document.write", "eval(", "new Function"] {
                    #expect(!script.contains(word))
                }
            }
        }
    }

    static let hostile = [
        #""><script>alert(1)</script>"#, "'><img src=x onerror=alert(1)>",
        "</title><script>alert(1)</script>", "</style><script>alert(1)</script>",
        "</script><script>alert(1)</script>", "<!--", "-->", "]]>", "&quot;", "&#34;", "{{nonce}}",
        "{{{script}}}", "{{#link}}", "javascript:alert(1)", "\" autofocus onfocus=\"alert(1)",
        "' onmouseover='alert(1)", "`onclick=alert(1)", "a\u{2028}b", "\u{202e}x", "{al}", "{fallback}", "$&",
        "\\\"", "﹤script﹥", "data-then=store", "𝒳<𝒴",
    ]

    @Test("hostile text never changes the page's tags and attributes", arguments: hostile)
    func escaping(text: String) async throws {
        func page(_ text: String, _ agent: String, query: String?) async throws -> Answer {
            var settings = LinkScenario.shop
            settings.name = "N" + text
            let service = try await TestService(settings)
            var json = JSONWriter()
            json.object { json in
                json.member("slug", "a")
                json.member("destination", "myapp://x")
                json.member("preview_title", "T" + text)
                json.member("preview_description", "D" + text)
                json.member("utm_source", "U" + text)
                json.member("utm_campaign", "C" + text)
            }
            try await service.makeLink(json.text)
            return await service.open("a", agent, query: query)
        }
        for agent in [Visitors.iPhone, Visitors.android, Visitors.mac, Visitors.tikTok, Visitors.preview] {
            let escaped = QueryItem.query(of: [QueryItem(name: "q" + text, value: text)])
            let plain = try await page("x", agent, query: "qx=x").page
            let answer = try await page(text, agent, query: escaped)
            let hostile = answer.page
            #expect(answer.status == 200)
            #expect(hostile.structure == plain.structure, "\(agent)")
            #expect(hostile.rawTexts.map(\.utf8.count) == plain.rawTexts.map(\.utf8.count))
            #expect(hostile.meta("og:title") == "T" + text)
            #expect(hostile.meta("og:description") == "D" + text)
            #expect(hostile.text.contains("N" + text))
            for name in ["href", "src"] {
                for value in hostile.tags.compactMap({ $0.attributes[name] }) {
                    #expect(!value.lowercased().hasPrefix("javascript:") && !value.hasPrefix("//"))
                }
            }
        }
    }

    @Test("seeded noise in query, host, agent and language changes no tag, and never causes a 500")
    func noise() async throws {
        let service = try await TestService(LinkScenario.shop)
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x","pass_parameters":["q"]}"#)
        var random = SeededGenerator(seed: 5)
        let pieces =
            Self.hostile + [
                "q=", "&", "al_go=", "store", "code", "al=", "%00", "%zz", "=", "?", "#", "..", ";q=0.5",
            ]
        let agents = [Visitors.iPhone, Visitors.android, Visitors.mac]
        for round in 0..<300 {
            let noise = random.text(of: pieces, count: 0...6)
            let query = String(noise.unicodeScalars.filter { $0.isASCII && $0 != " " && $0 != "#" })
            let answer = await service.open(
                "a",
                agents[round % agents.count] + random.text(of: pieces, count: 0...2),
                query: query,
                fields: [
                    "Accept-Language": random.text(of: pieces, count: 0...6),
                    "Sec-CH-UA-Platform": random.text(of: pieces, count: 0...6),
                ]
            )
            #expect(
                [200, 302, 404].contains(answer.status),
                "\(query): \(answer.status) \(answer.text.prefix(200))"
            )
            guard answer.status == 200, answer.field("Content-Type")?.hasPrefix("text/html") == true else {
                continue
            }
            #expect(answer.page.tags.count { $0.name == "script" } == 1)
            #expect(answer.page.tags.count { $0.name == "body" } == 1)
        }
    }
}

@Suite("The pages' template and texts")
struct LandingTemplateTests {
    @Test("the operator's own page gets the same values as the built-in page")
    func replaced() async throws {
        let text = """
            <title>{{title}}</title><b>{{app}}</b>{{#image}}<img src="{{image}}">{{/image}}
            <style nonce="{{nonce}}">{{{style}}}</style><script nonce="{{nonce}}">{{{script}}}</script>
            """
        let pages = try LandingPages(replacing: Array(text.utf8), file: "own.html")
        let service = try await TestService(LinkScenario.shop) { $0.pages = pages }
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x","preview_title":"<T>"}"#)
        let answer = await service.open("a")
        #expect(answer.text.hasPrefix("<title>&lt;T&gt;</title><b>Shop</b>\n"))
        #expect(answer.text.contains("window.afterlink"))
        #expect(await service.open("b").text.contains("This link leads nowhere"))
        let preview = await service.open("a", Visitors.preview).text
        #expect(!preview.contains("window.afterlink"), "a preview gets no script")
    }

    @Test(
        "a malformed template is refused with its line or its file, and the problem",
        arguments: [
            ("<b>{{{script}}} {{nonce}}\n{{titel}}", "line 2", "There is no value \"titel\""),
            ("{{{script}}}{{nonce}}{{#title}}", "line 1", "{{#title}} is not closed."),
            ("{{{script}}}{{nonce}}\n\n{{/title}}", "line 3", "closes nothing"),
            ("{{{script}}}{{nonce}}{{title", "line 1", "is not closed with }}"),
            ("{{{script}}}{{nonce}}{{{title}}}", "line 1", "There is no value \"title\""),
            ("{{{script}}}{{nonce}}{{#title}}{{#app}}{{/title}}{{/app}}", "line 1", "closes nothing"),
            ("{{nonce}}", "own.html", "has no {{{script}}}"),
            ("{{{script}}}", "own.html", "has no {{nonce}}"),
        ]
    )
    func refused(text: String, place: String, problem: String) throws {
        let error = try #require(throws: DataFileError.self) {
            try LandingPages(replacing: Array(text.utf8), file: "own.html")
        }
        #expect(error.message.contains(place) && error.message.contains(problem), "\(error.message)")
        #expect(throws: DataFileError.self) { try LandingPages(replacing: [0xff], file: "own.html") }
    }

    @Test(
        "pages use the one of twelve languages that the visitor prefers most, in its direction of writing",
        arguments: [
            ("tr-TR,tr;q=0.9,en;q=0.8", "tr", "ltr", "Uygulamayı aç"), ("de", "de", "ltr", "App öffnen"),
            ("ar-EG", "ar", "rtl", "فتح التطبيق"), ("xx,ja;q=0.5", "ja", "ltr", "アプリを開く"),
            ("ZH-Hant-TW", "zh", "ltr", "打开应用"), ("fr;q=0.1, ko;q=0.9", "ko", "ltr", "앱 열기"),
            ("es", "es", "ltr", "Abrir la app"), ("pt-BR", "pt", "ltr", "Abrir o app"),
            ("it", "it", "ltr", "Apri l’app"), ("ru", "ru", "ltr", "Открыть приложение"),
            ("fr-CA", "fr", "ltr", "Ouvrir l’application"), ("", "en", "ltr", "Open the app"),
            ("xx", "en", "ltr", "Open the app"), ("*", "en", "ltr", "Open the app"),
        ]
    )
    func languages(wanted: String, code: String, direction: String, open: String) async throws {
        let service = try await TestService(LinkScenario.shop)
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        let page = await service.open("a", fields: ["Accept-Language": wanted]).page
        let html = try #require(page.tags.first { $0.name == "html" })
        #expect(html.attributes == ["lang": code, "dir": direction])
        #expect(page.text.contains(open))
    }

    @Test("every text exists in every language")
    func coverage() {
        let all: Set<String> = ["en", "tr", "de", "fr", "es", "pt", "it", "ru", "ar", "ja", "zh", "ko"]
        let coverage = LandingPages.embedded.textCoverage
        #expect(coverage.count == 17)
        for (key, languages) in coverage { #expect(languages == all, "\(key)") }
    }
}
