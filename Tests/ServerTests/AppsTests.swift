import Attribution
import HTTPServer
import JSON
import Server
import Testing

@Suite("Apps over the admin API")
struct AppsTests {
    @Test("apps are listed and shown with their link settings")
    func shows() async throws {
        let service = try await TestService(LinkScenario.shop)
        let one = await service.admin(.get, "/apps/\(service.app.text)")
        #expect(one.status == 200)
        for text in [
            #""name":"Shop""#, #""link_hosts":["go.shop.example"]"#, #""web_hosts":["shop.example"]"#,
            #""ios_scheme":"myapp""#, #""ios_store_id":"1234567890""#,
            #""android_package":"com.example.shop""#,
        ] { #expect(one.text.contains(text), "\(text)") }
        #expect(await service.admin(.get, "/apps").text == "{\"apps\":[\(one.text)]}")
        #expect(await service.admin(.get, "/apps/app_x").status == 404)
    }

    @Test("a change applies at once to the settings that the body names, and keeps the others")
    func patch() async throws {
        let service = try await TestService(LinkScenario.shop)
        let path = "/apps/\(service.app.text)"
        let changed = await service.admin(
            .patch,
            path,
            #"{"link_hosts":["GO2.shop.example"],"ios_team":"ABCDE12345","web_credentials":true,"ios_store_id":null}"#
        )
        #expect(changed.status == 200, "\(changed.text)")
        for text in [
            #""link_hosts":["go2.shop.example"]"#, #""ios_team":"ABCDE12345""#, #""web_credentials":true"#,
            #""android_package":"com.example.shop""#, #""name":"Shop""#,
        ] { #expect(changed.text.contains(text), "\(text)") }
        #expect(!changed.text.contains("ios_store_id"))
        #expect(await service.admin(.get, path).text == changed.text)
        let link = await service.admin(.post, "/links", #"{"slug":"a","destination":"myapp://x"}"#)
        #expect(link.member("url") == "https://go2.shop.example/a")
    }

    @Test("an app gets no link host on which a slug would lead to two links")
    func sharedHosts() async throws {
        let service = try await TestService(LinkScenario.shop)
        let other = try await service.addApp(App.Settings(name: "Other"))
        let path = "/apps/\(other.app.text)"
        let body = #"{"link_hosts":["go.shop.example"],"ios_scheme":"o"}"#
        try await service.makeLink(
            #"{"app":"\#(service.app.text)","slug":"summer","destination":"myapp://x"}"#
        )
        let id = try await service.makeLink(
            #"{"app":"\#(other.app.text)","slug":"summer","destination":"o://x"}"#
        )
        let refused = await service.admin(.patch, path, body)
        #expect(refused.status == 409 && refused.member("field") == "link_hosts")
        for part in ["Shop", "Other", "summer", "afterlink links delete"] {
            #expect(refused.member("message")?.contains(part) == true, "\(refused.text)")
        }
        #expect(await !service.admin(.get, path).text.contains("ios_scheme"))
        // These changes set a host that no other app has, and a field that needs no host.
        #expect(await service.admin(.patch, path, #"{"link_hosts":["o.example"]}"#).status == 200)
        #expect(await service.admin(.patch, path, #"{"ios_scheme":"o"}"#).status == 200)
        #expect(await service.admin(.delete, "/links/\(id)").status == 204)
        #expect(await service.admin(.patch, path, body).status == 200)
        // Apps that share a host already may change their other fields.
        #expect(await service.admin(.patch, path, #"{"ios_scheme":"p"}"#).status == 200)
    }

    @Test(
        "wrong values and unknown fields are refused, and nothing is changed",
        arguments: [
            (#"{"link_hosts":["https://x.example"]}"#, "link_hosts"),
            (#"{"link_hosts":"x.example"}"#, "link_hosts"),
            (#"{"ios_team":"x"}"#, "ios_team"), (#"{"ios_scheme":"https"}"#, "ios_scheme"),
            (#"{"android_certificates":["AB"]}"#, "android_certificates"), (#"{"name":"x"}"#, "name"),
            (#"{"icon":"http://x.example/i"}"#, "icon"), (#"{"web_credentials":"yes"}"#, "web_credentials"),
        ]
    )
    func refuses(body: String, field: String) async throws {
        let service = try await TestService(LinkScenario.shop)
        let before = await service.admin(.get, "/apps").text
        let answer = await service.admin(.patch, "/apps/\(service.app.text)", body)
        #expect(answer.status == 422, "\(answer.text)")
        #expect(answer.member("field") == field)
        #expect(await service.admin(.get, "/apps").text == before)
    }

    @Test("the advice on an unknown member names every setting that the call changes")
    func advice() async throws {
        let service = try await TestService(LinkScenario.shop)
        let path = "/apps/\(service.app.text)"
        let refused = await service.admin(.patch, path, #"{"minimum_confidence":0.8}"#)
        #expect(refused.status == 422 && refused.member("field") == "minimum_confidence")
        for name in ["click_ids", "conversion_schemas", "fingerprint_window", "deterministic_window", "icon"]
        {
            #expect(refused.member("message")?.contains(name) == true, "\(name): \(refused.text)")
        }
        let link = await service.admin(.post, "/links", #"{"slug":"a","destination":"myapp://x","sl":1}"#)
        #expect(link.status == 422 && link.member("field") == "sl")
        #expect(link.member("message")?.contains(" set one of app, slug, title,") == true, "\(link.text)")
    }
}
