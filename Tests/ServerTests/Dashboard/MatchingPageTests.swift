import Attribution
import HTTPServer
import Testing

@Suite("The page Matching")
struct MatchingPageTests {
    private let agent = [
        "User-Agent": "App/1 CFNetwork/1568.1 Darwin/24.1.0", "X-SDK-Version": "paylisher-ios/1.8.9",
    ]

    @Test("an empty installation has a reason in each part, and no zeros")
    func empty() async throws {
        let service = try await TestService()
        let page = await DashboardBrowser.signedIn(to: service).get("/matching")
        #expect(page.status == 200)
        for reason in [
            "There was no live traffic in this span", "No group is watched yet",
            "had both a token and a fingerprint",
            "They are counted once a day",
        ] { #expect(page.text.contains(reason), "\(reason)") }
        #expect(PageMarkup(page.text).tags.count { $0.name == "table" } == 0)
    }

    @Test("answers, groups and rates are those of the statistics")
    func figures() async throws {
        let service = try await TestService(App.Settings(name: "<b>Shop"))
        let browser = await DashboardBrowser.signedIn(to: service)
        await service.click()
        await service.check(hex, fields: agent)
        for number in 1...3 { await service.check(String(repeating: "\(number)", count: 64), fields: agent) }
        let day = String(service.clock.now.iso8601.prefix(10))
        let page = await browser.get("/matching?period=custom&from=\(day)&to=\(day)").text
        let answers = PageMarkup.table("Launches by answer, \(day)", in: page)
        #expect(answers.first == ["Time", "Matches", "no click"])
        let sums = [1, 2].map { column in answers.dropFirst().compactMap { Int($0[column]) }.reduce(0, +) }
        #expect(sums == [1, 3])
        service.clock.advance(seconds: 21_600)
        let later = await browser.get("/matching").text
        let groups = PageMarkup.table(
            "Match rates of the last 7 days, compared with the days before",
            in: later
        )
        let whole = try #require(groups.first { $0[0] == "all launches" })
        #expect(whole.suffix(4) == ["4", "–", "25 %", "learning"])
        let rates = PageMarkup.table("Match rate by system and SDK, last 7 days", in: later)
        #expect(rates.last?.last == "25 %" && rates.first?.last == "1.8.9")
        #expect(later.contains("class=\"spark\"") && !later.contains("<b>Shop"))
    }
}
