import Attribution
import HTTPServer
import JSON
import Server
import Testing

@Suite("Links over the admin API")
struct LinksTests {
    private let service: TestService

    init() async throws { service = try await TestService(LinkScenario.shop) }

    @Test("links are created, shown and listed with every field as it was sent")
    func roundTrip() async throws {
        let members = [
            #""title":"Yaz""#, #""destination":"myapp://promo/item""#,
            #""desktop_url":"https://shop.example/""#, #""campaign_key":"SUMMER25""#,
            #""source":"instagram""#, #""utm_source":"ig""#, #""metadata":{"a":[1,2.50,{"b":null}],"c":"é"}"#,
            #""attribution_window_seconds":3600"#, #""expires_at":"2027-01-01T00:00:00.000Z""#,
            #""maximum_clicks":10"#, #""preview_title":"Yaz""#, #""pasteboard":true"#,
            #""pass_parameters":["gclid"]"#, #""tags":["a","b c"]"#, ##""qr_foreground":"#112233""##,
        ]
        let made = await service.admin(
            .post,
            "/links",
            "{\"slug\":\"summer25\",\(members.joined(separator: ",")),\"variants\":[{\"name\":\"x\",\"weight\":3,\"destination\":\"/x\"}]}"
        )
        #expect(made.status == 201)
        for text in members { #expect(made.text.contains(text), "\(text)") }
        #expect(made.member("url") == "https://go.shop.example/summer25")
        #expect(
            made.text.contains(
                #""variants":[{"name":"x","weight":3,"destination":"/x","clicks":0,"matches":0}]"#
            )
        )
        let id = try #require(made.member("id"))
        #expect(id.hasPrefix("lnk_"))
        #expect(await service.admin(.get, "/links/\(id)").text == made.text)
        #expect(await service.admin(.get, "/links").text == "{\"links\":[\(made.text)],\"next\":null}")
        // A client may send back what it has read: nothing changes, not even the time of the last change.
        service.clock.advance(seconds: 1)
        let patched = await service.admin(.patch, "/links/\(id)", made.text)
        #expect(patched.status == 200 && patched.text == made.text, "\(patched.text)")
    }

    @Test("a link without a chosen slug gets a random slug of 11 characters")
    func madeSlug() async throws {
        var slugs: Set<String> = []
        for _ in 0..<10 {
            let answer = await service.admin(.post, "/links", #"{"destination":"myapp://x"}"#)
            let slug = try #require(answer.member("slug"))
            #expect(slug.count == 11)
            slugs.insert(slug)
        }
        #expect(slugs.count == 10)
    }

    @Test(
        "a wrong link is refused with 422, the field and advice",
        arguments: [
            (#"{}"#, "destination"), (#"{"destination":"myapp:///x"}"#, "destination"),
            (#"{"destination":"https://shop.example/"}"#, "destination"),
            (#"{"destination":"javascript:alert(1)"}"#, "destination"),
            (#"{"destination":"https://evil.example/x"}"#, "destination"),
            (#"{"destination":"http://shop.example/x"}"#, "destination"),
            (#"{"destination":"//evil.example/x"}"#, "destination"),
            (#"{"destination":"/a/../x"}"#, "destination"), (#"{"destination":"/%2E%2e/x"}"#, "destination"),
            (#"{"destination":"other://x"}"#, "destination"), (#"{"destination":5}"#, "destination"),
            (#"{"destination":"myapp://x","desktop_url":"https://evil.example/"}"#, "desktop_url"),
            (#"{"destination":"myapp://x","slug":"admin"}"#, "slug"),
            (#"{"destination":"myapp://x","slug":"a b"}"#, "slug"),
            (#"{"destination":"myapp://x","slug":5}"#, "slug"),
            (#"{"destination":"myapp://x","app":"app_1"}"#, "app"),
            (#"{"destination":"myapp://x","app":1}"#, "app"),
            (#"{"destination":"myapp://x","attribution_window_seconds":59}"#, "attribution_window_seconds"),
            (#"{"destination":"myapp://x","attribution_window_seconds":"60"}"#, "attribution_window_seconds"),
            (#"{"destination":"myapp://x","maximum_clicks":0}"#, "maximum_clicks"),
            (#"{"destination":"myapp://x","expires_at":"2001-01-01T00:00:00Z"}"#, "expires_at"),
            (#"{"destination":"myapp://x","metadata":[1]}"#, "metadata"),
            (#"{"destination":"myapp://x","metadata":"{}"}"#, "metadata"),
            (#"{"destination":"myapp://x","pasteboard":"true"}"#, "pasteboard"),
            (#"{"destination":"myapp://x","tags":"a"}"#, "tags"),
            (#"{"destination":"myapp://x","tags":[1]}"#, "tags"),
            (
                #"{"destination":"myapp://x","variants":[{"name":"a","weight":"1","destination":"/a"}]}"#,
                "variants"
            ),
            (#"{"variants":[{"name":"a b","weight":1,"destination":"/a"}]}"#, "variants"),
            (#"{"destination":"myapp://x","destinaton":"myapp://x"}"#, "destinaton"),
            (
                #"{"destination":"myapp://x","preview_title":""# + String(repeating: "x", count: 251)
                    + #""}"#,
                "preview_title"
            ),
        ]
    )
    func refuses(body: String, field: String) async throws {
        let answer = await service.admin(.post, "/links", body)
        #expect(answer.isRefusal(422, "INVALID_FIELD", field: field), "\(answer.text)")
        #expect(answer.member("message")?.hasSuffix(".") == true)
        #expect(await service.admin(.get, "/links").text == #"{"links":[],"next":null}"#)
    }

    @Test("an unknown app gets 404, for a new link and for lists of links and checks")
    func unknownApp() async throws {
        let app = "app_00000000000000000000000000"
        let made = await service.admin(.post, "/links", #"{"destination":"myapp://x","app":"\#(app)"}"#)
        #expect(made.status == 404 && made.member("field") == "app")
        for path in ["/admin/api/links", "/admin/api/checks"] {
            let answer = await service.send(.get, path, query: "app=\(app)", fields: service.bearer(.admin))
            #expect(answer.status == 404 && answer.member("field") == "app", "\(path)")
        }
    }

    @Test("all problems of a link are reported at once")
    func tellsAll() async throws {
        let answer = await service.admin(
            .post,
            "/links",
            #"{"slug":"v1/x","destination":"myapp:///x","metadata":3,"unknown":1,"maximum_clicks":0}"#
        )
        #expect(answer.status == 422)
        for field in ["slug", "destination", "metadata", "unknown", "maximum_clicks"] {
            #expect(answer.text.contains(#"{"field":"\#(field)","message":""#), "\(field)")
        }
    }

    @Test("a body that is not JSON gets 400, and another media type 415")
    func malformed() async throws {
        #expect(await service.admin(.post, "/links", "{").status == 400)
        let fields = service.bearer(.admin).merging(["Content-Type": "text/plain"]) { $1 }
        #expect(await service.send(.post, "/admin/api/links", fields: fields, body: "{}").status == 415)
    }

    @Test("a change sets the fields that it names; null removes a field; slug and app never change")
    func patch() async throws {
        let id = try await service.makeLink(
            #"{"slug":"a","destination":"myapp://x","title":"Old","tags":["a"],"campaign_key":"S"}"#
        )
        let changed = await service.admin(
            .patch,
            "/links/\(id)",
            #"{"title":"New","tags":null,"utm_source":"ig"}"#
        )
        #expect(changed.status == 200)
        for text in [#""title":"New""#, #""utm_source":"ig""#, #""campaign_key":"S""#, #""slug":"a""#] {
            #expect(changed.text.contains(text))
        }
        #expect(!changed.text.contains("tags"))
        for body in [
            #"{"slug":"b"}"#, #"{"app":"app_x"}"#, #"{"destination":null}"#, #"{"destination":"x"}"#,
        ] { #expect(await service.admin(.patch, "/links/\(id)", body).status == 422, "\(body)") }
        #expect(await service.admin(.get, "/links/\(id)").text == changed.text)
        let unknown = LinkID(high: 1, low: 1).text
        for path in ["/links/\(unknown)", "/links/x", "/links/\(service.app.text)"] {
            #expect(await service.admin(.patch, path, "{}").status == 404)
            #expect(await service.admin(.get, path).status == 404)
            #expect(await service.admin(.delete, path).status == 404)
            #expect(await service.admin(.post, path + "/archive").status == 404)
        }
    }

    @Test("links that have expired can still be changed in other fields")
    func patchExpired() async throws {
        let soon = service.clock.now.advanced(byMilliseconds: 1000).iso8601
        let id = try await service.makeLink(#"{"destination":"myapp://x","expires_at":"\#(soon)"}"#)
        service.clock.advance(seconds: 2)
        #expect(await service.admin(.get, "/links/\(id)").member("ending") == "expired")
        #expect(await service.admin(.patch, "/links/\(id)", #"{"title":"T"}"#).status == 200)
        #expect(
            await service.admin(.patch, "/links/\(id)", #"{"expires_at":"2001-01-01T00:00:00Z"}"#).status
                == 422
        )
        #expect(await service.admin(.patch, "/links/\(id)", #"{"expires_at":null}"#).member("ending") == nil)
    }

    @Test("a link's slug is unique on a link host, and free on other hosts")
    func conflicts() async throws {
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        let again = await service.admin(.post, "/links", #"{"slug":"a","destination":"myapp://y"}"#)
        #expect(again.isRefusal(409, "CONFLICT", field: "slug"), "\(again.text)")
        let other = try await service.addApp(App.Settings(name: "Other"))
        #expect(await service.admin(.post, "/links", #"{"slug":"a","destination":"o://x"}"#).status == 422)
        let body = #"{"app":"\#(other.app.text)","slug":"a","destination":"o://x"}"#
        #expect(await service.admin(.post, "/links", body).status == 201)
    }

    @Test("links are archived and restored; links are deleted only if they have no clicks")
    func life() async throws {
        let id = try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        let archived = await service.admin(.post, "/links/\(id)/archive")
        #expect(archived.status == 200)
        #expect(archived.member("archived_at") != nil)
        #expect(archived.member("ending") == "archived")
        #expect(
            await service.admin(.post, "/links/\(id)/archive").member("archived_at")
                == archived.member("archived_at")
        )
        #expect(await service.admin(.get, "/links").text == #"{"links":[],"next":null}"#)
        #expect(await service.admin(.get, "/links", query: "archived=true").text.contains(id))
        #expect(await service.admin(.post, "/links/\(id)/restore").member("archived_at") == nil)
        #expect(await service.admin(.get, "/links").text.contains(id))
        let clicked = await service.click(#"{"fingerprint":"\#(hex)","link":"a"}"#)
        #expect(clicked.status == 201, "\(clicked.text)")
        let refused = await service.admin(.delete, "/links/\(id)")
        #expect(refused.status == 409)
        #expect(refused.member("message")?.contains("archive") == true)
        let fresh = try await service.makeLink(#"{"slug":"b","destination":"myapp://x"}"#)
        #expect(await service.admin(.delete, "/links/\(fresh)").status == 204)
        #expect(await service.admin(.get, "/links/\(fresh)").status == 404)
    }

    @Test("several changes of a link at the same time are all kept, if they name different fields")
    func changedAtOnce() async throws {
        let id = try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        let fields = ["title", "utm_source", "referral_code"]
        let statuses = await withTaskGroup(of: Int.self) { group in
            for field in fields {
                group.addTask { await service.admin(.patch, "/links/\(id)", #"{"\#(field)":"x"}"#).status }
            }
            return await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses == [200, 200, 200])
        let link = await service.admin(.get, "/links/\(id)")
        for field in fields { #expect(link.member(field) == "x") }
    }

    @Test("a link that is archived from the start may have expired already; other links may not")
    func expiredDraft() throws {
        let app = App(id: AppID(high: 1, low: 1), settings: LinkScenario.shop, createdAt: TestClock.start)
        var fields = LinkFields()
        fields.set(.destination, "myapp://x")
        fields.set(.expiresAt, TestClock.start.advanced(byMilliseconds: -1).iso8601)
        func make(isArchived: Bool) throws(FieldProblems) {
            _ = try LinkDraft.link(
                "a",
                fields,
                of: app,
                in: Directory(apps: [app], keys: []),
                at: TestClock.start,
                random: .system,
                isArchived: isArchived
            )
        }
        #expect(throws: Never.self) { try make(isArchived: true) }
        #expect(throws: FieldProblems.self) { try make(isArchived: false) }
    }

    @Test("links are listed by words, tag, campaign, app and archive, page by page")
    func lists() async throws {
        for number in 1...5 {
            try await service.makeLink(
                #"{"slug":"n\#(number)","destination":"myapp://p\#(number)","#
                    + #""tags":["t\#(number % 2)"],"campaign_key":"C\#(number % 3)"}"#
            )
        }
        func slugs(_ query: String) async -> [String] {
            let text = await service.admin(.get, "/links", query: query).text
            return text.matches(of: #/"slug":"([^"]*)"/#).map { String($0.output.1) }
        }
        #expect(await slugs("") == ["n5", "n4", "n3", "n2", "n1"])
        #expect(await slugs("tag=t1") == ["n5", "n3", "n1"])
        #expect(await slugs("campaign=C2") == ["n5", "n2"])
        #expect(await slugs("search=P4") == ["n4"])
        #expect(await slugs("app=\(service.app.text)&limit=2") == ["n5", "n4"])
        #expect(await slugs("archived=true") == [])
        let first = await service.admin(.get, "/links", query: "limit=3")
        let next = try #require(first.member("next"))
        #expect(await slugs("limit=3&before=\(next)") == ["n2", "n1"])
        for query in ["limit=0", "limit=1001", "archived=x", "before=x", "app=app_x"] {
            #expect(await service.admin(.get, "/links", query: query).status == 400, "\(query)")
        }
    }

    @Test("newer clients get the newest link of a campaign key among the links that have not ended")
    func campaigns() async throws {
        try await service.makeLink(
            #"{"slug":"old","destination":"myapp://old","campaign_key":"S 1","preview_title":"Old"}"#
        )
        let id = try await service.makeLink(
            #"{"slug":"new","destination":"/p/1","campaign_key":"S 1","title":"Internal","preview_title":"Yaz","#
                + #""jid":"j1","desktop_url":"https://shop.example/d","metadata":{"a":1},"utm_source":"ig"}"#
        )
        for path in ["/campaign/resolve/S%201", "/resolve/S%201"] {
            await service.send(.get, path).expect(
                200,
                holds: [
                    #""keyName":"S 1""#, #""title":"Yaz""#, #""scheme":"myapp://p/1""#,
                    #""webUrl":"https://shop.example/d""#,
                    #""iosUrl":"https://apps.apple.com/app/id1234567890""#,
                    #""androidUrl":"https://play.google.com/store/apps/details?id=com.example.shop""#,
                    #""iosUniversalUrl":"https://go.shop.example/new""#,
                    #""metaData":{"a":1,"utm_source":"ig"}"#,
                ],
                lacks: [#"_id""#, "created_at", "jid", "lnk_", "Internal"]
            )
        }
        await service.admin(.post, "/links/\(id)/archive")
        #expect(await service.send(.get, "/resolve/S%201").member("title") == "Old")
        #expect(await service.send(.get, "/resolve/none").text == #"{"keyName":"none"}"#)
        // An invalid key changes nothing.
        let stale = await service.send(.get, "/resolve/S%201", fields: ["Authorization": "Bearer app_x"])
        #expect(stale.member("title") == "Old")
        let other = try await service.addApp(App.Settings(name: "Other"))
        #expect(
            await service.send(.get, "/resolve/S%201", fields: other.bearer).text == #"{"keyName":"S 1"}"#
        )
        // The requested host is no link host, and so serves the other app; the key selects the first app.
        let own = service.bearer(.app)
        #expect(await service.send(.get, "/resolve/S%201", fields: own).member("title") == "Old")
    }
}
