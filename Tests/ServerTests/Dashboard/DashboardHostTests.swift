import Attribution
import HTTPServer
import Server
import Testing

/// The dashboard on the service's main address, for one host alone.
@Suite("Host of the dashboard")
struct DashboardHostTests {
    private static let host = "stats.example.com"

    private let service: TestService

    init() async throws {
        service = try await TestService(trustedProxies: ["127.0.0.0/8"]) {
            $0.dashboardHost = LinkHost(Self.host)
        }
    }

    private func get(_ path: String, host: String, _ fields: [String: String] = [:]) async -> Answer {
        let all = ["Host": host, "X-Forwarded-Proto": "https"].merging(fields) { $1 }
        return await service.send(.get, path, fields: all, to: .undescribed)
    }

    @Test("the host has the dashboard's paths and /healthz, and everything else is 404")
    func paths() async {
        for host in [Self.host, Self.host.uppercased(), Self.host + ":443"] {
            #expect(await get("/sign-in", host: host).status == 200, "\(host)")
        }
        #expect(await get("/", host: Self.host).status == 303)
        #expect(await get("/healthz", host: Self.host).status == 200)
        for path in [
            "/admin/stats", "/metrics", "/v1/deferred-deeplink", "/openapi.json", "/readyz", "/spring",
            "/v1/collector.js", "/.well-known/apple-app-site-association",
        ] {
            let answer = await get(path, host: Self.host, service.bearer(.admin))
            #expect(answer.status == 404, "\(path)")
        }
        let fields = ["Host": Self.host, "Content-Type": "application/json"]
        let click = await service.send(
            .post,
            "/v1/deferred-deeplink/click",
            fields: fields,
            body: anyClick,
            to: .undescribed
        )
        #expect(click.status == 404)
    }

    @Test("a browser gets a page for a refused request")
    func refusal() async {
        let fields = ["Host": Self.host, "Accept": "text/html"]
        let answer = await service.send(.post, "/launches", fields: fields, to: .undescribed)
        answer.expect(405, holds: ["<!doctype html>", "Allow: GET"])
        let other = await service.send(
            .post,
            "/readyz",
            fields: ["Host": "127.0.0.1", "Accept": "text/html"],
            to: .undescribed
        )
        other.expect(405, holds: ["METHOD_NOT_ALLOWED"])
    }

    @Test("other hosts have the service, and no path of the dashboard")
    func otherHosts() async {
        for host in ["go.example.com", "x.stats.example.com", "127.0.0.1"] {
            #expect(await get("/sign-in", host: host).status == 404, "\(host)")
            #expect(await get("/settings", host: host).status == 404, "\(host)")
            #expect(await get("/readyz", host: host).status == 200, "\(host)")
            #expect(await get("/admin/stats", host: host, service.bearer(.admin)).status == 200, "\(host)")
        }
    }

    @Test("a session's cookie is bound to the host, and is set only if a trusted proxy reports https")
    func cookie() async throws {
        let key = "key=\(service.keyText(.admin))"
        let form = [
            "Host": Self.host, "Content-Type": "application/x-www-form-urlencoded",
            "Sec-Fetch-Site": "same-origin",
        ]
        let plain = await service.send(.post, "/sign-in", fields: form, body: key, to: .undescribed)
        #expect(plain.status == 403 && !plain.fieldLines.contains("Set-Cookie"))
        let secure = form.merging(["X-Forwarded-Proto": "https"]) { $1 }
        let answer = await service.send(.post, "/sign-in", fields: secure, body: key, to: .undescribed)
        #expect(answer.fieldLines.contains("Set-Cookie: __Host-afterlink="))
        var browser = DashboardBrowser(service)
        browser.keepCookie(of: answer)
        #expect(await get("/", host: Self.host, ["Cookie": browser.cookie]).status == 200)
        let stranger = PeerAddress(ipv4: 0x0A00_0001, port: 1)
        let forged = await service.send(
            .post,
            "/sign-in",
            fields: secure,
            body: key,
            peer: stranger,
            to: .undescribed
        )
        #expect(forged.status == 403)
    }

    @Test("the API gives no app the dashboard's host, and a host of links never shows the dashboard")
    func linkHosts() async throws {
        let fields = service.bearer(.admin).merging(["Content-Type": "application/json"]) { $1 }
        for field in ["link_hosts", "web_hosts"] {
            let answer = await service.send(
                .patch,
                "/admin/api/apps/\(service.app.text)",
                fields: fields,
                body: #"{"\#(field)":["\#(Self.host)"]}"#
            )
            #expect(answer.isRefusal(409, "CONFLICT", field: field), "\(answer.text)")
        }
        // A command that does not know the dashboard's host can give this host to an app.
        var links = AppLinks()
        links.hosts = [try #require(LinkHost(Self.host))]
        _ = try await service.addApp(App.Settings(name: "Other", links: links))
        #expect(await get("/sign-in", host: Self.host).status == 404)
    }
}
