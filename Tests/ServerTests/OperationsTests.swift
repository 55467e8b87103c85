import Attribution
import HTTPServer
import Server
import Testing

private let hex = String(repeating: "ab", count: 32)

@Suite("Statistics")
struct ShowStatisticsTests {
    @Test("shows totals and groups, the reasons of no matches, and the time to install")
    func shows() async throws {
        let service = try await TestService()
        await service.click(
            #"{"fingerprint":"\#(hex)","deeplink_url":"myapp://promo/item?utm_source=ig","campaign_key":"S","platform":"ios"}"#
        )
        service.clock.advance(seconds: 100)
        await service.check(hex)
        service.clock.advance(seconds: 100)
        await service.check(hex)
        await service.check(String(repeating: "0", count: 64))
        await service.play(
            Step(
                name: "stats",
                path: "/admin/stats",
                fields: service.bearer(.admin),
                status: 200,
                holds: [
                    #""clicks":1"#, #""checks":3"#, #""matches":1"#, #""no_matches":2"#,
                    #""no_match_reasons":{"no_click":1,"expired":0,"already_claimed":1,"robot_click":0}"#,
                    #""match_rate":0.3333"#, #""conversion_rate":1.0"#, #""campaign":"S""#,
                    #""source":"instagram""#,
                    #""platform":"ios""#, #""live_clicks":0"#, #""median_seconds":"#, #""p90_seconds":"#,
                    #""version":"test""#, #""uptime_seconds":200"#, "allows any destination",
                ]
            )
        )
    }

    @Test(
        "filters, and refuses filters that it does not understand",
        arguments: [
            ("campaign=S&interval=hour", 200, ""), ("from=2020-01-01&to=2035-01-01T00:00:00Z", 200, ""),
            ("app=app_unknown", 400, "app"), ("interval=week", 400, "interval"),
            ("from=yesterday", 400, "from"),
        ]
    )
    func filters(query: String, status: Int, field: String) async throws {
        let service = try await TestService()
        let answer = await service.send(.get, "/admin/stats", query: query, fields: service.bearer(.admin))
        #expect(answer.status == status)
        #expect(answer.member("field") ?? "" == field)
    }

    @Test("is for admin keys alone", arguments: [KeyKind.app, .server, .test])
    func adminOnly(kind: KeyKind) async throws {
        let service = try await TestService()
        #expect(await service.send(.get, "/admin/stats").status == 401)
        #expect(await service.send(.get, "/admin/stats", fields: service.bearer(kind)).status == 403)
        #expect(await service.send(.get, "/metrics").status == 401)
    }
}

@Suite("Health, metrics and the log")
struct OperationsTests {
    @Test("ready only while the store accepts writes and nobody stops the server; alive all the same")
    func readiness() async throws {
        let service = try await TestService()
        #expect(await service.send(.get, "/readyz").status == 200)
        service.storeAcceptsWrites = false
        let refused = await service.send(.get, "/readyz")
        #expect(refused.status == 503)
        #expect(refused.member("reason") == "the store refuses writes")
        #expect(await service.send(.get, "/healthz").status == 200)
        service.storeAcceptsWrites = true
        service.service.beginStopping()
        #expect(await service.send(.get, "/readyz").member("reason") == "stopping")
        #expect(await service.send(.get, "/healthz").text == #"{"status":"ok"}"#)
    }

    @Test("metrics count requests by route and status, clicks, checks and matches")
    func metrics() async throws {
        let service = try await TestService()
        await service.click(#"{"fingerprint":"\#(hex)","deeplink_url":"myapp://promo/item"}"#)
        await service.check(hex)
        await service.send(.get, "/nothing")
        await service.play(
            Step(
                name: "metrics",
                path: "/metrics",
                fields: service.bearer(.admin),
                status: 200,
                holds: [
                    "text/plain; version=0.0.4; charset=utf-8",
                    #"afterlink_http_requests_total{route="POST /v1/deferred-deeplink/click",status="201"} 1"#,
                    #"afterlink_http_requests_total{route="",status="404"} 1"#, "afterlink_clicks_total 1\n",
                    "afterlink_matches_total 1\n", "# TYPE afterlink_http_request_duration_seconds histogram",
                    #"afterlink_build_info{version="test"} 1"#, "afterlink_store_accepts_writes 1",
                ],
                lacks: [hex]
            )
        )
    }

    @Test("one JSON line a request, without key, fingerprint, query or address")
    func requestLog() async throws {
        let service = try await TestService()
        await service.click(#"{"fingerprint":"\#(hex)","deeplink_url":"myapp://promo/item"}"#)
        await service.check(hex, fields: ["X-Request-ID": "trace-7"])
        let lines = service.logLines()
        #expect(lines.count == 2)
        let line = try #require(lines.last)
        for part in [
            #""request_id":"trace-7""#, #""method":"GET""#, #""route":"/v1/deferred-deeplink""#,
            #""status":200"#,
            #""duration_us":"#, #""bytes":"#, #""app":"app_"#, #""outcome":"match""#, #""time":"20"#,
        ] {
            #expect(line.contains(part), "\(part)")
        }
        for secret in [hex, service.keyText(.app), "127.0.0.1", "myapp"] {
            #expect(!lines.joined().contains(secret))
        }
    }

    @Test("the proxy's client is the rightmost untrusted hop, so that strangers cannot share a visit")
    func trustedProxies() async throws {
        let body = #"{"fingerprint":"\#(hex)","deeplink_url":"myapp://promo/item"}"#
        let trusting = try await TestService(trustedProxies: ["127.0.0.0/8"])
        #expect(await trusting.click(body, fields: ["X-Forwarded-For": "6.6.6.6, 203.0.113.1"]).status == 201)
        #expect(await trusting.click(body, fields: ["X-Forwarded-For": "7.7.7.7, 203.0.113.1"]).status == 200)
        #expect(await trusting.click(body, fields: ["X-Forwarded-For": "203.0.113.2"]).status == 201)
        let plain = try await TestService()
        #expect(await plain.click(body, fields: ["X-Forwarded-For": "203.0.113.1"]).status == 201)
        #expect(await plain.click(body, fields: ["X-Forwarded-For": "203.0.113.2"]).status == 200)
    }
}
