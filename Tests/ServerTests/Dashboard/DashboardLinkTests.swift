import Attribution
import Foundation
import HTTPServer
import Testing

/// The list of links and the page of one link; ``DashboardLinkFormTests`` is about their form.
@Suite("Links in the dashboard")
struct DashboardLinkTests {
    private let service: TestService
    private let browser: DashboardBrowser

    init() async throws {
        service = try await TestService(LinkScenario.shop)
        browser = await DashboardBrowser.signedIn(to: service)
    }

    private static func digits(_ number: Int) -> String { String(repeating: "\(number)", count: 64) }

    /// Sends clicks of a link, and launches for the first of them.
    private func click(_ slug: String, _ clicks: Int, matches: Int, from first: Int) async {
        for number in first..<first + clicks {
            let fingerprint = Self.digits(number)
            let body = #"{"fingerprint":"\#(fingerprint)","link":"\#(slug)"}"#
            #expect(await service.click(body).status == 201)
            if number < first + matches { await service.check(fingerprint) }
        }
    }

    /// Returns the slug, the clicks and the matches of each link in the list, as ``answered(_:)`` does for the API.
    private func listed(_ query: String) async throws -> [[String]] {
        let answer = await browser.get("/links?" + query)
        #expect(answer.status == 200)
        return PageMarkup.table("Clicks, matches and state of each link", in: answer.text).dropFirst().map {
            [$0[0], $0[4], $0[5]]
        }
    }

    private func answered(_ query: String) async throws -> [[String]] {
        let answer = await service.admin(.get, "/links", query: query)
        let object = try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any]
        let links = try #require(object?["links"] as? [[String: Any]])
        return links.map { link in ["slug", "clicks", "matches"].map { "\(link[$0] ?? "")" } }
    }

    @Test("the list has the links, clicks and matches of the API under every filter")
    func list() async throws {
        let other = try await service.addApp(App.Settings(name: "Other", links: LinkScenario.shop.links))
        for (slug, more) in [
            ("summer-a", #""campaign_key":"SUMMER","tags":["a","b c"],"title":"Summer"#),
            ("summer-b", #""campaign_key":"SUMMER","tags":["a"],"title":"Beach"#),
            ("winter", #""campaign_key":"WINTER","title":"Snow"#),
            ("other", #""app":"\#(other.app.text)","title":"Other"#),
        ] {
            let app = more.contains("\"app\"") ? "" : #","app":"\#(service.app.text)""#
            try await service.makeLink(#"{"slug":"\#(slug)","destination":"/x"\#(app),\#(more)"}"#)
        }
        let gone = try await service.makeLink(
            #"{"slug":"gone","destination":"/x","app":"\#(service.app.text)"}"#
        )
        await click("summer-a", 3, matches: 2, from: 1)
        await click("winter", 1, matches: 0, from: 5)
        await service.admin(.post, "/links/\(gone)/archive")
        for (query, count) in [
            ("", 4), ("search=summer", 2), ("search=SNOW", 1), ("tag=a", 2), ("tag=b%20c", 1),
            ("campaign=SUMMER", 2), ("archived=true", 1), ("archived=any", 5), ("app=\(other.app.text)", 1),
            ("app=\(service.app.text)&campaign=WINTER&search=win", 1), ("search=nothing", 0),
        ] {
            let links = try await listed(query)
            #expect(links.count == count, "\(query)")
            #expect(try await answered(query) == links, "\(query)")
        }
        #expect(try await listed("search=summer-a") == [["summer-a", "3", "2"]])
        let states = await browser.table("Clicks, matches and state of each link", at: "/links?archived=any")
            .dropFirst()
        #expect(states.map { $0[6] } == ["Archived", "Live", "Live", "Live", "Live"])
        #expect(states.map { $0[8] } == ["Shop", "Other", "Shop", "Shop", "Shop"])
        for query in ["archived=maybe", "app=app_1", "before=x", "limit=0"] {
            #expect(await browser.get("/links?\(query)").status == 400, "\(query)")
        }
    }

    @Test("the list names the command that imports links, and leads to the log of imports")
    func imports() async throws {
        let page = await browser.get("/links").text
        #expect(page.contains("afterlink links import FILE --check"))
        let links = PageMarkup(page).tags.compactMap { $0.attributes["href"] }
        let log = try #require(links.first { $0.contains("link.import") })
        #expect(await browser.get(log).text.contains("No change is recorded"))
    }

    @Test("a link leads to its clicks by day")
    func clicksByDay() async throws {
        let id = try await service.makeLink(#"{"slug":"one","destination":"/x"}"#)
        let other = try await service.makeLink(#"{"slug":"two","destination":"/x"}"#)
        await click("one", 2, matches: 1, from: 1)
        await click("two", 1, matches: 0, from: 7)
        for (link, clicks) in [(id, "2"), (other, "1")] {
            let links = PageMarkup(await browser.get("/links/\(link)").text).tags
                .compactMap { $0.attributes["href"] }
            let days = try #require(links.first { $0.hasPrefix("/?link=") }).replacing("&amp;", with: "&")
            let page = await browser.get(days).text
            #expect(page.contains("<dt>Clicks</dt><dd class=\"figure\">\(clicks)</dd>"), "\(days)")
        }
    }

    @Test("each page but the last leads to older links, and keeps its filters in the address")
    func paging() async throws {
        for number in 1...5 {
            try await service.makeLink(#"{"slug":"s\#(number)","destination":"/x","tags":["t"]}"#)
        }
        var (address, slugs) = ("/links?tag=t&limit=2", [String]())
        for _ in 1...3 {
            let page = await browser.get(address).text
            slugs += PageMarkup.table("Clicks, matches and state of each link", in: page).dropFirst().map {
                $0[0]
            }
            let next = PageMarkup(page).tags.first { $0.attributes["class"] == "next" }
            guard let href = next?.attributes["href"] else { break }
            #expect(href.contains("tag=t") && href.contains("limit=2") && href.contains("before=lnk_"))
            address = href
        }
        #expect(slugs == ["s5", "s4", "s3", "s2", "s1"])
    }

    @Test("the choices of all pages stay in the address from a list to a row's page and to other pages")
    func keptChoices() async throws {
        let app = service.app.text
        try await service.makeLink(#"{"slug":"one","destination":"/x","campaign_key":"Spring"}"#)
        await click("one", 1, matches: 1, from: 1)
        let draft = #"{"app":"\#(app)","url":"https://example.com/","types":["match.created"]}"#
        #expect(await service.admin(.post, "/postbacks", draft).status == 201)
        let choices = "app=\(app)&period=7d&compare=off"
        for (list, start) in [
            ("/launches?", "/launches/chk_"), ("/live?", "/launches/clk_"), ("/links?", "/links/lnk_"),
            ("/campaigns/one?campaign=Spring&", "/links/lnk_"), ("/postbacks?", "/postbacks/pbe_"),
        ] {
            let page = PageMarkup(await browser.get(list + choices).text)
            let row = page.tags.compactMap { $0.attributes["href"] }.first { $0.hasPrefix(start) }
            let address = try #require(row, "\(list)")
            let next = await browser.get(address)
            #expect(next.status == 200, "\(address)")
            let links = PageMarkup(next.text).tags.compactMap { $0.attributes["href"] }
            #expect(links.contains("/campaigns?" + choices), "\(list): \(links)")
            #expect(start != "/links/lnk_" || links.contains { $0.hasSuffix("/edit?" + choices) }, "\(links)")
        }
        for path in ["/live", "/links"] {
            let page = PageMarkup(await browser.get("\(path)?period=7d").text)
            #expect(page.hidden("period") == "7d", "\(path)")
        }
    }

    @Test("an empty list says why it is empty, and what to do")
    func empty() async throws {
        let empty = await browser.get("/links").text
        #expect(empty.contains("There is no link yet") && empty.contains("afterlink links import"))
        #expect(empty.contains("<code>afterlink links create</code>"))
        let ofApp = await browser.get("/links?app=\(service.app.text)").text
        #expect(ofApp.contains("This app has no link yet") && !ofApp.contains("Change the filters"))
        try await service.makeLink(#"{"destination":"/x"}"#)
        let filtered = await browser.get("/links?search=nothing").text
        #expect(filtered.contains("No link has these properties") && !filtered.contains("no link yet"))
    }

    @Test("a link's page has its figures and settings, and only this page may load the preview's picture")
    func detail() async throws {
        let id = try await service.makeLink(
            #"{"slug":"go/a","title":"Sommer","destination":"/x","metadata":{"a":1},"maximum_clicks":7,"#
                + #""preview_title":"Up to 40 %","preview_image":"https://CDN.example:8443/p.png?x=1;y","tags":["a","b"]}"#
        )
        await click("go/a", 4, matches: 1, from: 1)
        let answer = await browser.get("/links/\(id)")
        let page = PageMarkup(answer.text)
        for text in [
            "go/a", "https://go.shop.example/go/a", "Sommer", #"{"a":1}"#, "7", "a, b", "Up to 40 %", "25 %",
            "https://CDN.example:8443/p.png?x=1;y", "Shop", id,
        ] {
            #expect(page.text.contains(text), "\(text)")
        }
        #expect(answer.text.contains(#"<dt>Clicks</dt><dd class="figure">4</dd>"#))
        #expect(answer.text.contains(#"<dt>Matches</dt><dd class="figure">1</dd>"#))
        let policy = try #require(answer.field("Content-Security-Policy"))
        #expect(policy.contains("img-src 'self' data: https://cdn.example:8443; connect-src"))
        #expect(page.tag(id: "picture")?.attributes["src"] == "https://CDN.example:8443/p.png?x=1;y")
        let plain = try await service.makeLink(#"{"slug":"plain","destination":"/x"}"#)
        for path in ["/links", "/links/\(plain)", "/links/\(id)/edit"] {
            let other = await browser.get(path)
            let policy = try #require(other.field("Content-Security-Policy"))
            #expect(other.status == 200 && policy.contains("img-src 'self' data:; connect-src"), "\(path)")
        }
        for path in ["/links/lnk_01m879b64k000723s12pjw96b9", "/links/x", "/links/x/edit", "/links/x/qr.svg"]
        {
            let answer = await browser.get(path)
            #expect(answer.status == 404 && answer.text.contains("There is no such link"), "\(path)")
        }
    }

    @Test("the page lists for ten kinds of visitors the same effects as the link's debug page")
    func visitors() async throws {
        let id = try await service.makeLink(
            #"{"slug":"ab","variants":[{"name":"x","weight":1,"destination":"/x"},"#
                + #"{"name":"y","weight":3,"destination":"/y"}],"huawei_fallback":"https://shop.example/hw"}"#
        )
        let page = await browser.get("/links/\(id)").text
        let rows = PageMarkup.table("What each visitor gets", in: page)
        #expect(rows.count == 11 && rows.first == ["Visitor", "App installed", "Not installed", "The page"])
        let debug = await service.open("ab", query: "d=1").text
        for row in rows.dropFirst(3) {
            let heading = HTMLTexts.escaped(row[0])
            let section = try #require(debug.components(separatedBy: ">\(heading)</h2>").dropFirst().first)
            let texts = PageMarkup(
                String(section.prefix(upTo: section.firstRange(of: "<h2")?.lowerBound ?? section.endIndex))
            ).text
            for text in row.dropFirst() { #expect(texts.contains(text), "\(row)") }
        }
        #expect(
            rows.dropFirst().prefix(2).allSatisfy {
                $0[3] == "Gives title, text and picture, and counts no click"
            }
        )
        func row(_ name: String) -> [String]? { rows.first { $0[0] == name } }
        #expect(row("iPhone")?[1] == "myapp://x" && row("iPhone")?[3] == "Leads to the store at once")
        #expect(row("iPhone, inside Instagram")?[3] == "Waits for a tap")
        #expect(row("Huawei's own system")?[2] == "https://shop.example/hw")
        #expect(
            row("Computer")?.dropFirst() == [
                "Stays on the page", "A page with a code for a phone", "Waits for a tap",
            ]
        )
        let variants = PageMarkup.table("Variants", in: page).dropFirst()
        #expect(
            variants.map { $0 } == [["x", "25 %", "/x", "0", "0", "–"], ["y", "75 %", "/y", "0", "0", "–"]]
        )
    }

    @Test(
        "the page's QR code is the same file as the link host's, but needs a session",
        arguments: ["svg", "png"]
    )
    func code(format: String) async throws {
        let id = try await service.makeLink(
            ##"{"slug":"go/a","destination":"/x","qr_foreground":"#112233"}"##
        )
        for query in [nil, "size=600&background=ffe&logo=true"] {
            let path = "/links/\(id)/qr.\(format)" + (query.map { "?" + $0 } ?? "")
            let host = ["Host": "go.shop.example"]
            let file = await service.send(.get, "/go/a/qr.\(format)", query: query, fields: host)
            let own = await browser.get(path)
            #expect(own.status == 200 && own.body == file.body && !own.body.isEmpty)
            #expect(own.field("Content-Type") == file.field("Content-Type"))
            #expect(own.field("Content-Disposition") == "inline; filename=\"go-a.\(format)\"")
            #expect(own.field("Cache-Control") == "no-store")
            #expect(own.field("Cross-Origin-Resource-Policy") == "same-origin")
        }
        let path = "/links/\(id)/qr.\(format)"
        #expect(await browser.get(path + "?size=1").status == 400)
        #expect(await DashboardBrowser(service).get(path).status == 303)
        await service.admin(.post, "/links/\(id)/archive")
        #expect(await browser.get(path).status == 410)
    }

    @Test("an app without a link host has no code, and its pages say how to get one")
    func noHost() async throws {
        let service = try await TestService(App.Settings(name: "Shop"))
        let browser = await DashboardBrowser.signedIn(to: service)
        let id = try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        for path in ["/links/\(id)", "/links/\(id)/edit", "/links/new"] {
            let page = await browser.get(path).text
            #expect(page.contains("afterlink apps set --link-host") && !page.contains("qr.svg"), "\(path)")
        }
        #expect(await browser.get("/links/\(id)/qr.svg").status == 404)
    }

    @Test("a link is archived, restored and deleted, and one with clicks is not deleted")
    func changes() async throws {
        let id = try await service.makeLink(#"{"slug":"a","destination":"/x"}"#)
        let token = "token=\(await browser.formToken())"
        func post(_ action: String) async -> Answer { await browser.post("/links/\(id)/\(action)", token) }
        #expect(await post("archive").field("Location") == "/links/\(id)")
        let archived = await service.admin(.get, "/links/\(id)").member("archived_at")
        #expect(archived != nil)
        let page = await browser.get("/links/\(id)").text
        #expect(
            page.contains("This link was archived") && page.contains("/restore\"") && !page.contains("qr.svg")
        )
        service.clock.advance(seconds: 5)
        #expect(await post("archive").status == 303)
        #expect(await service.admin(.get, "/links/\(id)").member("archived_at") == archived)
        #expect(await post("restore").status == 303)
        #expect(await service.admin(.get, "/links/\(id)").member("archived_at") == nil)
        #expect(await browser.get("/links/\(id)").text.contains("/delete\""))
        await click("a", 1, matches: 0, from: 1)
        let clicked = await browser.get("/links/\(id)").text
        #expect(
            !clicked.contains("/delete\"") && clicked.contains("its counts must remain; archive it instead")
        )
        let refused = await post("delete")
        #expect(refused.status == 409 && refused.text.contains("archive it instead"))
        let other = try await service.makeLink(#"{"slug":"b","destination":"/x"}"#)
        #expect(await browser.post("/links/\(other)/delete", token).field("Location") == "/links")
        #expect(await service.admin(.get, "/links/\(other)").status == 404)
        for action in ["archive", "restore", "delete"] {
            #expect(await browser.post("/links/\(other)/\(action)", token).status == 404, "\(action)")
        }
    }

    @Test("a form without the session's token, or without a session, changes nothing")
    func forgery() async throws {
        let id = try await service.makeLink(#"{"slug":"a","destination":"/x"}"#)
        let before = await service.admin(.get, "/links").text
        let (token, stranger) = (await browser.formToken(), DashboardBrowser(service))
        for path in ["new", "\(id)/edit", "\(id)/archive", "\(id)/restore", "\(id)/delete"] {
            let body = "slug=b&destination=%2Fy"
            #expect(await browser.post("/links/\(path)", body).status == 403, "\(path)")
            #expect(await browser.post("/links/\(path)", body + "&token=x").status == 403, "\(path)")
            let other = await browser.post(
                "/links/\(path)",
                body + "&token=\(token)",
                fields: ["Sec-Fetch-Site": "cross-site"]
            )
            #expect(other.status == 403, "\(path)")
            let answer = await stranger.post("/links/\(path)", body + "&token=\(token)")
            #expect(answer.field("Location") == "/sign-in", "\(path)")
        }
        #expect(await service.admin(.get, "/links").text == before)
    }

    @Test("the search field finds a link by slug, address and id, and launches and campaigns by other texts")
    func find() async throws {
        let id = try await service.makeLink(#"{"slug":"go/Summer_1","destination":"/x"}"#)
        for text in [
            "go/Summer_1", " go/Summer_1 ", id, "https://go.shop.example/go/Summer_1",
            "https://go.shop.example/go/Summer_1?utm_source=x#y", "http://GO.shop.example/go/Summer_1",
            "go.shop.example/go/Summer_1", "GO.shop.example/go/Summer_1?x=y",
        ] {
            let query = QueryItem.query(of: [QueryItem(name: "find", value: text)])
            let answer = await browser.get("/launches?\(query)")
            #expect(answer.field("Location") == "/links/\(id)", "\(text)")
        }
        for (text, place) in [
            ("phone-7", "/launches/phone-7"), ("summer_1", "/launches/summer_1"),
            (hex, "/launches?fingerprint=\(hex)&period=all"),
        ] {
            #expect(await browser.get("/launches?find=\(text)").field("Location") == place)
        }
        await service.click(
            #"{"fingerprint":"\#(hex)","deeplink_url":"myapp://x","campaign_key":"Spring Sale"}"#
        )
        for (text, place) in [
            ("Spring+Sale", "/campaigns/one?period=all&campaign=Spring%20Sale"),
            ("spring", "/campaigns?period=all&search=spring"),
        ] {
            #expect(await browser.get("/launches?find=\(text)").field("Location") == place)
        }
        for text in ["https%3A%2F%2Felse.example%2Fgo%2FSummer_1", "go/summer_1", "%3Cscript%3E"] {
            #expect(await browser.get("/launches?find=\(text)").status == 400, "\(text)")
        }
    }

    @Test("a list of 100 links, its style and its script stay within 60 KB")
    func size() async throws {
        for number in 100..<200 {
            try await service.makeLink(
                #"{"slug":"summer-sale-\#(number)","title":"Summer sale, newsletter \#(number)","destination":"/x","#
                    + #""campaign_key":"SUMMER-2027-\#(number)","tags":["newsletter","summer"]}"#
            )
        }
        let page = await browser.get("/links")
        #expect(PageMarkup.table("Clicks, matches and state of each link", in: page.text).count == 101)
        var sum = page.body.count
        for tag in PageMarkup(page.text).tags {
            guard let file = tag.attributes["href"] ?? tag.attributes["src"], file.hasPrefix("/files/")
            else { continue }
            sum += await browser.get(file).body.count
        }
        #expect(sum > page.body.count && sum <= 60_000, "\(sum)")
    }
}

/// Texts as pages contain them.
private enum HTMLTexts {
    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("'", with: "&#39;").replacing("<", with: "&lt;")
    }
}
