import Attribution
import HTTPServer
import JSON
import Server
import Testing

private let path = "/v1/deferred-deeplink/click"

private func click(_ members: String, fingerprint: String? = hex) -> String {
    let own = fingerprint.map { #""fingerprint":"\#($0)","# } ?? ""
    return "{\(own)\(members)}"
}

private let link = #""deeplink_url":"myapp://promo/item""#

@Suite("Recording a click")
struct RecordClickTests {
    private let service: TestService

    init() async throws { service = try await TestService() }

    @Test(
        "a click that the contract allows is accepted",
        arguments: [
            click(link),
            click(link, fingerprint: hex.uppercased()),
            click(link + #","campaign_key":"S","jid":"j","utm":{},"metadata":{"a":[1,{"b":null}]}"#),
            click(link + #","attribution_window_seconds":60"#),
            click(link + #","attribution_window_seconds":2592000"#),
            click(
                link
                    + #","click_timestamp":"2001-01-08T14:30:00.000Z","ip_address":"203.0.113.42","user_agent":"x""#
            ),
            click(link + #","campaign_key":null,"signals":null,"unknown_member":{"deep":[true]}"#),
            click(link + #","platform":"ios","source":"web","referer":"https://instagram.com/p/1""#),
            click(
                link
                    + #","signals":{"model":"iPhone","osVersion":"17_2","screenWidth":390,"screenHeight":844,"#
                    + #""timezone":"Europe/Istanbul","language":"tr-TR"}"#,
                fingerprint: nil
            ),
            click(link + #","signals":{"model":"?"}"#, fingerprint: nil),
            click(link + #","signals":{"languages":["","?"]}"#, fingerprint: nil),
            click(link + #","signals":{"screenWidth":-1}"#, fingerprint: nil),
        ]
    )
    func accepts(body: String) async throws {
        let members = [#""status":"success""#, #""click_id":"clk_"#, #""expires_at":""#, #""token":""#]
        await service.click(body).expect(201, holds: members + ["no-store"], lacks: ["confidence"])
    }

    @Test("the response names the values that unknown signals lack; the token finds the click")
    func unknownSignals() async throws {
        let body = click(link + #","signals":{"uaPlatformVersion":"?"}"#, fingerprint: nil)
        let answer = await service.click(body)
        #expect(answer.status == 201 && answer.member("fingerprint") == nil)
        #expect(answer.member("message")?.contains("timezone, language") == true)
        let token = try #require(answer.member("token"))
        let launch = await service.check(query: "token=\(token)")
        #expect(launch.text.contains(#""attributionMethod":"signed_token""#))
    }

    @Test("a click without a key gets 404 if it names an unknown app")
    func unknownApp() async throws {
        let answer = await service.click(click(link + #","app":"app_00000000000000000000000000""#))
        #expect(answer.status == 404 && answer.member("field") == "app")
    }

    @Test(
        "a body outside the contract is refused with the name of the wrong member",
        arguments: [
            (click("", fingerprint: nil), "MISSING_REQUIRED_FIELD", "deeplink_url"),
            (click(link, fingerprint: nil), "MISSING_REQUIRED_FIELD", "fingerprint"),
            (click(#""jid":"j""#), "MISSING_REQUIRED_FIELD", "deeplink_url"),
            (click(link, fingerprint: "abc"), "INVALID_FINGERPRINT", "fingerprint"),
            (click(#""deeplink_url":"""#), "MISSING_REQUIRED_FIELD", "deeplink_url"),
            (click(#""deeplink_url":"myapp:///x""#), "INVALID_URL", "deeplink_url"),
            (click(#""deeplink_url":"https://shop.example/""#), "INVALID_URL", "deeplink_url"),
            (click(#""deeplink_url":"https://shop.example?x=1""#), "INVALID_URL", "deeplink_url"),
            (click(#""deeplink_url":"javascript:alert(1)""#), "INVALID_URL", "deeplink_url"),
            (
                click(#""deeplink_url":"myapp://"# + String(repeating: "a", count: 2048) + #"""#),
                "INVALID_URL", "deeplink_url"
            ),
            (click(#""deeplink_url":5"#), "INVALID_FIELD", "deeplink_url"),
            (click(link + #","campaign_key":7"#), "INVALID_FIELD", "campaign_key"),
            (
                click(link + #","campaign_key":""# + String(repeating: "a", count: 256) + #"""#),
                "INVALID_FIELD", "campaign_key"
            ),
            (click(link + #","jid":""# + String(repeating: "a", count: 256) + #"""#), "INVALID_FIELD", "jid"),
            (
                click(link + #","attribution_window_seconds":59"#), "EXPIRED_ATTRIBUTION_WINDOW",
                "attribution_window_seconds"
            ),
            (
                click(link + #","attribution_window_seconds":2592001"#), "EXPIRED_ATTRIBUTION_WINDOW",
                "attribution_window_seconds"
            ),
            (
                click(link + #","attribution_window_seconds":1e30"#), "EXPIRED_ATTRIBUTION_WINDOW",
                "attribution_window_seconds"
            ),
            (
                click(link + #","attribution_window_seconds":1e400"#), "EXPIRED_ATTRIBUTION_WINDOW",
                "attribution_window_seconds"
            ),
            (
                click(link + #","attribution_window_seconds":60.5"#), "INVALID_FIELD",
                "attribution_window_seconds"
            ),
            (
                click(link + #","attribution_window_seconds":"60""#), "INVALID_FIELD",
                "attribution_window_seconds"
            ),
            (click(link + #","metadata":[1]"#), "INVALID_FIELD", "metadata"),
            (
                click(link + #","metadata":{"a":""# + String(repeating: "x", count: 8200) + #""}"#),
                "INVALID_FIELD", "metadata"
            ),
            (click(link + #","click_timestamp":"yesterday""#), "INVALID_FIELD", "click_timestamp"),
            (click(link + #","ip_address":"1.2.3""#), "INVALID_FIELD", "ip_address"),
            (click(link + #","signals":{"screenWidth":"390"}"#), "INVALID_FIELD", "signals.screenWidth"),
            (
                click(link + #","signals":{"timezone":" ","touchPoints":5}"#, fingerprint: nil),
                "MISSING_REQUIRED_FIELD", "signals"
            ),
            (
                click(
                    link + #","signals":{"model":"","languages":[" "],"uaModel":null,"x":1}"#,
                    fingerprint: nil
                ),
                "MISSING_REQUIRED_FIELD", "signals"
            ),
            (click(link + #","app":"app_nobody""#), "INVALID_FIELD", "app"),
        ]
    )
    func refuses(body: String, code: String, field: String) async throws {
        let members = [#""error_code":"\#(code)""#, #""field":"\#(field)""#, #""status":"error""#]
        await service.click(body).expect(400, holds: members, lacks: ["clk_"])
        #expect(try await service.totals()[.clicks] ?? 0 == 0)
    }

    private static let texts =
        [
            "fingerprint", "app", "link", "campaign_key", "jid", "click_timestamp", "user_agent",
            "ip_address", "referer", "platform", "source", "idempotency_key", "idfa", "gaid",
        ]
        + ["model", "osVersion", "timezone", "language", "uaModel", "uaPlatformVersion"].map {
            "signals.\($0)"
        } + ["utm.utm_source", "utm.source"]
    private static let others = [
        "attribution_window_seconds", "metadata", "utm", "signals", "signals.screenWidth",
        "signals.screenHeight", "signals.pixelRatio", "signals.touchPoints", "signals.languages",
    ]

    @Test("a member of a wrong type is refused by its name", arguments: texts + others)
    func refusesType(member: String) async throws {
        let value = Self.texts.contains(member) ? "7" : #""seven""#
        let path = member.split(separator: ".")
        let nested = path.dropFirst().reduce(#""\#(path[0])":"#) { $0 + #"{"\#($1)":"# } + value
        let body = click(
            link + "," + nested + String(repeating: "}", count: path.count - 1),
            fingerprint: member == "fingerprint" ? nil : hex
        )
        let reply = await service.click(body)
        #expect(reply.isRefusal(400, "INVALID_FIELD", field: member), "\(reply.text)")
    }

    @Test("a wrong short name of the source in utm is refused, even beside a whole name")
    func bothSources() async throws {
        let reply = await service.click(click(link + #","utm":{"utm_source":"ig","source":5}"#))
        #expect(reply.isRefusal(400, "INVALID_FIELD", field: "utm.source"), "\(reply.text)")
        #expect(await service.click(click(link + #","utm":{"utm_source":"ig","source":"x"}"#)).status == 201)
    }

    @Test(
        "a click must be JSON, as application/json or as sendBeacon's text/plain",
        arguments: [
            ("application/json", 201), ("Application/JSON; charset=utf-8", 201),
            ("text/plain;charset=UTF-8", 201), ("application/x-www-form-urlencoded", 415), ("text/html", 415),
            ("application/jsonp", 415), ("", 415),
        ]
    )
    func mediaTypes(type: String, status: Int) async throws {
        let fields = type.isEmpty ? [:] : ["Content-Type": type]
        await Step(type, path, .post, fields: fields, body: click(link), status: status).play(on: service)
    }

    @Test(
        "a web link to a front page is refused, with or without a slash, because it has no path",
        arguments: ["https://shop.example", "https://shop.example/", "https://shop.example/?x=1"]
    )
    func frontPage(url: String) async throws {
        let reply = await service.click(click(#""deeplink_url":"\#(url)""#))
        #expect(reply.status == 400)
        #expect(
            reply.member("message")?.contains("has no path, or / alone, and apps lose such links") == true
        )
    }

    @Test(
        "a compressed body is refused with the reason; identity is not a compression",
        arguments: [
            ("gzip", 415), ("GZIP", 415), ("br, identity", 415), ("identity, zstd", 415), ("identity", 201),
            ("Identity, identity", 201), ("", 201),
        ]
    )
    func contentCodings(coding: String, status: Int) async throws {
        let refusal = ["Accept-Encoding: identity", "UNSUPPORTED_MEDIA_TYPE", "without Content-Encoding"]
        let (holds, lacks) = status == 415 ? (refusal, []) : ([], ["Accept-Encoding"])
        let answer = await service.click(click(link), fields: ["Content-Encoding": coding])
        answer.expect(status, holds: holds, lacks: lacks)
    }

    @Test("a compression in a second Content-Encoding line is refused, too")
    func severalCodings() async throws {
        let fields = ["Content-Encoding": "identity", "content-encoding": "gzip"]
        #expect(await service.click(click(link), fields: fields).status == 415)
    }

    @Test(
        "a body that is not a JSON object is refused",
        arguments: [
            "", "[]", "null", "{", #"{"a":1,"a":2}"#, "{\"a\":\u{1}}", #"{"a":1,}"#, #"{"a":"\ud800"}"#,
        ]
    )
    func notJSON(body: String) async throws {
        await service.click(body).expect(400, holds: ["INVALID_JSON"])
    }

    @Test("recording and finding a click work under all three prefixes")
    func prefixes() async throws {
        for (number, prefix) in ["/v1/deferred-deeplink", "/deferred-deeplink", "/api/v1/deferred-deeplink"]
            .enumerated()
        {
            let own = String(repeating: "\(number)", count: 64)
            let (fields, body) = (["Content-Type": "application/json"], click(link, fingerprint: own))
            await service.send(.post, prefix + "/click", fields: fields, body: body).expect(201)
            let query = "fingerprint=\(own)"
            let match = await service.send(.get, prefix, query: query, fields: service.bearer(.app))
            match.expect(200, holds: [#""status":"match""#])
        }
    }

    @Test("a repeated post within ten seconds, or with the same idempotency key, is one click")
    func deduplicates() async throws {
        let first = await service.click(click(link))
        service.clock.advance(seconds: 10)
        let again = await service.click(click(link))
        #expect(first.status == 201)
        #expect(again.status == 200 && again.member("click_id") == first.member("click_id"))
        service.clock.advance(seconds: 11)
        #expect(await service.click(click(link)).status == 201)
        service.clock.advance(seconds: 11)
        let keyed = await service.click(click(link + #","idempotency_key":"k1","jid":"a""#))
        service.clock.advance(seconds: 5000)
        let keyedAgain = await service.click(click(link + #","idempotency_key":"k1","jid":"b""#))
        #expect(keyedAgain.status == 200 && keyedAgain.member("click_id") == keyed.member("click_id"))
        #expect(try await service.totals()[.duplicates] == 2)
    }

    @Test(
        "a post within ten seconds with another campaign or journey is another click; the newer click matches",
        arguments: [
            ("", #","campaign_key":"B""#, "B", nil),
            (#","campaign_key":"A""#, #","campaign_key":"B""#, "B", nil),
            (#","campaign_key":"A""#, "", nil, nil), ("", #","jid":"j1""#, nil, "j1"),
            (#","jid":"j1""#, #","jid":"j2""#, nil, "j2"), (#","jid":"j1""#, "", nil, nil),
            (#","campaign_key":"A""#, #","campaign_key":"A","jid":"j1""#, "A", "j1"),
        ] as [(String, String, String?, String?)]
    )
    func keepsPostsApart(first: String, second: String, campaign: String?, journey: String?) async throws {
        let service = try await TestService(replayGrace: 0)
        let older = await service.click(click(link + first))
        service.clock.advance(seconds: 1)
        let newer = await service.click(click(link + second))
        #expect(older.status == 201 && newer.status == 201)
        for (body, answer) in [(first, older), (second, newer)] {
            let again = await service.click(click(link + body))
            #expect(again.status == 200 && again.member("click_id") == answer.member("click_id"))
        }
        let reply = await service.check(hex)
        #expect(reply.member("status") == "match")
        #expect(reply.member("campaignKey") == campaign)
        let made = reply.member("jid")?.hasPrefix("j_") == true
        #expect(journey.map { $0 == reply.member("jid") } ?? made)
        // The match retires the older click too, because both are one visit.
        #expect(await service.check(hex).member("status") == "no_match")
    }

    @Test("a visit ends with its match: the next click is a new click, however soon it comes")
    func newClickAfterMatch() async throws {
        let service = try await TestService(replayGrace: 0)
        let first = await service.click(click(link))
        #expect(await service.check(hex).member("status") == "match")
        let second = await service.click(click(link))
        #expect(second.status == 201)
        #expect(second.member("click_id") != first.member("click_id"))
        #expect(await service.check(hex).member("status") == "match")
        #expect(await service.check(hex).member("status") == "no_match")
        #expect(try await service.totals()[.matches] == 2)
    }

    @Test("a stranger's idempotency key never stands for another sender's click")
    func idempotencyOfStrangers() async throws {
        let key = #","idempotency_key":"order-1""#
        let stranger = await service.click(click(link + key, fingerprint: String(repeating: "c", count: 64)))
        let server = await service.click(click(link + key), fields: service.bearer(.server))
        #expect(server.status == 201)
        #expect(server.member("click_id") != stranger.member("click_id"))
        let other = PeerAddress(ipv4: 0xC000_0201, port: 1)
        #expect(await service.click(click(link + key), peer: other).status == 201)
        #expect(await service.click(click(link + key), fields: service.bearer(.server)).status == 200)
    }

    @Test("a repeated post's idempotency key stands for the click that it repeated")
    func idempotencyOfARepeatedPost() async throws {
        let first = await service.click(click(link))
        #expect(await service.click(click(link + #","idempotency_key":"k1""#)).status == 200)
        service.clock.advance(seconds: 60)
        let again = await service.click(click(link + #","idempotency_key":"k1""#))
        #expect(again.status == 200 && again.member("click_id") == first.member("click_id"))
    }

    @Test("a repeated post with another fingerprint does not get that fingerprint back")
    func answersWithTheRecordedClick() async throws {
        let key = link + #","idempotency_key":"k1""#
        let first = await service.click(click(key))
        service.clock.advance(seconds: 60)
        let same = await service.click(click(key))
        #expect(same.member("fingerprint") == first.member("fingerprint"))
        let other = await service.click(click(key, fingerprint: String(repeating: "c", count: 64)))
        #expect(other.status == 200 && other.member("click_id") == first.member("click_id"))
        #expect(other.member("fingerprint") == nil)
        #expect(first.member("fingerprint") != nil)
    }

    @Test("another address, agent, link or fingerprint is another click")
    func tellsVisitorsApart() async throws {
        #expect(await service.click(click(link)).status == 201)
        #expect(await service.click(click(link), fields: ["User-Agent": "Other/1"]).status == 201)
        #expect(await service.click(click(#""deeplink_url":"myapp://promo/other""#)).status == 201)
        #expect(
            await service.click(click(link, fingerprint: String(repeating: "c", count: 64))).status == 201
        )
        #expect(await service.click(click(link), peer: PeerAddress(ipv4: 0xC000_0201, port: 1)).status == 201)
    }

    @Test("the address, agent and time in a click's body are believed only if the click has a server key")
    func believesServerKeys() async throws {
        let old = service.clock.now.advanced(byMilliseconds: -3_600_000).iso8601
        let body = click(link + #","click_timestamp":"\#(old)","ip_address":"203.0.113.9","user_agent":"A""#)
        let stranger = await service.click(body)
        let server = await service.click(body, fields: service.bearer(.server))
        let expiry = service.clock.now.advanced(byMilliseconds: 86_400_000)
        #expect(stranger.member("expires_at") == expiry.iso8601)
        #expect(server.member("expires_at") == expiry.advanced(byMilliseconds: -3_600_000).iso8601)
        let future = service.clock.now.advanced(byMilliseconds: 300_001).iso8601
        let ancient = service.clock.now.advanced(byMilliseconds: -86_400_001).iso8601
        for time in [future, ancient] {
            let refused = await service.click(
                click(link + #","click_timestamp":"\#(time)""#),
                fields: service.bearer(.server)
            )
            #expect(refused.status == 400 && refused.member("field") == "click_timestamp")
        }
    }

    @Test("a click with a server key may lead anywhere, any other only to an allowed destination")
    func destinations() async throws {
        let service = try await TestService(
            App.Settings(name: "Shop", destinations: ["myapp://", "https://shop.example"])
        )
        let outside = click(#""deeplink_url":"https://evil.example/x""#)
        let refused = await service.click(outside)
        #expect(refused.isRefusal(400, "INVALID_URL"), "\(refused.text)")
        #expect(refused.text.contains("--destination"))
        #expect(await service.click(outside, fields: service.bearer(.app)).status == 400)
        #expect(await service.click(outside, fields: service.bearer(.server)).status == 201)
        #expect(await service.click(click(link)).status == 201)
        #expect(
            await service.click(click(#""deeplink_url":"https://shop.example.evil.example/x""#)).status == 400
        )
    }

    @Test("wrong keys and admin keys are refused, and an app without open clicks requires a key")
    func keys() async throws {
        let service = try await TestService(App.Settings(name: "Shop", openClicks: false))
        #expect(await service.click(click(link)).status == 401)
        #expect(await service.click(click(link), fields: service.bearer(.admin)).status == 403)
        #expect(await service.click(click(link), fields: ["Authorization": "Bearer nonsense"]).status == 401)
        #expect(await service.click(click(link), fields: ["Authorization": "Basic eA=="]).status == 401)
        #expect(await service.click(click(link), fields: service.bearer(.app)).status == 201)
    }

    @Test("an unknown link gets 404")
    func unknownLink() async throws {
        let reply = await service.click(click(#""link":"summer25""#))
        #expect(reply.isRefusal(404, "NOT_FOUND"), "\(reply.text)")
    }

    @Test("a preview robot's click is recorded and never found")
    func robots() async throws {
        let reply = await service.click(click(link), fields: ["User-Agent": "facebookexternalhit/1.1"])
        #expect(reply.status == 201)
        let check = await service.check(hex, key: .test)
        #expect(check.member("status") == "no_match")
        #expect(await service.check(hex).member("status") == "no_match")
        #expect(try await service.totals()[.robots] == 1)
        #expect(try await service.totals()[.noMatch(.robotClick)] == 1)
    }

    @Test(
        "a prefetching page's click is recorded and never found",
        arguments: [
            ("Sec-Purpose", "prefetch;prerender", true), ("Purpose", "prefetch", true),
            ("X-Moz", "prefetch", true), ("X-Purpose", "preview", true), ("Sec-Purpose", "navigate", false),
        ]
    )
    func prefetched(name: String, value: String, isRobot: Bool) async throws {
        #expect(await service.click(click(link), fields: [name: value]).status == 201)
        #expect(await service.check(hex).member("status") == (isRobot ? "no_match" : "match"))
        #expect(try await service.totals()[.robots] ?? 0 == (isRobot ? 1 : 0))
    }

    @Test("a click that a program posts is found, because customers' own servers post clicks")
    func programs() async throws {
        let fields = service.bearer(.server).merging(["User-Agent": "curl/8.5.0"]) { $1 }
        #expect(await service.click(click(link), fields: fields).status == 201)
        #expect(await service.check(hex).member("status") == "match")
    }

    @Test("a HEAD request, like a prefetch, shows that no person waits for the page")
    func heads() {
        #expect(AutomaticVisit.isAnnounced(by: Request(.head, path: "/summer25")))
        #expect(!AutomaticVisit.isAnnounced(by: Request(.get, path: "/summer25")))
        let prefetch = Request(.get, path: "/", fields: [FieldLine(name: "sec-purpose", value: "prefetch")])
        #expect(AutomaticVisit.isAnnounced(by: prefetch))
    }
}
