import Attribution
import HTTPServer
import JSON
import Server
import Testing

/// What is stored about a person, over the admin API and on the dashboard's page.
@Suite("Held and erased data over HTTP")
struct PrivacyEndpointTests {
    private static let address = "203.0.113.77"

    private func filled() async throws -> TestService {
        let service = try await TestService()
        #expect(await service.click(anyClick).status == 201)
        let answer = await service.check(hex, fields: ["X-Install-ID": "install-7781"])
        #expect(answer.text.contains(#""status":"match""#))
        return service
    }

    @Test(
        "a fingerprint or an install id finds the click, its claim and its check",
        arguments: ["fingerprint", "install_id"]
    )
    func held(kind: String) async throws {
        let service = try await filled()
        let value = kind == "fingerprint" ? hex : "install-7781"
        let held = await service.admin(.post, "/held", #"{"\#(kind)":"\#(value)"}"#)
        #expect(held.status == 200, "\(held.text)")
        for text in [
            #""kind":"\#(kind)""#, #""clicks":1"#, #""claims":1"#, #""checks":1"#, #""complete":true"#,
            #""destination":"myapp://promo/item""#, #""outcome":"match""#, #""identifier":"clk_"#,
        ] { #expect(held.text.contains(text), "\(text) is missing in \(held.text)") }
        #expect(!held.text.contains(hex) && !held.text.contains("install-7781"))
    }

    @Test(
        "one call names exactly one value, as its description says",
        arguments: [
            (#"{"fingerprint":"\#(hex)"}"#, true), (#"{"fingerprint":"\#(hex)","user":null}"#, true),
            ("{}", false), (#"{"user":null}"#, false), (#"{"fingerprint":"\#(hex)","user":"u"}"#, false),
            (#"{"fingerprint":"\#(hex)","install_id":"a","address":"203.0.113.7"}"#, false),
        ]
    )
    func oneValue(body: String, isAccepted: Bool) async throws {
        let service = try await TestService()
        let value = try JSONValue(parsing: Array(body.utf8))
        for (path, schema) in [("/held", "HeldRequest"), ("/erase", "ErasureRequest")] {
            let violations = SchemaCheck(api: .api).violations(value, Described.api.schema(schema))
            #expect(violations.isEmpty == isAccepted, "\(violations)")
            let answer = await service.admin(.post, path, body)
            #expect(answer.status == (isAccepted ? 200 : 422), "\(answer.text)")
        }
    }

    @Test("a dry run only counts; an erasure deletes, and is recorded")
    func erase() async throws {
        let service = try await filled()
        let body = #"{"fingerprint":"\#(hex)""#
        let dry = await service.admin(.post, "/erase", body + #","dry_run":true}"#)
        #expect(dry.text.contains(#""clicks":1"#) && dry.text.contains(#""dry_run":true"#), "\(dry.text)")
        let erased = await service.admin(.post, "/erase", body + "}")
        #expect(erased.status == 200 && erased.member("erasure")?.hasPrefix("era_") == true, "\(erased.text)")
        #expect(erased.text.contains(#""log_cleared":true"#))
        let again = await service.admin(.post, "/held", body + "}")
        #expect(again.text.contains(#""clicks":[],"claims":[],"checks":[]"#), "\(again.text)")
        let browser = await DashboardBrowser.signedIn(to: service)
        let page = await browser.get("/settings/held").text
        #expect(page.contains(erased.member("erasure") ?? "none") && page.contains("<td>key key_"))
        let audit = await service.send(
            .get,
            "/admin/api/audit",
            query: "action=data.erase",
            fields: service.bearer(.admin)
        ).text
        #expect(audit.contains(erased.member("erasure") ?? "none"))
        #expect(audit.contains(#""kind":"fingerprint""#) && !audit.contains(hex))
    }

    @Test(
        "a wrong body is refused with the member's name, and erases nothing",
        arguments: [
            (#"{}"#, "click_id"), (#"{"fingerprint":"ab"}"#, "fingerprint"),
            (#"{"click_id":"clk_x","address":"203.0.113.7"}"#, "address"),
            (#"{"address":"127.0.0.1"}"#, "address"),
            (#"{"address":"203.0.113.0/16"}"#, "address"), (#"{"install_id":"a b"}"#, "install_id"),
            (#"{"fingerprint":"\#(hex)","dry_runn":true}"#, "dry_runn"),
            (#"{"app":"x","click_id":"clk_x"}"#, "app"),
        ]
    )
    func refusals(body: String, field: String) async throws {
        let service = try await filled()
        let answer = await service.admin(.post, "/erase", body)
        #expect(answer.status == 422 && answer.member("field") == field, "\(answer.text)")
        let held = await service.admin(.post, "/held", #"{"fingerprint":"\#(hex)"}"#)
        #expect(held.text.contains(#""clicks":1"#))
    }

    @Test("a read key sees what is stored about a person in its app, and erases nothing")
    func readKey() async throws {
        let service = try await filled()
        let other = try await service.addApp(App.Settings(name: "Zebra"))
        let fields = service.bearer(.read).merging(["Content-Type": "application/json"]) { $1 }
        func answer(_ call: String, app: String? = nil) async -> Answer {
            let named = app.map { #","app":"\#($0)""# } ?? ""
            let body = #"{"fingerprint":"\#(hex)"\#(named)}"#
            return await service.send(.post, "/admin/api/\(call)", fields: fields, body: body)
        }
        #expect(await answer("held").text.contains(#""clicks":1"#))
        #expect(await answer("held", app: other.app.text).status == 404)
        #expect(await answer("erase").status == 403)
    }

    private func eraseInstall(_ service: TestService, _ body: String, _ key: KeyKind = .app) async -> Answer {
        let fields = service.bearer(key).merging(["Content-Type": "application/json"]) { $1 }
        return await service.send(.post, "/v1/erase", fields: fields, body: body)
    }

    @Test(
        "an app key or a server key erases an installation by its install id",
        arguments: [KeyKind.app, .server]
    )
    func eraseInstall(key: KeyKind) async throws {
        let service = try await filled()
        let event = #"{"events":[{"event_id":"e","name":"open","install_id":"install-7781"}]}"#
        let fields = service.bearer(.app).merging(["Content-Type": "application/json"]) { $1 }
        #expect(await service.send(.post, "/v1/events", fields: fields, body: event).status == 202)
        let own = #"{"install_id":"install-7781"}"#
        // A test key reaches no live traffic, and another id reaches nothing.
        for (body, kind) in [(own, KeyKind.test), (#"{"install_id":"install-7782"}"#, key)] {
            let answer = await eraseInstall(service, body, kind)
            #expect(answer.status == 200 && answer.text == #"{"status":"erased"}"#, "\(answer.text)")
        }
        let audit = {
            await service.send(
                .get,
                "/admin/api/audit",
                query: "action=data.erase",
                fields: service.bearer(.admin)
            ).text
        }
        #expect(await !audit().contains("era_"), "an unknown id leaves no record")
        let held = await service.admin(.post, "/held", own)
        #expect(held.text.contains(#""clicks":1"#) && held.text.contains(#""events":1"#), "\(held.text)")

        #expect(await eraseInstall(service, own, key).text == #"{"status":"erased"}"#)
        let after = await service.admin(.post, "/held", own)
        for table in ["clicks", "claims", "checks", "attributed_installs", "events"] {
            #expect(after.text.contains(#""\#(table)":[]"#), "\(after.text)")
        }
        let byHash = await service.admin(.post, "/held", #"{"fingerprint":"\#(hex)"}"#)
        #expect(byHash.text.contains(#""clicks":[],"claims":[],"checks":[]"#), "\(byHash.text)")
        #expect(await audit().contains(#""kind":"install_id""#))
        // The same installation starts again: nothing is replayed.
        let again = await service.check(hex, fields: ["X-Install-ID": "install-7781"])
        #expect(again.text.contains(#""status":"no_match""#), "\(again.text)")
    }

    @Test("a test key erases test traffic only")
    func eraseTestInstall() async throws {
        let service = try await TestService()
        let event = #"{"events":[{"event_id":"e","name":"open","install_id":"i"}]}"#
        for key in [KeyKind.app, .test] {
            let fields = service.bearer(key).merging(["Content-Type": "application/json"]) { $1 }
            #expect(await service.send(.post, "/v1/events", fields: fields, body: event).status == 202)
        }
        let own = #"{"install_id":"i"}"#
        #expect(await eraseInstall(service, own, .test).status == 200)
        let held = await service.admin(.post, "/held", own).text
        #expect(held.contains(#""events":1"#) && held.contains(#""test":false"#), "\(held)")
    }

    @Test(
        "an erasure by an app must name an installation, and needs an app key or a server key",
        arguments: [
            (#"{}"#, KeyKind.app, 400), (#"{"install_id":"a b"}"#, .app, 400),
            (#"{"install_id":7}"#, .app, 400),
            (#"{"install_id":""}"#, .server, 400), (#"{"install_id":"install-7781"}"#, .admin, 403),
            (#"{"install_id":"install-7781"}"#, .read, 403), (#"["install-7781"]"#, .app, 400),
            (#"{"install_id":"install-7781","app":"app_01jz8w6t7n3k5m9q2r4v6x8y0z"}"#, .server, 403),
        ]
    )
    func eraseInstallRefusals(body: String, key: KeyKind, status: Int) async throws {
        let service = try await filled()
        #expect(await eraseInstall(service, body, key).status == status)
        #expect(
            await service.send(.post, "/v1/erase", fields: ["Content-Type": "application/json"], body: body)
                .status == 401
        )
        let held = await service.admin(.post, "/held", #"{"install_id":"install-7781"}"#)
        #expect(held.text.contains(#""clicks":1"#))
    }

    @Test("the page counts first, and erases with a second form")
    func page() async throws {
        let service = try await filled()
        let browser = await DashboardBrowser.signedIn(to: service)
        let token = await browser.formToken()
        let form = "app=\(service.app.text)&kind=fingerprint&value=\(hex)"
        #expect(await browser.post("/settings/held/erase", form).status == 403, "without the token")
        let asked = await browser.post("/settings/held/erase", form + "&token=\(token)")
        #expect(asked.status == 200 && PageMarkup.table("Rows", in: asked.text).contains(["clicks", "1"]))
        let held = await service.admin(.post, "/held", #"{"fingerprint":"\#(hex)"}"#)
        #expect(held.text.contains(#""clicks":1"#))
        let done = await browser.post("/settings/held/erase", form + "&confirmed=1&token=\(token)")
        #expect(done.status == 200 && done.text.contains("recorded as era_"))
        let now = await browser.table("What is stored now", at: "/settings/held")
        #expect(now.contains { $0.prefix(2) == ["clicks", "0"] })
        #expect(await browser.post("/settings/held/erase", "kind=x&token=\(token)").status == 404)
    }

    @Test("an app's windows are set over the API, and a match contains the window that applied")
    func windows() async throws {
        let service = try await TestService()
        let path = "/apps/\(service.app.text)"
        let changed = await service.admin(
            .patch,
            path,
            #"{"fingerprint_window":3600,"deterministic_window":7200}"#
        )
        #expect(
            changed.text.contains(#""fingerprint_window":3600,"deterministic_window":7200"#),
            "\(changed.text)"
        )
        _ = await service.click(anyClick)
        let match = await service.check(hex)
        #expect(match.text.contains(#""attributionWindow":3600"#), "\(match.text)")
        _ = await service.click(anyClick)
        service.clock.advance(seconds: 3601)
        let late = await service.check(hex)
        #expect(late.text.contains("no_match"))
        let refused = await service.admin(.patch, path, #"{"fingerprint_window":59}"#)
        #expect(refused.status == 422 && refused.member("field") == "fingerprint_window")
        let removed = await service.admin(.patch, path, #"{"fingerprint_window":null}"#)
        #expect(!removed.text.contains("fingerprint_window") && removed.text.contains("deterministic_window"))
    }
}
