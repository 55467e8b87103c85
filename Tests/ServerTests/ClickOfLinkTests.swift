import Attribution
import HTTPServer
import JSON
import Server
import Testing

@Suite("A click of a link")
struct ClickOfLinkTests {
    private let service: TestService

    init() async throws { service = try await TestService(LinkScenario.shop) }

    private static func body(_ slug: String, fingerprint: String = hex, _ more: String = "") -> String {
        #"{"fingerprint":"\#(fingerprint)","link":"\#(slug)"\#(more)}"#
    }

    @Test("a click gives the launch its link's destination, campaign, journey, source, metadata and window")
    func answer() async throws {
        try await service.makeLink(
            #"{"slug":"summer25","destination":"myapp://promo/item","campaign_key":"SUMMER25","jid":"j_own","#
                + #""source":"Instagram","utm_source":"ig","utm_medium":"social","referral_code":"AYSE","#
                + #""metadata":{"offer":[1,2.50]},"attribution_window_seconds":7200}"#
        )
        let click = await service.click(Self.body("summer25"))
        #expect(click.status == 201, "\(click.text)")
        let expiry = service.clock.now.advanced(byMilliseconds: 7_200_000)
        #expect(click.member("expires_at") == expiry.iso8601)
        await service.check(hex).expect(
            200,
            holds: [
                #""status":"match""#,
                #""url":"myapp://promo/item?source=instagram&keyName=SUMMER25&jid=j_own""#,
                #""campaignKey":"SUMMER25""#, #""jid":"j_own""#, #""attributionWindow":7200"#,
                #""metadata":{"offer":[1,2.50],"utm_source":"ig","utm_medium":"social","referral_code":"AYSE"}"#,
            ]
        )
        let listing = await service.admin(.get, "/links")
        #expect(listing.text.contains(#""clicks":1,"robots":0,"matches":1"#))
    }

    @Test(
        "a click's source is the page that led to the link's page, although the link's page is the referer",
        arguments: [
            ("https://go.shop.example/a?x=1", "", SourceToken.direct, nil as String?),
            ("https://GO.shop.example:8443/", "", .direct, nil),
            ("https://asked.example/a", "", .direct, nil),
            (
                "https://go.shop.example/a", #","referer":"https://l.instagram.com/""#, .instagram,
                "l.instagram.com"
            ),
            ("https://t.co/x", "", .twitter, "t.co"),
            ("https://blog.example/", "", .unknown, "blog.example"),
        ]
    )
    func referer(sent: String, more: String, token: SourceToken, raw: String?) async throws {
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        let fields = ["Referer": sent, "Host": "asked.example"]
        #expect(await service.click(Self.body("a", more), fields: fields).status == 201)
        let facts = try #require(service.watch.click?.facts)
        #expect(facts.source == token && facts.rawSource == raw)
    }

    @Test("a click overrides its link's campaign, journey, window and metadata, member by member")
    func bodyWins() async throws {
        try await service.makeLink(
            #"{"slug":"a","destination":"myapp://x","campaign_key":"LINK","jid":"link","utm_source":"ig","#
                + #""metadata":{"a":"link","b":"link"},"attribution_window_seconds":7200}"#
        )
        let own =
            #","campaign_key":"BODY","jid":"body","attribution_window_seconds":60,"metadata":{"a":"body"}"#
        #expect(await service.click(Self.body("a", own)).status == 201)
        let match = await service.check(hex)
        for text in [
            #""campaignKey":"BODY""#, #""jid":"body""#, #""attributionWindow":60"#,
            #""metadata":{"a":"body","b":"link","utm_source":"ig"}"#,
        ] { #expect(match.text.contains(text), "\(text) in \(match.text)") }
    }

    @Test("a click keeps only its own metadata if the link's metadata would make it too long")
    func longMetadata() async throws {
        let long = String(repeating: "x", count: 8000)
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x","metadata":{"a":"\#(long)"}}"#)
        await service.click(Self.body("a", #","metadata":{"b":"\#(String(repeating: "y", count: 500))"}"#))
        let match = await service.check(hex)
        #expect(match.text.contains(#""metadata":{"b":"yyy"#) && !match.text.contains("xxx"))
    }

    private static let utm =
        #","query":"utm_source=q&utm_medium=q&utm_campaign=q&utm_term=q%22%0A&utm_id=&utm_other=q","#
        + #""utm":{"utm_source":"u","medium":"u","utm_campaign":"u","id":5,"content":null}"#

    @Test(
        "a click's metadata gets missing UTM parameters from its link, from the post and from the query",
        arguments: [
            (
                #","metadata":{"utm_source":7, "a": 1.50}"#,
                #"{"utm_source":7,"a":1.50,"utm_medium":"link","utm_campaign":"u","utm_term":"q\"\n"}"#,
                #"{"utm_source":7, "a": 1.50,"utm_medium":"u","utm_campaign":"u","utm_term":"q\"\n"}"#
            ),
            (
                #","metadata":{ }"#,
                #"{"utm_medium":"link","utm_source":"u","utm_campaign":"u","utm_term":"q\"\n"}"#,
                #"{"utm_source":"u","utm_medium":"u","utm_campaign":"u","utm_term":"q\"\n"}"#
            ),
        ]
    )
    func utm(metadata: String, ofLink: String, ofURL: String) async throws {
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x","utm_medium":"link"}"#)
        for (fingerprint, destination, expected) in [
            (hex, #""link":"a""#, ofLink),
            (String(repeating: "e", count: 64), #""deeplink_url":"myapp://x""#, ofURL),
        ] {
            let body = #"{"fingerprint":"\#(fingerprint)",\#(destination)\#(Self.utm)\#(metadata)}"#
            #expect(await service.click(body).status == 201)
            let match = await service.check(fingerprint)
            #expect(match.text.contains(#""metadata":\#(expected)"#), "\(match.text)")
        }
    }

    @Test("a UTM parameter that is too long, or for which the metadata has no room, is left out")
    func longUTM() async throws {
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        let (most, more) = (String(repeating: "m", count: 2048), String(repeating: "n", count: 2049))
        let filler = String(repeating: "f", count: 6000)
        let utm = #"{"medium":"\#(more)","campaign":"\#(most)","term":"\#(most)","id":"i"}"#
        let body = Self.body("a", #","utm":\#(utm),"metadata":{"a":"\#(filler)"}"#)
        #expect(await service.click(body).status == 201)
        let metadata = #"{"a":"\#(filler)","utm_campaign":"\#(most)","utm_id":"i"}"#
        #expect(await service.check(hex).text.contains(#""metadata":\#(metadata)"#))
    }

    @Test("a repeated post with other UTM parameters is no new click")
    func repeatedUTM() async throws {
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        #expect(await service.click(Self.body("a", #","query":"utm_source=x""#)).status == 201)
        #expect(await service.click(Self.body("a", Self.utm)).status == 200)
        #expect(await service.check(hex).text.contains(#""metadata":{"utm_source":"x"}"#))
    }

    @Test("a click gets a new journey if its link has none")
    func journeys() async throws {
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        var journeys: Set<String> = []
        for number in 1...3 {
            let fingerprint = String(repeating: "\(number)", count: 64)
            await service.click(Self.body("a", fingerprint: fingerprint))
            journeys.insert(try #require(await service.check(fingerprint).member("jid")))
        }
        #expect(journeys.count == 3)
    }

    @Test("a click leads to its link's destination for the visitor's platform")
    func platforms() async throws {
        var settings = LinkScenario.shop
        settings.links.android.scheme = "droidapp"
        let service = try await TestService(settings)
        try await service.makeLink(#"{"slug":"a","destination":"/p/1"}"#)
        for (platform, url) in [
            ("ios", "myapp://p/1"), ("android", "droidapp://p/1"), ("other", "myapp://p/1"),
        ] {
            await service.click(Self.body("a", #","platform":"\#(platform)","jid":"\#(platform)""#))
            #expect(service.watch.click?.facts.destination.text == url)
            service.clock.advance(seconds: 60)
        }
    }

    @Test(
        "a click passes on the tapped URL's parameters that the link lists; its source is read from all parameters"
    )
    func query() async throws {
        try await service.makeLink(
            #"{"slug":"a","destination":"myapp://x?a=1","pass_parameters":["gclid","a"]}"#
        )
        let query = "?gclid=x%20%26y&a=2&evil=1&fbclid=1&idfa=6D92078A-8246-4BA4-AE5B-76104861E7DC"
        await service.click(Self.body("a", #","query":"\#(query)""#))
        let facts = try #require(service.watch.click?.facts)
        #expect(facts.destination.text == "myapp://x?a=1&gclid=x%20%26y")
        #expect(facts.source == .facebook)
        #expect(service.watch.click?.evidence.advertisingIDs.count == 1)
    }

    @Test("a click gets one variant, always the same for one visitor, or the variant that its page has shown")
    func variants() async throws {
        try await service.makeLink(
            #"{"slug":"a","variants":[{"name":"x","weight":1,"destination":"/x"},"#
                + #"{"name":"y","weight":1,"destination":"/y"}]}"#
        )
        var names: Set<String> = []
        for number in 0..<40 {
            let peer = PeerAddress(ipv4: 0x0800_0000 + UInt32(number), port: 1)
            var own: Set<String> = []
            for fingerprint in ["c", "d"] {
                let text = String(repeating: fingerprint, count: 64)
                let click = await service.click(Self.body("a", fingerprint: text), peer: peer)
                #expect(click.status == 201)
                let facts = try #require(service.watch.click?.facts)
                #expect(facts.destination.text == "myapp://\(facts.variant ?? "")")
                own.insert(try #require(facts.variant))
            }
            #expect(own.count == 1)
            names.formUnion(own)
            let wanted = own == ["x"] ? "y" : "x"
            let text = String(repeating: "e", count: 64)
            let chosen = Self.body("a", fingerprint: text, #","variant":"\#(wanted)""#)
            await service.click(chosen, peer: peer)
            #expect(service.watch.click?.facts.variant == wanted)
        }
        #expect(names == ["x", "y"])
        let unknown = Self.body("a", fingerprint: String(repeating: "f", count: 64), #","variant":"z""#)
        #expect(await service.click(unknown).status == 201)
        #expect(["x", "y"].contains(service.watch.click?.facts.variant))
        let listing = await service.admin(.get, "/links").text
        #expect(listing.contains(#""clicks":121"#), "\(listing)")
    }

    @Test("a click of a robot or a prefetch is counted separately and never matched")
    func robots() async throws {
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x","maximum_clicks":1}"#)
        for fields in [["User-Agent": "facebookexternalhit/1.1"], ["Purpose": "prefetch"]] {
            #expect(await service.click(Self.body("a"), fields: fields).status == 201)
            service.clock.advance(seconds: 60)
        }
        #expect(await service.check(hex).text.contains("no_match"))
        #expect(await service.admin(.get, "/links").text.contains(#""clicks":0,"robots":2,"matches":0"#))
        #expect(await service.click(Self.body("a"), fields: ["User-Agent": "B/1"]).status == 201)
    }

    @Test("a click of an unknown link gets 404, of an ended link 410; neither is recorded")
    func ended() async throws {
        let soon = service.clock.now.advanced(byMilliseconds: 30_000).iso8601
        let archived = try await service.makeLink(#"{"slug":"archived","destination":"myapp://x"}"#)
        try await service.makeLink(#"{"slug":"expiring","destination":"myapp://x","expires_at":"\#(soon)"}"#)
        try await service.makeLink(#"{"slug":"once","destination":"myapp://x","maximum_clicks":1}"#)
        await service.admin(.post, "/links/\(archived)/archive")
        #expect(await service.click(Self.body("once")).status == 201)
        // The same visitor's repeated post gets the click that was recorded.
        #expect(await service.click(Self.body("once")).status == 200)
        service.clock.advance(seconds: 60)
        for slug in ["archived", "expiring", "once"] {
            let answer = await service.click(Self.body(slug, fingerprint: String(repeating: "9", count: 64)))
            #expect(answer.isRefusal(410, "LINK_ENDED", field: "link"), "\(answer.text)")
        }
        for slug in ["unknown", "ONCE", "", "a b", "../once", String(repeating: "x", count: 2048)] {
            let answer = await service.click(Self.body(slug))
            #expect(answer.status == (slug.isEmpty ? 400 : 404), "\(slug)")
        }
        #expect(try await service.totals()[.clicks] == 1)
    }

    @Test("a click may lead to its link's destination, and to no URL of its own that the app does not allow")
    func strangers() async throws {
        var settings = LinkScenario.shop
        settings.destinations = ["myapp://"]
        let service = try await TestService(settings)
        try await service.makeLink(#"{"slug":"a","destination":"https://shop.example/x"}"#)
        #expect(await service.click(Self.body("a")).status == 201)
        #expect(service.watch.click?.facts.destination.text == "https://shop.example/x")
        let planted = await service.click(Self.body("a", #","deeplink_url":"https://evil.example/x""#))
        #expect(planted.isRefusal(400, "INVALID_URL"), "\(planted.text)")
        let own = Self.body(
            "a",
            fingerprint: String(repeating: "8", count: 64),
            #","deeplink_url":"myapp://y""#
        )
        #expect(await service.click(own).status == 201)
        #expect(service.watch.click?.facts.destination.text == "myapp://y")
        // A parameter of the tapped address does not change the destination.
        let query = #","query":"link=https://evil.example&deeplink_url=evil://x""#
        await service.click(Self.body("a", fingerprint: String(repeating: "7", count: 64), query))
        #expect(service.watch.click?.facts.destination.text == "https://shop.example/x")
    }

    @Test("a click from the link's own page needs no key, even if the app requires a key from other pages")
    func ownPage() async throws {
        var settings = LinkScenario.shop
        settings.openClicks = false
        settings.allowedOrigins = ["https://shop.example"]
        let service = try await TestService(settings)
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        #expect(await service.click(Self.body("a")).status == 401)
        #expect(await service.click(Self.body("a"), fields: ["Origin": "https://evil.example"]).status == 401)
        #expect(
            await service.click(Self.body("a"), fields: ["Origin": "https://go.shop.example"]).status == 201
        )
        // For a click without a link, the link's page is a page like any other.
        let plain = #"{"fingerprint":"\#(hex)","deeplink_url":"myapp://x"}"#
        #expect(await service.click(plain, fields: ["Origin": "https://go.shop.example"]).status == 401)
    }

    @Test("a click belongs to the app of the link host, key or body, else to the only app with the slug")
    func owners() async throws {
        let service = try await TestService(LinkScenario.shop, trustedProxies: ["127.0.0.1/32"])
        var second = AppLinks()
        second.hosts = ["go.other.example"].compactMap { LinkHost($0) }
        let other = try await service.addApp(App.Settings(name: "Other", links: second))
        try await service.makeLink(#"{"app":"\#(service.app.text)","slug":"a","destination":"myapp://x"}"#)
        try await service.makeLink(#"{"app":"\#(other.app.text)","slug":"a","destination":"other://x"}"#)
        try await service.makeLink(#"{"app":"\#(other.app.text)","slug":"b","destination":"other://x"}"#)
        func owner(_ slug: String, _ fields: [String: String], _ more: String = "") async -> AppID? {
            service.clock.advance(seconds: 60)
            service.watch.click = nil
            await service.click(Self.body(slug, more), fields: fields)
            return service.watch.click?.facts.app
        }
        #expect(await owner("a", ["Host": "go.shop.example"]) == service.app)
        #expect(await owner("a", ["Host": "GO.other.example:443"]) == other.app)
        #expect(await owner("a", ["Host": "inside", "X-Forwarded-Host": "go.other.example"]) == other.app)
        #expect(await owner("a", other.bearer) == other.app)
        #expect(await owner("a", [:], #","app":"\#(other.app.text)""#) == other.app)
        #expect(await owner("b", ["Host": "api.example"]) == other.app)
        // A click without a link belongs to the app of the host that a trusted proxy reports.
        service.watch.click = nil
        let plain = #"{"fingerprint":"\#(hex)","deeplink_url":"other://x"}"#
        await service.click(plain, fields: ["Host": "inside", "X-Forwarded-Host": "go.other.example"])
        #expect(service.watch.click?.facts.app == other.app)
        // Several apps have a link with this slug, and the request does not name an app.
        #expect(await owner("a", ["Host": "api.example"]) == nil)
        let unclear = await service.click(Self.body("a"), fields: ["Host": "api.example"])
        #expect(unclear.status == 400 && unclear.member("field") == "app")
        // The key's app does not have another app's link.
        #expect(await service.click(Self.body("b"), fields: service.bearer(.app)).status == 404)
    }
}
