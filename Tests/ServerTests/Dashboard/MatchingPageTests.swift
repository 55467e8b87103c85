import Attribution
import HTTPServer
import Storage
import Support
import Testing

@Suite("The page Matching")
struct MatchingPageTests {
    private let agent = [
        "User-Agent": "App/1 CFNetwork/1568.1 Darwin/24.1.0", "X-SDK-Version": "paylisher-ios/1.8.9",
    ]

    @Test("each part of the page gives a reason instead of zeros if the installation is empty")
    func empty() async throws {
        let service = try await TestService()
        let page = await DashboardBrowser.signedIn(to: service).get("/matching")
        #expect(page.status == 200)
        for reason in [
            "There was no live traffic in this span", "No group is watched yet",
            "had both a token and a fingerprint",
            "Shared fingerprints are counted once a day", "Nothing has been compared yet",
        ] { #expect(page.text.contains(reason), "\(reason)") }
        #expect(PageMarkup(page.text).tags.count { $0.name == "table" } == 0)
    }

    @Test("the page has the answers, groups and rates of the statistics")
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

    @Test("a form requests a comparison, and each cell leads to the command that sets the cell's values")
    func comparison() async throws {
        let key = try #require(ServerKey(bytes: Array(repeating: 7, count: ServerKey.byteCount)))
        let service = try await TestService(
            App.Settings(name: "<b>Shop's"),
            configureStore: { configuration in
                configuration.hasBackgroundWork = true
                configuration.replays = ReplaySettings(grace: 60_000) { _ in
                    FingerprintReconstruction(keys: [key], data: .embedded, localization: .unknown)
                }
            }
        )
        let browser = await DashboardBrowser.signedIn(to: service)
        await service.click()
        service.clock.advance(seconds: 7200)
        await service.check(hex, fields: agent)
        let form = "app=\(service.app.text)&token=\(await browser.formToken())"
        #expect(await browser.post("/matching/compare", "app=\(service.app.text)").status == 403)
        #expect(await browser.post("/matching/compare", form.replacing("app_", with: "")).status == 404)
        let reader = await DashboardBrowser.signedIn(to: service, with: service.keyText(.read))
        let readForm = "app=\(service.app.text)&token=\(await reader.formToken())"
        #expect(await reader.post("/matching/compare", readForm).status == 403)
        #expect(!(await reader.get("/matching").text).contains("Compare now"))
        #expect(await browser.get("/matching").text.contains("Compare now"))
        let answer = await browser.post("/matching/compare", form)
        #expect(answer.status == 303)
        #expect(answer.fieldLines.contains("Location: /matching?app=\(service.app.text)"))

        let caption =
            "Matches gained and lost, and expected wrong, by window and minimum confidence, &lt;b&gt;Shop&#39;s"
        var page = ""
        _ = await Polling.eventually {
            page = await browser.get("/matching").text
            return page.contains("Compare now")
        }
        let table = PageMarkup.table(caption, in: page)
        #expect(table.first == ["Window", "≥ 0.5", "≥ 0.6", "≥ 0.7", "≥ 0.8", "≥ 0.9"], "\(page)")
        #expect(table.map(\.first) == ["Window", "as now", "60 min", "6 h", "24 h", "3 d", "7 d"])
        #expect(table[1][3].hasPrefix("now 1, ") && table[2][3].hasPrefix("+0 −1, 0.0 wrong"))
        let shorter = await browser.get("/matching?window=3600&confidence=0.9").text
        let words = "afterlink apps set --app &#39;&lt;b&gt;Shop&#39;\\&#39;&#39;s&#39;"
        #expect(shorter.contains(words + " --fingerprint-window 3600 --minimum-confidence 0.9</pre>"))
        let longer = await browser.get("/matching?window=259200&confidence=0.7").text
        #expect(longer.contains(words + " --attribution-window 259200</pre>"))
        #expect(longer.contains("A longer window applies to new clicks"))
        #expect(await browser.get("/matching?window=0&confidence=0.7").text.contains("the current setting"))
        #expect(!(await browser.get("/matching?window=1&confidence=x").text).contains("id=\"choice\""))
    }

    @Test("a group that merges small groups has the sum of their daily counts")
    func pooled() {
        let end = DriftHistory.end(at: TestClock.start)
        var history = DriftHistory(end: end)
        let period = end.advanced(byMilliseconds: -DriftHistory.periodMilliseconds)
        let names = ["ios/26.1/1.8.9": 1, "ios/26.1/1.8.8": 2, "ios/18.0/1.0": 4, "android/15/2.0": 8]
        for (name, trials) in names {
            guard let group = DriftGroup(.launch, name: name) else { continue }
            history.add(DriftCount(trials: Int64(trials), matches: 1), of: group, in: period)
        }
        let watched = ["ios/26.1/1.8.9", "ios/26.1/*", "ios/*/*", "*/*/*", "=/=/="].compactMap {
            DriftGroup(.launch, name: $0)
        }
        let days = history.days(of: Set(watched))
        #expect(watched.map { days[$0]?.first?.trials } == [1, 2, 4, 8, 15])
    }
}
