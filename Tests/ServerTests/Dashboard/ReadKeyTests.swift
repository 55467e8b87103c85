import Attribution
import HTTPServer
import Server
import Testing

/// Tests what a read key has access to in the API, in the metrics and in the dashboard.
@Suite("Read keys")
struct ReadKeyTests {
    private let service: TestService
    /// Another app, which a read key of the first app must not see.
    private let other: TestService.OtherApp
    private let all: TestKey

    init() async throws {
        service = try await TestService()
        other = try await service.addApp(App.Settings(name: "Zebra"))
        all = TestKey(.read, of: nil, at: service.clock.now)
        try await service.add(all.key)
    }

    private var ofAll: [String: String] { ["Authorization": "Bearer \(all.text)"] }
    private var ofOne: [String: String] { service.bearer(.read) }

    private func makeLink(of app: AppID, slug: String) async throws -> String {
        let answer = await service.send(
            .post,
            "/admin/api/links",
            fields: service.bearer(.admin).merging(["Content-Type": "application/json"]) { $1 },
            body: #"{"app":"\#(app.text)","slug":"\#(slug)","destination":"myapp://a"}"#
        )
        #expect(answer.status == 201, "\(answer.text)")
        return try #require(answer.member("id"))
    }

    @Test(
        "calls of the admin API refuse keys of apps, servers and tests; a read key opens those that change nothing"
    )
    func table() async throws {
        let link = try await makeLink(of: service.app, slug: "own")
        let click = try #require(await service.click(fields: service.bearer(.app)).member("click_id"))
        let draft = #"{"app":"\#(service.app.text)","url":"https://example.com/","types":["match.created"]}"#
        let endpoint = try #require(await service.admin(.post, "/postbacks", draft).member("id"))
        let calls = RouteSummary.all.filter { $0.path.hasPrefix("/admin") || $0.path == "/metrics" }
        #expect(calls.count { $0.method == .get } >= 8 && calls.count { $0.method != .get } >= 7)
        for call in calls {
            let id =
                call.path.contains("/apps/")
                ? service.app.text
                : call.path.contains("/checks/") ? click : call.path.contains("/postbacks/") ? endpoint : link
            let path = call.path.replacing("{id}", with: id).replacing("{file}", with: "clicks.csv")
            #expect(await service.send(call.method, path).status == 401, "\(call.path)")
            for kind in [KeyKind.app, .server, .test] {
                let answer = await service.send(call.method, path, fields: service.bearer(kind))
                #expect(answer.isRefusal(403, "FORBIDDEN"), "\(call.method.rawValue) \(call.path) \(kind)")
            }
            for fields in [ofAll, ofOne] {
                let answer = await service.send(call.method, path, fields: fields)
                let name = "\(call.method.rawValue) \(call.path): \(answer.text.prefix(200))"
                if call.method == .get {
                    #expect(answer.status == 200, "\(name)")
                } else if ["/admin/api/held", "/admin/api/apple-postbacks/verify"].contains(call.path) {
                    // These calls only read, so they accept the key, but not a request without a media type.
                    #expect(answer.isRefusal(415, "UNSUPPORTED_MEDIA_TYPE"), "\(name)")
                } else {
                    #expect(answer.isRefusal(403, "FORBIDDEN"), "\(name)")
                    #expect(answer.text.contains("changes nothing"), "\(name)")
                }
            }
        }
        #expect(await service.check(hex, fields: ofAll).status == 403)
        #expect(
            await service.send(.get, "/admin/api/links/\(link)", fields: service.bearer(.admin)).status == 200
        )
    }

    @Test("a read key of one app sees nothing of another app")
    func oneApp() async throws {
        let own = try await makeLink(of: service.app, slug: "own")
        let foreign = try await makeLink(of: other.app, slug: "foreign")
        let answer = await service.click(fields: other.bearer)
        let click = try #require(answer.member("click_id"))
        await service.check(hex, fields: other.bearer)
        let check = await service.send(
            .get,
            "/admin/api/checks",
            query: "app=\(other.app.text)",
            fields: service.bearer(.admin)
        )
        let id = try #require(check.text.split(separator: "\"").first { $0.hasPrefix("chk_") })
        for path in [
            "/admin/api/apps/\(other.app.text)", "/admin/api/links/\(foreign)",
            "/admin/api/checks/\(id)/explain", "/admin/api/checks/\(click)/explain",
        ] {
            #expect(await service.send(.get, path, fields: ofOne).status == 404, "\(path)")
            #expect(await service.send(.get, path, fields: ofAll).status == 200, "\(path)")
        }
        for path in ["/admin/stats", "/admin/api/links", "/admin/api/checks", "/admin/api/audit"] {
            let query = "app=\(other.app.text)"
            #expect(await service.send(.get, path, query: query, fields: ofOne).status == 404, "\(path)")
        }
        for path in [
            "/admin/stats", "/admin/api/apps", "/admin/api/links", "/admin/api/checks", "/admin/api/audit",
            "/metrics", "/admin/api/export/clicks.csv", "/admin/api/export/links.ndjson",
        ] {
            let answer = await service.send(.get, path, fields: ofOne)
            #expect(answer.status == 200, "\(path)")
            for text in [other.app.text, "Zebra", foreign, String(id), other.key.text] {
                #expect(!answer.text.contains(text), "\(path) shows \(text)")
            }
        }
        let links = await service.send(.get, "/admin/api/links", fields: ofOne)
        #expect(links.text.contains(own))
        // The key's app has no traffic, and no figure includes the other app's counts.
        let metrics = await service.send(.get, "/metrics", fields: ofOne)
        #expect(metrics.text.contains("afterlink_clicks_total 0\n"))
        #expect(!metrics.text.contains("afterlink_http_requests_total"))
        let whole = await service.send(.get, "/metrics", fields: ofAll)
        #expect(whole.text.contains("afterlink_clicks_total 1\n"))
        #expect(whole.text.contains("afterlink_http_requests_total"))
        // These figures concern all apps.
        for (key, isShown) in [(ofOne, false), (ofAll, true)] {
            let statistics = await service.send(.get, "/admin/stats", fields: key).text
            #expect(statistics.contains("\"wal_bytes\":") == isShown, "\(statistics)")
            #expect(statistics.contains("\"unrecorded_checks\":") == isShown, "\(statistics)")
            let metrics = await service.send(.get, "/metrics", fields: key).text
            #expect(metrics.contains("afterlink_unrecorded_checks_total ") == isShown)
        }
    }

    @Test("in the dashboard, a read key of one app sees that app, and changes nothing")
    func dashboard() async throws {
        _ = await service.click(fields: other.bearer)
        await service.check(hex, fields: other.bearer)
        let admin = await DashboardBrowser.signedIn(to: service)
        let whole = await admin.get("/launches")
        let launch = try #require(
            whole.text.split(separator: "\"").first { $0.hasPrefix("/launches/chk_") }.map(String.init)
        )
        let browser = await DashboardBrowser.signedIn(to: service, with: service.keyText(.read))
        let erased = #"{"app":"\#(other.app.text)","fingerprint":"\#(String(repeating: "e", count: 64))"}"#
        let erasure = await service.admin(.post, "/erase", erased)
        #expect(erasure.status == 200)
        let held = await admin.get("/settings/held").text
        #expect(held.contains("Zebra"))
        for path in [
            "/", "/launches", "/live", "/links", "/campaigns", "/matching", "/apple", "/domains", "/system",
            "/try",
            "/settings",
            "/settings/audit", "/settings/held",
        ] {
            let page = await browser.get(path)
            #expect(page.status == 200, "\(path): \(page.text)")
            for text in [other.app.text, "Zebra", other.key.text] {
                #expect(!page.text.contains(text), "\(path) shows \(text)")
            }
            let forms = PageMarkup(page.text).tags.filter { $0.attributes["method"] == "post" }
            #expect(forms.compactMap { $0.attributes["action"] } == ["/sign-out"], "\(path)")
        }
        // These figures are about all apps.
        for (path, texts) in [
            ("/system", ["Open connections", "<h2>Database</h2>", "Error responses", "Log of this process"]),
            ("/settings/held", ["What is stored now", "learnt_counters"]),
        ] {
            await browser.get(path).expect(200, holds: ["about all apps"], lacks: texts)
        }
        for path in ["/system?table=Process&as=csv", "/settings/held?table=What+is+stored+now&as=csv"] {
            #expect(await browser.get(path).status == 404, "\(path)")
        }
        #expect(await browser.get(launch).status == 404)
        #expect(await browser.get("/?app=\(other.app.text)").status == 404)
        let everywhere = await DashboardBrowser.signedIn(to: service, with: all.text)
        #expect(await everywhere.get(launch).status == 200)
        for browser in [browser, everywhere] {
            let token = await browser.formToken()
            for path in [
                "/settings/apps", "/settings/keys", "/settings/keys/revoke", "/settings/sessions/end",
                "/settings/sessions/end-others",
            ] {
                let answer = await browser.post(path, "token=\(token)&kind=admin&key=\(all.key.id.text)")
                #expect(answer.status == 403 && answer.text.contains("changes nothing"), "\(path)")
            }
            #expect(await browser.post("/sign-out", "token=\(token)").status == 303)
            #expect(await browser.get("/").status == 303)
        }
    }
}
