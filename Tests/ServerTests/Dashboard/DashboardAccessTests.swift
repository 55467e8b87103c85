import Attribution
import HTTPServer
import Testing
import Threads

/// Tests who may see the dashboard, and which requests the dashboard refuses.
@Suite("Access to the dashboard")
struct DashboardAccessTests {
    private let service: TestService
    private let stranger: DashboardBrowser

    init() async throws {
        service = try await TestService()
        stranger = DashboardBrowser(service)
    }

    @Test(
        "without a session, every page leads to the form for a key, and then back",
        arguments: ["/", "/launches?outcome=match", "/launches/chk_x", "/settings"]
    )
    func noSession(address: String) async {
        let answer = await stranger.get(address)
        #expect(answer.status == 303)
        let next =
            address == "/"
            ? ""
            : "?next="
                + address.replacing("/", with: "%2F")
                .replacing("?", with: "%3F").replacing("=", with: "%3D")
        #expect(answer.fieldLines.contains("Location: /sign-in\(next)\n"), "\(answer.fieldLines)")
    }

    @Test(
        "browsers get a page for each refused request, and programs get JSON except for a wrong media type"
    )
    func refusals() async {
        let key = service.keyText(.admin)
        let calls: [(Method, path: String, query: String?, status: Int)] = [
            (.post, "/launches", nil, 405), (.delete, "/settings", nil, 405), (.post, "/nothing", nil, 404),
            (.get, "/launches", "key=\(key)", 400), (.post, "/settings/apps", nil, 415),
        ]
        for (method, path, query, status) in calls {
            for accept in ["text/html,application/xhtml+xml,*/*;q=0.8", "*/*"] {
                let fields = [
                    "Host": DashboardBrowser.host, "Accept": accept, "Sec-Fetch-Site": "same-origin",
                ]
                let answer = await service.send(method, path, query: query, fields: fields, to: .dashboard)
                #expect(answer.status == status, "\(method) \(path)")
                let isPage = accept != "*/*" || status == 415
                #expect(answer.text.hasPrefix("<!doctype html>") == isPage, "\(path) \(accept)")
                #expect(answer.fieldLines.contains("Content-Security-Policy") == isPage)
                #expect(answer.fieldLines.contains("Allow: ") == (status == 405))
                if isPage {
                    #expect(answer.text.contains(".</p><p><a href=\"/\">Overview</a>"), "\(answer.text)")
                }
                #expect(!answer.text.contains(key))
            }
        }
    }

    @Test("an admin key starts a session, and the key is in no log line")
    func adminKey() async throws {
        let answer = await stranger.post(
            "/sign-in",
            "key=+\(service.keyText(.admin))%0A&next=%2Flaunches%3Ftest%3Dtrue"
        )
        #expect(answer.status == 303 && answer.fieldLines.contains("Location: /launches?test=true"))
        let cookie = answer.fieldLines.split(separator: "\n").first { $0.hasPrefix("Set-Cookie") } ?? ""
        #expect(cookie.hasPrefix("Set-Cookie: afterlink="))
        #expect(cookie.hasSuffix("; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict"))
        var browser = stranger
        browser.keepCookie(of: answer)
        let page = await browser.get("/launches")
        #expect(page.status == 200 && page.text.contains("<h1>Launches</h1>"))
        #expect(!service.logLines().joined().contains(service.keyText(.admin)))
    }

    @Test(
        "other keys start no session, and neither does a wrong one",
        arguments: KeyKind.allCases.filter { !$0.signsIn } + [nil]
    )
    func otherKeys(kind: KeyKind?) async {
        let key = kind.map(service.keyText) ?? "admin_wrong"
        let answer = await stranger.post("/sign-in", "key=\(key)")
        #expect(answer.status == 403 && !answer.fieldLines.contains("Set-Cookie"))
        #expect(answer.text.contains("not a valid admin or read key") && !answer.text.contains(key))
    }

    @Test("after five failed sign-ins, an address must wait, even with a valid key")
    func failures() async {
        let now = MonotonicTime.now()
        for _ in 1...5 { #expect(await stranger.post("/sign-in", "key=x", at: now).status == 403) }
        let answer = await stranger.post("/sign-in", "key=\(service.keyText(.admin))", at: now)
        #expect(answer.status == 429 && answer.fieldLines.contains("Retry-After: "))
        #expect(!answer.fieldLines.contains("Set-Cookie"))
        let later = now.advanced(by: .seconds(60))
        #expect(await stranger.post("/sign-in", "key=\(service.keyText(.admin))", at: later).status == 303)
    }

    @Test("no key signs in over plain HTTP from another machine; over https the cookie is bound to the host")
    func transport() async throws {
        let key = "key=\(service.keyText(.admin))"
        let same = ["Sec-Fetch-Site": "same-origin"]
        for host in [
            "stats.example:8081", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1:8081",
        ] {
            let answer = await stranger.post("/sign-in", key, fields: same.merging(["Host": host]) { $1 })
            #expect(answer.status == 403 && answer.text.contains("https"), "\(host): \(answer.text)")
            #expect(answer.text.contains("any machine on the way could read"), "\(host): \(answer.text)")
            // Without the form, no key is sent in plain text.
            let form = await stranger.get("/sign-in", fields: ["Host": host])
            #expect(form.status == 403 && form.text.contains("https") && !form.text.contains("<input"))
            // A link that no press of the button could use has no button.
            let link = await stranger.get("/enter/secret", fields: ["Host": host])
            #expect(link.status == 403 && link.text.contains("https") && !link.text.contains("<input"))
        }
        for host in ["localhost:8081", "[::1]:8081", "127.0.0.2"] {
            let answer = await stranger.post("/sign-in", key, fields: same.merging(["Host": host]) { $1 })
            #expect(answer.status == 303, "\(host): \(answer.text)")
        }
        let proxied = DashboardBrowser(try await TestService(trustedProxies: ["127.0.0.0/8"]))
        let answer = await proxied.post(
            "/sign-in",
            "key=\(proxied.service.keyText(.admin))",
            fields: same.merging(["Host": "stats.example", "X-Forwarded-Proto": "https"]) { $1 }
        )
        #expect(answer.fieldLines.contains("Set-Cookie: __Host-afterlink="))
        #expect(answer.fieldLines.contains("; Secure\n"))
        // The field Forwarded counts, too, unless it and X-Forwarded-Proto disagree.
        for (fields, status) in [
            (["Forwarded": "for=192.0.2.1;proto=http, for=192.0.2.2;Proto=\"https\""], 200),
            (["Forwarded": "for=192.0.2.1;proto=https, for=192.0.2.2"], 403),
            (["Forwarded": "proto=https", "X-Forwarded-Proto": "http"], 403),
        ] {
            let host = fields.merging(["Host": "stats.example"]) { $1 }
            #expect(await proxied.get("/sign-in", fields: host).status == status, "\(fields)")
        }
    }

    @Test("after five invalid links, an address must wait")
    func wrongLinks() async {
        let now = MonotonicTime.now()
        for _ in 1...5 { #expect(await stranger.post("/enter", "link=x", at: now).status == 403) }
        #expect(await stranger.post("/enter", "link=x", at: now).status == 429)
    }

    @Test("the hosts of apps have no dashboard, at any port")
    func hostsOfApps() async throws {
        let fields = service.bearer(.admin).merging(["Content-Type": "application/json"]) { $1 }
        let body = #"{"link_hosts":["go.example.com"]}"#
        let app = service.app.text
        let changed = await service.send(.patch, "/admin/api/apps/\(app)", fields: fields, body: body)
        #expect(changed.status == 200, "\(changed.text)")
        for host in ["go.example.com", "go.example.com:8081"] {
            #expect(await stranger.get("/sign-in", fields: ["Host": host]).status == 404)
            #expect(await stranger.post("/sign-in", "key=x", fields: ["Host": host]).status == 404)
            #expect(await stranger.get("/healthz", fields: ["Host": host]).status == 200)
        }
    }

    @Test(
        "a form that another site sends is refused",
        arguments: [
            ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"], ["Sec-Fetch-Site": "none"],
            ["Origin": "https://evil.example"], ["Origin": "null"], [:],
            ["Sec-Fetch-Site": "cross-site", "Origin": "http://127.0.0.1:8081"],
        ]
    )
    func otherSites(fields: [String: String]) async {
        let browser = await DashboardBrowser.signedIn(to: service)
        let token = await browser.formToken()
        for (path, body) in [
            ("/sign-in", "key=\(service.keyText(.admin))"), ("/enter", "link=x"),
            ("/sign-out", "token=\(token)"),
        ] {
            let answer = await browser.post(path, body, fields: fields)
            #expect(answer.status == 403 && answer.text.contains("Another site"), "\(path)")
        }
        #expect(await browser.get("/").status == 200)
    }

    @Test("without Sec-Fetch-Site, Origin shows that a form comes from the dashboard")
    func origin() async {
        let fields = ["Origin": "http://\(DashboardBrowser.host)"]
        let answer = await stranger.post("/sign-in", "key=\(service.keyText(.admin))", fields: fields)
        #expect(answer.status == 303)
    }

    @Test("the letter case of the requested host does not matter")
    func capitals() async {
        let fields = ["Host": "LocalHost:8081", "Origin": "http://localhost:8081"]
        #expect(await stranger.get("/sign-in", fields: fields).status == 200)
        let answer = await stranger.post("/sign-in", "key=\(service.keyText(.admin))", fields: fields)
        #expect(answer.status == 303 && answer.fieldLines.contains("Set-Cookie: afterlink="))
    }

    @Test("a form needs its session's token, and after a sign-out that session opens no page")
    func signOut() async {
        let (browser, other) = (
            await DashboardBrowser.signedIn(to: service), await DashboardBrowser.signedIn(to: service)
        )
        let foreign = await other.formToken()
        for body in ["", "token=", "token=\(foreign)"] {
            let answer = await browser.post("/sign-out", body)
            #expect(answer.status == 403 && answer.text.contains("another session"))
        }
        let answer = await browser.post("/sign-out", "token=\(await browser.formToken())")
        #expect(answer.status == 303 && answer.fieldLines.contains("Max-Age=0"))
        #expect(await browser.get("/").status == 303)
        #expect(await other.get("/").status == 200)
    }

    @Test("a session ends with its key, after twelve hours without use, and after seven days")
    func ends() async throws {
        let browser = await DashboardBrowser.signedIn(to: service)
        for _ in 0..<13 {
            service.clock.advance(seconds: 43_199)
            #expect(await browser.get("/").status == 200)
        }
        service.clock.advance(seconds: 604_800 - 13 * 43_199)
        #expect(await browser.get("/").status == 303)
        let idle = await DashboardBrowser.signedIn(to: service)
        service.clock.advance(seconds: 43_200)
        #expect(await idle.get("/").status == 303)
        let made = TestKey(.admin, of: nil, at: service.clock.now)
        try await service.add(made.key)
        var revoked = stranger
        revoked.keepCookie(of: await stranger.post("/sign-in", "key=\(made.text)"))
        #expect(await revoked.get("/").status == 200)
        try await service.revoke(made.key.id)
        #expect(await revoked.get("/").status == 303)
    }

    @Test("a one-time link shows a button, which starts one session")
    func oneTimeLink() async throws {
        let end = service.clock.now.advanced(byMilliseconds: SignInLink.milliseconds)
        try await service.create(SignInLink(digest: KeyDigest(of: "secret"), expiresAt: end))
        // Programs that preview a link read it, and must not use it up.
        for _ in 1...2 {
            let page = await stranger.get("/enter/secret")
            #expect(page.status == 200 && page.text.contains(#"name="link" value="secret""#))
        }
        var browser = stranger
        browser.keepCookie(of: await browser.post("/enter", "link=secret"))
        #expect(await browser.get("/").status == 200)
        let again = await stranger.post("/enter", "link=secret")
        #expect(again.status == 403 && again.text.contains("used before"))
        #expect(!service.logLines().joined().contains("/enter/secret"))
    }

    @Test("calls that need a key do not accept the cookie, and pages do not accept a key")
    func apart() async {
        let browser = await DashboardBrowser.signedIn(to: service)
        let fields = ["Cookie": browser.cookie, "Host": DashboardBrowser.host]
        #expect(await service.send(.get, "/admin/stats", fields: fields).status == 401)
        #expect(await stranger.get("/", fields: service.bearer(.admin)).status == 303)
    }

    @Test("the main address has no page of the dashboard, and the dashboard's address has no other path")
    func addresses() async {
        let browser = await DashboardBrowser.signedIn(to: service)
        for path in ["/sign-in", "/launches", "/enter/x"] {
            let answer = await service.send(.get, path, fields: ["Cookie": browser.cookie])
            #expect(answer.status == 404, "\(path)")
        }
        for path in ["/admin/stats", "/metrics", "/v1/deferred-deeplink", "/openapi.json"] {
            #expect(await browser.get(path, fields: service.bearer(.admin)).status == 404, "\(path)")
        }
        #expect(await stranger.get("/healthz").status == 200)
        #expect(await stranger.get("/nowhere").status == 404)
    }

    @Test("the form for a key leads a browser that is signed in, and came from another site, to its page")
    func signedInAlready() async {
        let form = PageMarkup(await stranger.get("/sign-in?next=%2Flaunches%3Ftest%3Dtrue&x=1").text)
        let page = form.tags.compactMap { $0.attributes["href"] }.first { $0.hasPrefix("/launches") }
        #expect(page == "/launches?test=true")
        for next in ["", "?next=%2F%2Fevil.example", "?next=https%3A%2F%2Fevil.example"] {
            let tags = PageMarkup(await stranger.get("/sign-in\(next)").text).tags
            #expect(!tags.contains { $0.attributes["href"]?.contains("evil") == true }, "\(next)")
            #expect(!tags.contains { $0.attributes["href"] == "/" }, "\(next)")
        }
    }

    @Test(
        "after a sign-in, the browser stays on this site",
        arguments: [
            "//evil.example", "https://evil.example/", "/\\evil.example", "javascript:alert(1)",
            "/%0d%0aX: y",
        ]
    )
    func openRedirect(next: String) async {
        let encoded = next.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let answer = await stranger.post("/sign-in", "key=\(service.keyText(.admin))&next=\(encoded)")
        let isSafe =
            answer.fieldLines.contains("Location: /\n") || answer.fieldLines.contains("Location: /%0d%0aX:")
        #expect(answer.status == 303 && isSafe, "\(answer.fieldLines)")
    }

    @Test(
        "every response forbids frames, caches, and content of other origins",
        arguments: ["/", "/sign-in", "/nowhere"]
    )
    func fields(path: String) async {
        let browser = await DashboardBrowser.signedIn(to: service)
        let answer = await browser.get(path)
        for line in [
            "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self';"
                + " img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none';"
                + " base-uri 'none'; require-trusted-types-for 'script'",
            "Cache-Control: no-store", "Referrer-Policy: no-referrer",
            "Cross-Origin-Opener-Policy: same-origin",
            "Cross-Origin-Resource-Policy: same-origin",
        ] {
            #expect(answer.fieldLines.contains(line), "\(path) lacks \(line)")
        }
        // Without it, browsers would send `Origin: null` with the dashboard's own forms.
        #expect(answer.text.contains(#"<meta name="referrer" content="same-origin">"#), "\(path)")
    }
}
