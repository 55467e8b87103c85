import Attribution
import DomainFiles
import Foundation
import HTTPServer
import Server
import Support
import Testing

@Suite("The page Domains")
struct DomainsPageTests {
    private func settings() -> App.Settings {
        var settings = LinkScenario.shop
        settings.links.apple.teamID = "ABCDE12345"
        settings.links.apple.bundleIDs = ["com.example.shop"]
        return settings
    }

    @Test("the page shows the files that the host serves, and which rule decides on a URL")
    func decisions() async throws {
        let service = try await TestService(settings())
        let browser = await DashboardBrowser.signedIn(to: service)
        let file = await service.send(
            .get,
            "/.well-known/apple-app-site-association",
            fields: ["Host": "go.shop.example"]
        )
        let page = await browser.get("/domains?host=go.shop.example&url=%2Fsale").text
        let shown = PageMarkup(page).text
        #expect(shown.contains(file.text) && shown.contains("The copies at the hosts"))
        let rows = PageMarkup.table("What this URL does on a phone with the app", in: page)
        #expect(
            rows.dropFirst().first?.prefix(3) == [
                "ABCDE12345.com.example.shop", "apple-app-site-association", "opens the app",
            ]
        )
        #expect(shown.contains("afterlink check-domain go.shop.example --url /sale"))
        let other = await browser.get("/domains?url=%2Fv1%2Fdeferred-deeplink").text
        let excluded = PageMarkup.table("What this URL does on a phone with the app", in: other)
        #expect(excluded.dropFirst().first?[2] != "opens the app")
    }

    @Test("unknown hosts and malformed URLs are refused, and markup in them stays text")
    func refusals() async throws {
        let service = try await TestService(settings())
        let browser = await DashboardBrowser.signedIn(to: service)
        #expect(await browser.get("/domains?host=other.example").status == 404)
        #expect(await browser.get("/domains?host=%3Cscript%3E").status == 404)
        #expect(await browser.get("/domains?url=mailto%3Ax").status == 400)
        let page = await browser.get("/domains?url=%2F%22%3E%3Cscript%3E")
        #expect(PageMarkup(page.text).tags.count { $0.name == "script" } == 1)
    }

    @Test("the test of a host that the app no longer has names the missing host, not a missing app")
    func withoutPostbackHost() async throws {
        let service = try await TestService(settings())
        let browser = await DashboardBrowser.signedIn(to: service)
        let token = await browser.formToken()
        for (app, sentence) in [
            (service.app.text, "The app has no host for Apple&#39;s postbacks."),
            ("app_01m879b64k000723s12pjw96b9", "There is no such app."),
        ] {
            let answer = await browser.post("/domains/probe", "token=\(token)&app=\(app)")
            #expect(answer.status == 404 && answer.text.contains(sentence), "\(answer.text)")
        }
    }

    @Test("without a link host, the page says how to add one; before the first poll, it says so")
    func reasons() async throws {
        let bare = await DashboardBrowser.signedIn(to: try await TestService()).get("/domains").text
        #expect(bare.contains("No app has a link host") && bare.contains("--link-host"))
        let watched = try await TestService(settings()) { $0.domainWatch = DomainFileMonitor() }
        #expect(
            await DashboardBrowser.signedIn(to: watched).get("/domains").text.contains(
                "read for the first time"
            )
        )
    }
}
