import Attribution
import HTTPServer
import Testing

@Suite("The page System")
struct SystemPageTests {
    @Test("the page says what readiness says")
    func readiness() async throws {
        let service = try await TestService()
        let browser = await DashboardBrowser.signedIn(to: service)
        let page = await browser.get("/system").text
        #expect(page.contains("This server is ready.") && page.contains("plain HTTP"))
        #expect(page.contains("Nothing was written since the start") && !page.contains("class=\"chart\""))
        service.storeAcceptsWrites = false
        let ready = await service.send(.get, "/readyz")
        #expect(ready.status == 503 && ready.text.contains("the store refuses writes"))
        #expect(
            await browser.get("/system").text.contains(
                "This server gets no requests: the store refuses writes."
            )
        )
    }

    @Test("error responses are counted by code, as in the metrics")
    func errors() async throws {
        let service = try await TestService()
        let browser = await DashboardBrowser.signedIn(to: service)
        for _ in 0..<2 { await service.check("nonsense") }
        let rows = PageMarkup.table("Error responses since the start", in: await browser.get("/system").text)
        #expect(rows.contains(["INVALID_FINGERPRINT", "2"]))
    }
}
