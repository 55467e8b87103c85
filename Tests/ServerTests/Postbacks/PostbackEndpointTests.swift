import Attribution
import HTTPServer
import JSON
import Server
import Storage
import Testing

/// Endpoints and deliveries over the admin API and on the dashboard's pages.
@Suite("Postbacks over HTTP")
struct PostbackEndpointTests {
    private let service: TestService

    init() async throws { service = try await TestService() }

    private func create(_ more: String = "") async throws -> (id: String, secret: String?) {
        let body = #"{"url":"https://example.com/hook","types":["match.created","link.*"]\#(more)}"#
        let answer = await service.admin(.post, "/postbacks", body)
        #expect(answer.status == 201, "\(answer.text)")
        return (try #require(answer.member("id")), answer.member("secret"))
    }

    /// Sends the deliveries that are due, and gives each call this answer.
    private func send(_ answer: PostbackAnswer = PostbackAnswer(status: 204)) throws {
        let keys = service.keyring.server
        var job = service.makePostbackJob(
            PostbackSettings(send: { _, done in done(answer) }, keys: { keys }, random: service.random)
        )
        for moment in 1...3 as ClosedRange<UInt64> { _ = try job.slice(at: moment * 1_000_000_000) }
    }

    @Test("an endpoint is created with a secret that no later response contains")
    func endpoint() async throws {
        let (id, secret) = try await create()
        #expect(secret.flatMap { PostbackSecret($0) } != nil)
        for path in ["/postbacks", "/postbacks/\(id)"] {
            let answer = await service.admin(.get, path)
            #expect(answer.status == 200 && answer.text.contains(id))
            #expect(answer.text.contains(#""types":["match.created","link.created","link.updated","#))
            #expect(!answer.text.contains("whsec_"))
        }
        let template = await service.admin(
            .post,
            "/postbacks",
            #"{"url":"https://example.com/?c={gclid}","types":["match.created"],"headers":["A: b"]}"#
        )
        #expect(template.status == 201 && template.member("secret") == nil)
        #expect(template.text.contains(#""signed":false"#) && !template.text.contains("A: b"))
        let refused = await service.admin(.post, "/postbacks/\(template.member("id") ?? "")/rotate")
        #expect(refused.isRefusal(409, "CONFLICT"), "\(refused.text)")
        let audit = await service.admin(.get, "/audit", query: "action=postback.create")
        #expect(audit.text.contains(id) && audit.text.contains("https://example.com\""))
        #expect(!audit.text.contains("hook"), "a path may contain a token")
    }

    @Test(
        "wrong endpoints are refused with each problem",
        arguments: [
            (#"{"url":"https://example.com","types":[]}"#, "types"), (#"{"types":["match.created"]}"#, "url"),
            (#"{"url":"https://example.com","types":["x"]}"#, "types"),
            (#"{"url":"https://example.com","types":["link.*"],"headers":["Host: a"]}"#, "headers"),
            (#"{"url":"https://example.com","types":["link.*"],"body":"{no}"}"#, "body"),
            (#"{"url":"https://example.com","types":["link.*"],"body":"{\"a\":"}"#, "body"),
            (#"{"url":"https://example.com/{","types":["link.*"]}"#, "url"),
            (#"{"url":"https://example.com","types":["link.*"],"secret":"a"}"#, "secret"),
            (#"{"url":5,"types":["link.*"]}"#, "url"),
            (#"{"url":"https://example.com","types":"x"}"#, "types"),
            (#"{"url":"https://example.com","types":["link.*"],"test":"x"}"#, "test"),
            (#"{"url":"https://example.com","types":["link.*"],"since":"x"}"#, "since"),
        ]
    )
    func refusals(body: String, field: String) async {
        let answer = await service.admin(.post, "/postbacks", body)
        #expect(answer.status == 422 && answer.text.contains("\"field\":\"\(field)\""), "\(answer.text)")
    }

    @Test("a URL with an address that is not allowed is refused; a host name is resolved only at delivery")
    func addresses() async throws {
        let allowed = ["10.0.0.0/8:8443", "fd00::/8"].compactMap { PostbackAllowance($0) }
        let service = try await TestService {
            $0.postbackSender = PostbackSender(allowed: allowed, userAgent: "Test")
        }
        for (url, isPermitted) in [
            ("http://10.0.0.1:8443/h", true), ("https://10.0.0.1:8443/h", true), ("https://[fd00::1]/", true),
            ("https://93.184.216.34/", true), ("https://example.com/", true), ("http://example.com/", true),
            ("http://10.0.0.1/", false), ("https://127.0.0.1/{id}", false), ("https://[::1]/", false),
            ("http://93.184.216.34/", false), ("https://93.184.216.34:8443/", false),
        ] {
            let answer = await service.admin(.post, "/postbacks", #"{"url":"\#(url)","types":["link.*"]}"#)
            #expect(answer.status == (isPermitted ? 201 : 422), "\(url): \(answer.text)")
            #expect(isPermitted || answer.member("message")?.contains("--postback-allow") == true)
        }
    }

    @Test(
        "a replay with an unknown member, type or value is refused, because it would send other events",
        arguments: [
            (#"{"all":true,"type":"match.created"}"#, "type"), (#"{"types":["zzz"]}"#, "types"),
            (#"{"event":"evt_x"}"#, "event"), (#"{"all":1}"#, "all"), (#"{"until":"now"}"#, "until"),
        ]
    )
    func replayRefusals(body: String, field: String) async throws {
        let (id, _) = try await create()
        let answer = await service.admin(.post, "/postbacks/\(id)/replay", body)
        #expect(answer.status == 422 && answer.text.contains("\"field\":\"\(field)\""), "\(answer.text)")
    }

    @Test("unknown endpoints get 404, as do another app's endpoints with a read key of one app")
    func unknown() async throws {
        let missing = EndpointID(high: 1, low: 1).text
        for action in ["enable", "disable", "rotate", "test", "replay"] {
            #expect(await service.admin(.post, "/postbacks/\(missing)/\(action)", "{}").status == 404)
        }
        #expect(await service.admin(.get, "/postbacks/x").status == 404)
        let other = try await service.addApp(App.Settings(name: "Zebra"))
        let body = #"{"app":"\#(other.app.text)","url":"https://example.com/","types":["match.created"]}"#
        let id = try #require(await service.admin(.post, "/postbacks", body).member("id"))
        let fields = service.bearer(.read)
        for path in ["", "/deliveries"] {
            #expect(
                await service.send(.get, "/admin/api/postbacks/\(id)\(path)", fields: fields).status == 404
            )
        }
        let list = await service.send(.get, "/admin/api/postbacks", fields: fields)
        #expect(list.status == 200 && !list.text.contains(id))
    }

    @Test("the overview warns of a failed endpoint, but not if another app is chosen")
    func alarmOfChosenApp() async throws {
        _ = try await create()
        #expect(await service.click(anyClick).status == 201)
        _ = await service.check(hex)
        try send(PostbackAnswer(status: 410))
        let other = try await service.addApp(App.Settings(name: "Other"))
        let browser = await DashboardBrowser.signedIn(to: service)
        for (query, warns) in [
            ("", true), ("?app=\(service.app.text)", true), ("?app=\(other.app.text)", false),
        ] {
            let page = await browser.get("/\(query)").text
            #expect(page.contains("it answered 410 Gone") == warns, "\(query)")
        }
    }

    @Test("a delivery is shown with request, base string and answer, and is replayed by the event's id")
    func deliveries() async throws {
        let (id, _) = try await create()
        #expect(await service.click(anyClick).status == 201)
        _ = await service.check(hex)
        var answer = PostbackAnswer(status: 410)
        answer.body = "so <long>"
        try send(answer)
        let list = await service.admin(.get, "/postbacks/\(id)/deliveries")
        #expect(list.status == 200, "\(list.text)")
        let event = try #require(
            list.text.firstRange(of: "evt_").map { String(list.text[$0.lowerBound...].prefix(30)) }
        )
        for text in [
            #""state":"failed","attempts":1,"next_attempt_at":null"#, #""status":410"#,
            #""answer":"so \u003clong>""#,
            #""base_string":"\#(event)."#, #""webhook-signature":"v1,"#, #""sequence":1"#,
        ] { #expect(list.text.contains(text), "\(text) is missing in \(list.text)") }
        let shown = await service.admin(.get, "/postbacks/\(id)")
        #expect(shown.text.contains(#""state":"disabled","reason":"it answered 410 Gone""#))
        let overview = await DashboardBrowser.signedIn(to: service).get("/").text
        #expect(overview.contains("it answered 410 Gone"))
        let warning = "the postback endpoint \(id) is disabled: it answered 410 Gone; enable it with"
        #expect(await service.statistics().text.contains(warning))
        let metrics = await service.send(.get, "/metrics", fields: service.bearer(.admin)).text
        for state in ["disabled", "enabled", "held"] {
            #expect(metrics.contains("afterlink_postback_endpoints{state=\"\(state)\"}"), "\(metrics)")
        }
        #expect(await service.admin(.post, "/postbacks/\(id)/enable").status == 200)
        let replay = await service.admin(.post, "/postbacks/\(id)/replay", #"{"event":"\#(event)"}"#)
        #expect(replay.text == #"{"replayed":1}"#)
        try send()
        let delivered = await service.admin(.get, "/postbacks/\(id)/deliveries", query: "state=delivered")
        #expect(delivered.text.contains(event) && delivered.text.contains(#""attempts":1"#))
        #expect(await service.admin(.get, "/postbacks/\(id)/deliveries", query: "state=x").status == 400)
        let none = await service.admin(.get, "/postbacks/\(id)/deliveries", query: "type=link.created")
        #expect(none.text.contains(#""deliveries":[]"#))
    }

    @Test("an endpoint gets samples, and after a rotation both secrets sign")
    func sampleAndRotation() async throws {
        let (id, first) = try await create()
        let sample = await service.admin(.post, "/postbacks/\(id)/test", #"{"type":"link.created"}"#)
        #expect(sample.status == 202 && sample.member("id")?.hasPrefix("evt_") == true)
        #expect(await service.admin(.post, "/postbacks/\(id)/test").status == 202)
        #expect(await service.admin(.post, "/postbacks/\(id)/test", #"{"type":"x"}"#).status == 422)
        let rotated = await service.admin(.post, "/postbacks/\(id)/rotate")
        #expect(rotated.status == 200 && rotated.member("secret") != first)
        try send()
        let list = await service.admin(.get, "/postbacks/\(id)/deliveries").text
        // The new and the former secret each have made a signature.
        let signature = try #require(list.firstRange(of: #""webhook-signature":""#)?.upperBound)
        #expect(list[signature...].prefix { $0 != "\"" }.split(separator: " ").count == 2)
        // A request from before the last rotation is listed without signatures.
        service.clock.advance(seconds: 1)
        #expect(await service.admin(.post, "/postbacks/\(id)/rotate").status == 200)
        let former = await service.admin(.get, "/postbacks/\(id)/deliveries").text
        #expect(former.contains(#""webhook-signature":"made before the secret was rotated""#))
        #expect(!former.contains("v1,"))
    }

    @Test("the dashboard creates and tests endpoints and replays deliveries; a read key only shows them")
    func pages() async throws {
        let browser = await DashboardBrowser.signedIn(to: service)
        let empty = await browser.get("/postbacks").text
        #expect(empty.contains("No endpoint receives events yet") && empty.contains(">Create endpoint<"))
        let token = await browser.formToken()
        func post(_ path: String, _ body: String = "") async -> Answer {
            await browser.post(path, "token=\(token)&\(body)")
        }
        let app = service.app.text
        let made = await post(
            "/postbacks",
            "app=\(app)&url=https://example.com/a&types=match.created+link.*&test="
        )
        #expect(made.status == 200 && made.text.contains("whsec_"), "\(made.text)")
        #expect(!made.text.contains("SHA-256"), "the secret is stored, because it signs")
        let wrong = await post("/postbacks", "app=\(app)&url=ftp://x&types=match.created")
        #expect(wrong.status == 422 && wrong.text.contains("https://"))
        let own = "app=\(app)&types=match.created&url=https://example.com/{type}?c={click_id}"
        for (fields, problem) in [
            ("body={\"a\":{name}}", "is a text"), ("headers=a", "NAME: VALUE"), ("since=x", "must be a day"),
        ] {
            let refused = await post("/postbacks", "\(own)&\(fields)")
            #expect(refused.status >= 400 && refused.text.contains(problem), "\(refused.text)")
        }
        let fields = "body={\"id\":\"{id}\"}&headers=Authorization:+Bearer+x%0D%0AX-Team:+7&since=2026-01-01"
        #expect(await post("/postbacks", "\(own)&\(fields)").status == 303)
        let stored = await service.admin(.get, "/postbacks").text
        #expect(stored.contains(#""body":"{\"id\":\"{id}\"}""#) && stored.contains(#""signed":false"#))
        #expect(empty.contains("{gclid}"), "the form lists the macros")
        let page = await browser.get("/postbacks").text
        let path = "/postbacks/" + String(try #require(made.text.firstMatch(of: /pbe_[0-9a-z]{26}/)).output)
        #expect(!page.contains("whsec_") && page.contains("https://example.com/a"))
        #expect(await post("\(path)/test").status == 303)
        try send()
        let shown = await browser.get(path).text
        for text in [
            "delivered", "webhook-signature: v1,", "What the signatures cover", "Send again", "sample",
        ] {
            #expect(shown.contains(text), "\(text)")
        }
        let event = try #require(shown.firstRange(of: "evt_").map { shown[$0.lowerBound...].prefix(30) })
        #expect(await post("\(path)/replay", "event=\(event)").status == 303)
        #expect(await browser.get(path).text.contains("<td>pending</td>"))
        #expect(await service.click(anyClick).status == 201)
        _ = await service.check(hex)
        let now = service.clock.now
        let days = [1, -1].map { now.advanced(byMilliseconds: $0 * 86_400_000).iso8601.prefix(10) }
        for (since, isSent) in zip(days, [false, true]) {
            try send()
            #expect(await browser.get(path).text.contains("<td>pending</td>") == false)
            #expect(await post("\(path)/replay", "since=\(since)").status == 303)
            #expect(await browser.get(path).text.contains("<td>pending</td>") == isSent)
        }
        #expect(await post("\(path)/replay", "since=").text.contains("must be a day"))
        service.clock.advance(seconds: 1_200)
        #expect(await browser.get("/postbacks").text.contains(" UTC, 20 min</td>"))
        #expect(await post("\(path)/disable").status == 303)
        #expect(await browser.get("/postbacks").text.contains("disabled: an operator has disabled it"))
        #expect(await post("\(path)/enable").status == 303)
        #expect(await post("\(path)/rotate").text.contains("whsec_"))
        let reading = await DashboardBrowser.signedIn(to: service, with: service.keyText(.read))
        let seen = await reading.get(path).text
        #expect(seen.contains("delivered") || seen.contains("pending"))
        #expect(!seen.contains("Send again") && !seen.contains("/rotate"))
        let readToken = await reading.formToken()
        #expect(await reading.post("\(path)/test", "token=\(readToken)").status == 403)
    }
}
