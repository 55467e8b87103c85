import Attribution
import Foundation
import HTTPServer
import Testing

@testable import Server

@Suite("Pages of campaigns")
struct CampaignsPageTests {
    private let service: TestService
    private let browser: DashboardBrowser

    init() async throws {
        service = try await TestService(LinkScenario.shop)
        browser = await DashboardBrowser.signedIn(to: service)
    }

    private func click(_ campaign: String, _ number: Int) async {
        let fingerprint = String(String(repeating: "0", count: 60) + String(10_000 + number)).suffix(64)
        let body = [
            "fingerprint": String(fingerprint), "deeplink_url": "myapp://p", "campaign_key": campaign,
        ]
        let data = (try? JSONSerialization.data(withJSONObject: body)) ?? Data()
        #expect(await service.click(String(decoding: data, as: UTF8.self)).status == 201)
    }

    private func launch(_ number: Int) async {
        let fingerprint = String(String(repeating: "0", count: 60) + String(10_000 + number)).suffix(64)
        await service.check(String(fingerprint))
    }

    @Test("the table has the figures of the statistics, in the order that the URL requests")
    func table() async throws {
        for number in 0..<3 { await click("Spring", number) }
        await click("Summer", 3)
        await launch(3)
        await launch(0)
        let page = await browser.get("/campaigns?period=day&compare=off").text
        let rows = PageMarkup.table("Clicks and matches by campaign", in: page)
        #expect(
            rows.first == [
                "Campaign", "Clicks", "Matches", "Conversion rate", "Expected conversions",
                "Median time to install",
            ]
        )
        #expect(
            rows.dropFirst().map { Array($0.prefix(4)) } == [
                ["Spring", "3", "1", "33 %"], ["Summer", "1", "1", "100 %"],
            ]
        )
        let statistics = await service.statistics()
        let body = try JSONSerialization.jsonObject(with: Data(statistics.body)) as? [String: Any]
        let campaigns = try #require(body?["campaigns"] as? [[String: Any]])
        for campaign in campaigns {
            let row = try #require(rows.first { $0[0] == campaign["campaign"] as? String })
            #expect(
                row[1] == "\(campaign["clicks"] as? Int ?? -1)"
                    && row[2] == "\(campaign["matches"] as? Int ?? -1)"
            )
        }
        let byRate = await browser.table("Clicks and matches by campaign", at: "/campaigns?sort=rate")
        #expect(byRate.dropFirst().map(\.[0]) == ["Summer", "Spring"])
        #expect(byRate.first?.contains("Change") == true)
        #expect(await browser.get("/campaigns?sort=nonsense").status == 400)
        #expect(await browser.get("/campaigns?page=0").status == 400)
        #expect(await browser.get("/campaigns?page=99999999999999999999").status == 400)
    }

    @Test("an empty span and a search without a result say why there is nothing")
    func reasons() async {
        #expect(await browser.get("/campaigns").text.contains("No click of this span named a campaign"))
        let before = await browser.get("/campaigns?from=2020-01-01&to=2020-01-02").text
        #expect(before.contains("The first app was created at"))
        await click("Spring", 1)
        #expect(
            await browser.get("/campaigns?search=autumn").text.contains(
                "No campaign of this span has this text"
            )
        )
        #expect(
            await browser.table("Clicks and matches by campaign", at: "/campaigns?search=SPR").count == 2
        )
        #expect(await browser.get("/campaigns/one").fieldLines.contains("Location: /campaigns\n"))
        let none = await browser.get("/campaigns/one?campaign=Autumn").text
        #expect(
            none.contains("This campaign had no click in this span") && !none.contains("class=\"figure\"")
        )
    }

    @Test("a search has its files, but no lines to copy, because the statistics cannot search")
    func linesToCopy() async {
        await click("Spring", 1)
        await click("Autumn", 2)
        for (address, hasLines) in [("/campaigns", true), ("/campaigns?search=spr", false)] {
            let page = await browser.get(address).text
            #expect(page.contains("/admin/stats") == hasLines, "\(address)")
            #expect(page.contains("afterlink stats") == hasLines, "\(address)")
            #expect(page.contains("as=csv") && page.contains("as=json"), "\(address)")
        }
    }

    @Test("many campaigns are shown a hundred a page, and the page stays small")
    func paging() async {
        for number in 0..<120 { await click("Campaign \(number)", number) }
        let first = await browser.get("/campaigns")
        #expect(PageMarkup.table("Clicks and matches by campaign", in: first.text).count == 101)
        #expect(first.text.contains("1–100 of 120") && first.body.count < 60_000, "\(first.body.count)")
        let second = await browser.get("/campaigns?page=2").text
        #expect(
            PageMarkup.table("Clicks and matches by campaign", in: second).count == 21
                && second.contains("101–120 of 120")
        )
        #expect(await browser.get("/campaigns?page=3").text.contains("No campaign of this span"))
    }

    @Test("the page of one campaign has its funnel, times and links, also for a key with special characters")
    func oneCampaign() async throws {
        let key = "../<b>&\"'% é"
        for number in 0..<4 { await click(key, number) }
        await click("Other", 4)
        service.clock.advance(seconds: 5)
        await launch(0)
        try await service.makeLink(
            #"{"slug":"sale","destination":"myapp://sale","campaign_key":"../<b>&\"'% é"}"#
        )
        let list = PageMarkup(await browser.get("/campaigns?period=day").text)
        let links = list.tags.compactMap { $0.attributes["href"] }.filter { $0.contains("/one?") }
        let link = try #require(links.first)
        let page = await browser.get(link)
        #expect(page.status == 200 && page.text.contains("<h1>Campaign ../&lt;b&gt;&amp;&quot;&#39;% é</h1>"))
        let funnel = PageMarkup.table("From click to match", in: page.text).dropFirst()
        #expect(
            funnel.map { [$0[0], $0[2], $0[3]] } == [
                ["Opens, robots included", "4", "100 %"], ["Clicks", "4", "100 %"], ["Matches", "1", "25 %"],
            ]
        )
        let day = String(service.clock.now.iso8601.prefix(10))
        let chart = PageMarkup.table("Clicks and matches, \(day)", in: page.text).dropFirst()
        #expect(chart.compactMap { Int($0[1]) }.reduce(0, +) == 4)
        let times = PageMarkup.table("Matches by time to install", in: page.text)
        #expect(times.dropFirst().map { $0 } == [["4 s", "1"]])
        #expect(
            PageMarkup.table("Links of this campaign, all time", in: page.text).last == ["sale", "0", "0"]
        )
        #expect(PageMarkup(page.text).tags.count { $0.name == "script" } == 1)
    }

    @Test("a campaign's page with a hundred links leads to its older ones, archived or not")
    func manyLinks() async throws {
        func older() async -> String? {
            let page = PageMarkup(await browser.get("/campaigns/one?campaign=Spring").text)
            return page.tags.compactMap { $0.attributes["href"] }.first { $0.contains("before=") }
        }
        for number in 0..<101 {
            if number == 99 { #expect(await older() == nil) }
            try await service.makeLink(
                #"{"slug":"s\#(number)","destination":"myapp://s","campaign_key":"Spring"}"#
            )
        }
        let page = await browser.get(try #require(await older()))
        #expect(page.status == 200 && page.text.contains(">s0<") && !page.text.contains(">s1<"))
    }

    @Test("the page of one campaign has its revenue, its cohorts, and the variants of its links")
    func eventsAndVariants() async throws {
        let id = try await service.makeLink(
            #"{"slug":"ab","campaign_key":"Spring","variants":["a 1 myapp://a","b 1 myapp://b"]}"#
        )
        await click("Spring", 0)
        let fingerprint = String(String(repeating: "0", count: 60) + "10000")
        let fields = ["X-Install-ID": "i1"]
        #expect(
            await service.check(String(fingerprint.suffix(64)), fields: fields).member("status") == "match"
        )
        let none = await browser.get("/campaigns/one?campaign=Spring").text
        #expect(!none.contains("Revenue (verified)") && none.contains("href=\"/links/\(id)\""))
        let body =
            #"{"events":[{"event_id":"a","name":"purchase","install_id":"i1","amount":"12.90","currency":"EUR"}]}"#
        let json = service.bearer(.server).merging(["Content-Type": "application/json"]) { $1 }
        #expect(await service.send(.post, "/v1/events", fields: json, body: body).status == 202)
        try service.catchUp()
        for address in ["/campaigns/one?campaign=Spring", "/"] {
            let page = await browser.get(address).text
            #expect(
                page.contains("<dt>Revenue (verified)</dt><dd class=\"figure\">12.90 EUR</dd>"),
                "\(address)"
            )
        }
        let page = await browser.get("/campaigns/one?campaign=Spring").text
        let cohorts = PageMarkup.table("Events and revenue by day of the match", in: page)
        #expect(
            cohorts.last?.prefix(3) == [String(service.clock.now.iso8601.prefix(10)), "1", "1 · 12.90 EUR"]
        )
        #expect(await !browser.get("/campaigns/one?campaign=Autumn").text.contains("12.90"))
        let variants = PageMarkup.table("Variants of ab, all time", in: page)
        #expect(variants.dropFirst().map { $0[5] } == ["–", "–"])
        #expect(
            await browser.get("/export/overview.csv?panel=figures").text.contains(
                "verified_revenue,12.90 EUR"
            )
        )
    }

    @Test("the range of a rate is the Wilson interval")
    func wilson() {
        #expect(DashboardText.rate(0, of: 0) == "–")
        #expect(DashboardText.rate(10, of: 100) == "10 % (6 % – 17 %)")
        #expect(DashboardText.rate(0, of: 20) == "0 % (0 % – 16 %)")
        #expect(DashboardText.rate(20, of: 20) == "100 % (84 % – 100 %)")
    }

    @Test("a span is compared with the same days of the week before")
    func comparison() async {
        await click("Spring", 1)
        service.clock.advance(seconds: 7 * 86_400)
        for number in 2...4 { await click("Spring", number) }
        let browser = await DashboardBrowser.signedIn(to: service)
        let rows = await browser.table("Clicks and matches by campaign", at: "/campaigns?period=7d")
        #expect(rows.last?.prefix(3) == ["Spring", "3", "+200 %"])
    }
}
