import Attribution
import HTTPServer
import Testing

@Suite("The page System")
struct SystemPageTests {
    @Test("the page says whether the server is ready, as /readyz does")
    func readiness() async throws {
        let service = try await TestService()
        let browser = await DashboardBrowser.signedIn(to: service)
        let page = await browser.get("/system").text
        #expect(page.contains("This server is ready.") && page.contains("plain HTTP"))
        #expect(page.contains("Open connections to --listen"))
        #expect(page.contains("Nothing was written since the start") && !page.contains("class=\"chart\""))
        service.storeAcceptsWrites = false
        let ready = await service.send(.get, "/readyz")
        #expect(ready.status == 503 && ready.text.contains("the store refuses writes"))
        #expect(
            await browser.get("/system").text.contains("This server is not ready: the store refuses writes.")
        )
    }

    @Test("error responses are counted by code, as in the metrics")
    func errors() async throws {
        let service = try await TestService()
        let browser = await DashboardBrowser.signedIn(to: service)
        for _ in 0..<2 { await service.check("nonsense") }
        let rows = await browser.table("Error responses since the start", at: "/system")
        #expect(rows.contains(["INVALID_FINGERPRINT", "2"]))
    }

    @Test("the last lines of the log are found by a request id, and only by keys that see all apps")
    func log() async throws {
        let service = try await TestService()
        let browser = await DashboardBrowser.signedIn(to: service)
        for number in 1...250 {
            await service.send(.get, "/healthz", fields: ["X-Request-ID": "trace-\(number)-<b>end"])
            await service.send(.get, "/healthz", fields: ["X-Request-ID": "trace/\(number)."])
        }
        _ = service.logLines()
        func lines(_ page: String) -> [String] {
            guard let start = page.firstRange(of: "<pre tabindex=\"0\">") else { return [] }
            let text = page[start.upperBound...].prefix { $0 != "<" }
            return text.split(separator: "\n").map(String.init)
        }
        let all = lines(await browser.get("/system").text)
        #expect(all.count == 200)
        #expect(
            all.first?.contains("trace/250.") == true && all.last?.contains("&quot;status&quot;:200") == true
        )
        let found = lines(await browser.get("/system?request=trace%2F240.").text)
        #expect(found.count == 1 && found[0].contains("/healthz") && found[0].contains("trace/240."))
        #expect(await browser.get("/system?request=trace%2F1.").text.contains("None of the last lines"))

        let ofOne = await DashboardBrowser.signedIn(to: service, with: service.keyText(.read))
        let page = await ofOne.get("/system?request=trace%2F240.").text
        #expect(page.contains("Version") && !page.contains("trace/240.,") && lines(page).isEmpty)
        let key = TestKey(.read, of: nil, at: service.clock.now)
        try await service.add(key.key)
        let ofAll = await DashboardBrowser.signedIn(to: service, with: key.text)
        #expect(lines(await ofAll.get("/system?request=trace%2F240.").text).count == 1)
    }

    @Test("the page says which facts about the disk and backups this server does not know")
    func unknown() async throws {
        let page = await DashboardBrowser.signedIn(to: try await TestService()).get("/system").text
        #expect(
            page.contains("unknown to this server: look on the database") && page.contains("not recorded")
        )
    }
}
