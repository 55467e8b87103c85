import Attribution
import HTTPServer
import Testing

@Suite("The page Try it")
struct TrialPageTests {
    private func form(_ browser: DashboardBrowser, _ app: AppID, _ profile: String) async -> String {
        "token=\(await browser.formToken())&app=\(app.text)&profile=\(profile)"
    }

    @Test("a simulated tap and launch match as test traffic, and link to the reason for the match")
    func match() async throws {
        let service = try await TestService()
        let browser = await DashboardBrowser.signedIn(to: service)
        for _ in 1...2 {
            let answer = await browser.post("/try", await form(browser, service.app, "safari-ios-26"))
            #expect(answer.status == 200)
            let text = PageMarkup(answer.text).text
            #expect(text.contains("Matched: the launch got this click, and myapp://simulated/sim_"))
            #expect(text.contains("POST /v1/deferred-deeplink/click") && text.contains("Response 201"))
            let links = PageMarkup(answer.text).tags.compactMap { $0.attributes["href"] }
            let reason = try #require(links.first { $0.hasPrefix("/launches/") })
            #expect(await browser.get(reason).text.contains("<h1>Match, "))
        }
        let (tests, live) = (await service.statistics("test=true"), await service.statistics())
        #expect(
            tests.text.contains(#""totals":{"clicks":2,"#) && live.text.contains(#""totals":{"clicks":0,"#)
        )
    }

    @Test("a robot gets an explanation instead of a match")
    func noMatch() async throws {
        let service = try await TestService()
        let browser = await DashboardBrowser.signedIn(to: service)
        let page = PageMarkup(await browser.get("/try").text)
        let profiles = page.tags.filter { $0.name == "option" }.compactMap { $0.attributes["value"] }
        let robot = try #require(profiles.last)
        let answer = await browser.post("/try", await form(browser, service.app, robot))
        #expect(answer.text.contains("known robot") && answer.text.contains("class=\"answer bad\""))
    }

    @Test("a form of another session, and an unknown app or browser, are refused")
    func refusals() async throws {
        let service = try await TestService()
        let browser = await DashboardBrowser.signedIn(to: service)
        let own = await form(browser, service.app, "safari-ios-26")
        #expect(await browser.post("/try", own.replacing("token=", with: "token=x")).status == 403)
        #expect(await browser.post("/try", await form(browser, service.app, "netscape")).status == 400)
        let other = AppID(high: 1, low: 2)
        #expect(await browser.post("/try", await form(browser, other, "safari-ios-26")).status == 404)
    }

    @Test("a QR code leads to the newest link; without a host or a link, a sentence says what is missing")
    func code() async throws {
        let bare = try await TestService()
        let page = await DashboardBrowser.signedIn(to: bare).get("/try").text
        #expect(page.contains("The app has no link host") && !page.contains("class=\"qr\""))
        let service = try await TestService(LinkScenario.shop)
        let browser = await DashboardBrowser.signedIn(to: service)
        #expect(await browser.get("/try").text.contains("The app has no link yet"))
        try await service.makeLink(#"{"slug":"sale","destination":"myapp://sale"}"#)
        let code = await browser.get("/try").text
        #expect(code.contains("QR code of https://go.shop.example/sale") && code.contains("class=\"qr\""))
    }
}
