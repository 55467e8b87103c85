import Attribution
import Foundation
import HTTPServer
import JSON
import Server
import Testing

@Suite("Query parameters of the admin API")
struct AdminQueryTests {
    @Test(
        "an unknown parameter is refused with a similar name or all names, and so is a repeated parameter",
        arguments: [
            (HTTPServer.Method.get, "/admin/stats", "campain=x", "campain", #"did you mean \"campaign\"?"#),
            (.get, "/admin/stats", "app=&From=2026-01-01", "From", #"did you mean \"from\"?"#),
            (.get, "/admin/api/checks", "limits=5", "limits", #"did you mean \"limit\"?"#),
            (.get, "/admin/api/checks", "%6Cimits=5", "limits", #"did you mean \"limit\"?"#),
            (.get, "/admin/api/links", "x=1", "x", "it takes app, search, tag, campaign"),
            (.get, "/admin/api/links", "=1", "", "it takes app, search"),
            (.get, "/admin/api/apps", "app=1", "app", "it takes none"),
            (.post, "/admin/api/links", "dry_run=true", "dry_run", "it takes none"),
            (.delete, "/admin/api/links/lnk_x", "force=1", "force", "it takes none"),
            (.post, "/admin/api/domains/check", "host=x.example", "host", "it takes none"),
            (.get, "/admin/api/links", "tag=a&limit=5&tag=b", "tag", "tag is given twice; give it once."),
            (.get, "/admin/api/checks", "limit=5&%6Cimit=5", "limit", "limit is given twice"),
        ] as [(HTTPServer.Method, String, String, String, String)]
    )
    func unknown(method: HTTPServer.Method, path: String, query: String, name: String, advice: String)
        async throws
    {
        let service = try await TestService()
        let answer = await service.send(method, path, query: query, fields: service.bearer(.admin))
        #expect(answer.status == 400 && answer.member("error_code") == "INVALID_FIELD", "\(answer.text)")
        #expect(answer.member("field") == name)
        #expect(answer.text.contains(advice), "\(answer.text)")
        // Callers without a valid key do not learn the names.
        let stranger = await service.send(method, path, query: query, fields: service.bearer(.app))
        #expect(stranger.status == 403)
    }

    @Test("unknown parameters are reported together: at most ten, each cut to 64 characters")
    func several() async throws {
        let service = try await TestService()
        let names = (0..<20).map { "\($0)" + String(repeating: "n", count: 100) }
        let answer = await service.statistics(names.map { "\($0)=1" }.joined(separator: "&"))
        #expect(answer.status == 400)
        #expect(answer.text.components(separatedBy: #"{"field":"#).count == 11)
        #expect(!answer.text.contains(String(repeating: "n", count: 65)))
    }

    @Test("the calls of clients and of monitoring ignore unknown parameters")
    func ignored() async throws {
        let service = try await TestService()
        #expect(await service.check(query: "fingerprint=\(hex)&utm=1").status == 200)
        #expect(await service.send(.get, "/healthz", query: "probe=1").status == 200)
        let metrics = await service.send(.get, "/metrics", query: "x=1", fields: service.bearer(.admin))
        #expect(metrics.status == 200)
        let (path, type) = ("/v1/deferred-deeplink/click", ["Content-Type": "application/json"])
        let click = await service.send(.post, path, query: "cache=1", fields: type, body: anyClick)
        #expect(click.status == 201)
    }
}

@Suite("Recorded checks over HTTP")
struct ChecksTests {
    private static let click =
        #"{"fingerprint":"\#(hex)","deeplink_url":"myapp://promo/item","campaign_key":"S"}"#
    private let service: TestService

    init() async throws { service = try await TestService() }

    private func list(_ service: TestService, _ query: String? = nil) async -> Answer {
        await service.admin(.get, "/checks", query: query)
    }

    private func explain(_ service: TestService, _ id: String) async -> Answer {
        await service.admin(.get, "/checks/\(id)/explain")
    }

    @Test("checks are listed with outcome, reason and campaign, and filtered by each")
    func lists() async throws {
        await service.click(Self.click)
        await service.check(hex, fields: ["X-Request-ID": "launch-1"])
        await service.check(String(repeating: "0", count: 64), fields: ["X-Request-ID": "launch-2"])
        let all = await list(service)
        #expect(all.status == 200)
        #expect(all.field("Cache-Control") == "no-store")
        for words in [
            #""outcome":"match""#, #""reason":"matched""#, #""method":"fingerprint""#, #""campaign":"S""#,
            #""outcome":"no_match""#, #""reason":"no_click""#, #""next":null"#,
        ] { #expect(all.text.contains(words), "\(words)") }
        #expect(!all.text.contains(hex), "no fingerprint in clear")
        let matches = await list(service, "outcome=match&campaign=S&from=2020-01-01")
        #expect(matches.text.contains("launch-1") && !matches.text.contains("launch-2"))
        let others = await list(service, "reason=no_click")
        #expect(!others.text.contains("launch-1") && others.text.contains("launch-2"))
        let fingerprint = await list(service, "fingerprint=\(hex)")
        #expect(fingerprint.text.contains("launch-1") && !fingerprint.text.contains("launch-2"))
        let first = await list(service, "limit=1")
        #expect(first.text.contains("launch-2") && !first.text.contains("launch-1"))
        let next = try #require(first.member("next"))
        #expect(await list(service, "limit=1&before=\(next)").text.contains("launch-1"))
    }

    @Test(
        "wrong values of filters are refused",
        arguments: [
            ("outcome=maybe", "outcome"), ("reason=none", "reason"), ("limit=0", "limit"),
            ("limit=x", "limit"), ("before=chk_1", "before"), ("from=yesterday", "from"),
            ("app=app_x", "app"), ("fingerprint=abc", "fingerprint"), ("test=maybe", "test"),
        ]
    )
    func refuses(query: String, field: String) async throws {
        let answer = await list(service, query)
        #expect(answer.status == 400 && answer.member("field") == field)
    }

    @Test("a check is explained by its id, its request's id, or the id of its click")
    func explains() async throws {
        let click = await service.click(Self.click)
        await service.check(hex, fields: ["X-Request-ID": "launch-1"])
        service.clock.advance(seconds: 600)
        await service.check(hex, fields: ["X-Request-ID": "launch/2"])
        let second = await explain(service, "launch%2F2")
        #expect(second.status == 200)
        for words in [
            #""reason":"already_claimed""#, #""state":"claimed""#, #""same_fingerprint":true"#,
            "had been consumed by another launch 10 min before", #""claimed_by":"fingerprint""#,
        ] { #expect(second.text.contains(words), "\(words)") }
        #expect(!second.text.contains(hex))
        let id = try #require(click.member("click_id"))
        let first = await explain(service, id)
        #expect(first.text.contains(#""outcome":"match""#))
        #expect(first.text.contains(#""state":"answered""#))
        #expect(first.text.contains("was credited to the click \(id)"))
        let listed = await list(service, "outcome=match").text
        let start = try #require(listed.range(of: #""id":"chk_"#))
        let check = String(listed[start.upperBound...].prefix(26))
        #expect(await explain(service, "chk_\(check)").text.contains(#""state":"answered""#))
    }

    @Test("an explanation has the device's install time, and says that the launch was hardly the first")
    func firstInstallTime() async throws {
        let installed = service.clock.now.advanced(byMilliseconds: -3 * 86_400_000).iso8601
        let body = #"{"fingerprint":"\#(hex)","first_install_time":"\#(installed)"}"#
        await service.resolve(body, fields: ["X-Request-ID": "launch-1"])
        let member = #""first_install_time":"\#(installed)""#
        #expect(await list(service).text.contains(member))
        let explained = await explain(service, "launch-1")
        #expect(explained.text.contains(member))
        #expect(explained.text.contains("has had the app for 3 d: this was hardly its first launch."))

        await service.click()
        await service.resolve(body, fields: ["X-Request-ID": "launch-2"])
        let matched = await explain(service, "launch-2")
        #expect(
            matched.text.contains(
                "it had the app 3 d before that click: the person who clicked already had the app."
            )
        )
        await service.check(hex, fields: ["X-Request-ID": "launch-3"])
        #expect(await explain(service, "launch-3").text.contains("first_install_time") == false)
    }

    @Test("a click that no check found is explained with its state and the checks that resemble it")
    func clickAlone() async throws {
        let click = await service.click(Self.click, peer: PeerAddress(ipv4: 0x0102_0304, port: 1))
        let id = try #require(click.member("click_id"))
        let before = await explain(service, id)
        #expect(before.status == 200)
        for words in [
            #""state":"open""#, #""checks":[]"#, #""indexed":true"#, #""keys":1"#, "It is live until",
            "No check with its fingerprint or from near its address came",
        ] { #expect(before.text.contains(words), "\(words)") }
        #expect(!before.text.contains(hex))

        service.clock.advance(seconds: 600)
        let other = String(repeating: "0", count: 64)
        await service.check(other, peer: PeerAddress(ipv4: 0x0102_0399, port: 2))
        await service.check(other, peer: PeerAddress(ipv4: 0x0102_0304, port: 2))
        await service.check(other, peer: PeerAddress(ipv4: 0x0902_0304, port: 2))
        service.clock.advance(seconds: 86_400)
        let after = await explain(service, id)
        for words in [
            #""state":"expired""#, "its window was 24 h", "10 min after the click, came from its address",
            #""relation":"same_address""#, #""relation":"near_address""#, #""searched_checks":3"#,
        ] { #expect(after.text.contains(words), "\(words)") }
        #expect(after.text.components(separatedBy: "\"relation\"").count == 3)
    }

    @Test(
        "an explanation gets 404 for an unknown id, and 400 for a fingerprint",
        arguments: [("chk_00000000000000000000000000", 404), ("unknown", 404), (hex, 400)]
    )
    func unknown(id: String, status: Int) async throws {
        let answer = await explain(service, id)
        #expect(answer.status == status)
        #expect(answer.member("field") == "id")
    }

    @Test("checks and explanations refuse methods other than GET, and explanations have one path")
    func paths() async {
        for path in ["/admin/api/checks", "/admin/api/checks/x/explain"] {
            #expect(await service.send(.post, path, fields: service.bearer(.admin)).status == 405)
        }
        for path in [
            "/admin/api/checks/explain", "/admin/api/checks//explain", "/admin/api/checks/a/b/explain",
        ] { #expect(await service.send(.get, path, fields: service.bearer(.admin)).status == 404) }
    }
}
