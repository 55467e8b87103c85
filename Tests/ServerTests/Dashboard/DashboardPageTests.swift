import Attribution
import Foundation
import HTTPServer
import Testing

@testable import Server

@Suite("Pages of the dashboard")
struct DashboardPageTests {
    private let service: TestService
    private let browser: DashboardBrowser

    init() async throws {
        service = try await TestService(App.Settings(name: "Shop <b>"))
        browser = await DashboardBrowser.signedIn(to: service)
    }

    private func click(_ campaign: String, _ fingerprint: String = hex) async {
        let answer = await service.click(
            #"{"fingerprint":"\#(fingerprint)","deeplink_url":"myapp://promo","campaign_key":"\#(campaign)"}"#
        )
        #expect(answer.status == 201)
    }

    private func number(_ figure: String, in page: String) -> String? {
        guard let start = page.firstRange(of: "<dt>\(figure)</dt><dd class=\"figure\">") else { return nil }
        return String(page[start.upperBound...].prefix { $0 != "<" })
    }

    @Test("an empty service says why there are no figures, and what to do")
    func empty() async {
        let page = await browser.get("/")
        #expect(page.text.contains("There was no live traffic in this span"))
        #expect(page.text.contains("afterlink simulate") && !page.text.contains("class=\"figure\""))
        let before = await browser.get("/?from=2020-01-01&to=2020-01-07")
        #expect(before.text.contains("The first app was created at"))
        let ofSource = await browser.get("/?source=qr&from=2020-01-01&to=2020-01-07")
        #expect(ofSource.text.contains("The first app was created at"))
        #expect(await browser.get("/launches").text.contains("No recorded launch has these properties"))
    }

    @Test("the page shows the steps to the first match until the match, and then not even for an empty span")
    func firstSteps() async {
        let (click, launch) = ("Let a page or a link send", "Start the app for the first time")
        await self.click("Spring")
        var page = PageMarkup(await browser.get("/").text).text
        #expect(
            page.contains("✓ Done: \(click)") && page.contains(launch) && !page.contains("Done: \(launch)")
        )
        await service.check(String(repeating: "9", count: 64))
        // The page of launches waits until checks without a match are written.
        #expect(await browser.get("/launches").status == 200)
        page = PageMarkup(await browser.get("/?test=true").text).text
        #expect(page.contains("✓ Done: \(click)") && page.contains("✓ Done: \(launch)"))
        await service.check(hex)
        for address in ["/", "/?test=true", "/?from=2020-01-01&to=2020-01-07"] {
            #expect(await !browser.get(address).text.contains(launch), "\(address)")
        }
    }

    @Test("the figures, the chart's table and the panels have the numbers of the statistics")
    func figures() async throws {
        for number in 1...3 { await click("Spring", String(repeating: "\(number)", count: 64)) }
        await click("Summer", String(repeating: "4", count: 64))
        for number in 1...6 { await service.check(String(repeating: "\(number)", count: 64)) }
        let page = await browser.get("/?period=day").text
        let day = String(service.clock.now.iso8601.prefix(10))
        let next = String(service.clock.now.advanced(byMilliseconds: 86_400_000).iso8601.prefix(10))
        let statistics = await service.statistics("from=\(day)&to=\(next)&interval=hour")
        #expect(
            number("Clicks", in: page) == statistics.number("totals", "clicks")
                && number("Clicks", in: page) == "4"
        )
        #expect(number("Matches", in: page) == "4" && number("Launches", in: page) == "6")
        #expect(number("Match rate", in: page) == "67 %")
        let chart = PageMarkup.table("Clicks, launches and matches, \(day)", in: page).dropFirst()
        let sums = (1...3).map { column in chart.compactMap { Int($0[column]) }.reduce(0, +) }
        #expect(sums == [4, 6, 4])
        let expected = chart.compactMap { Double($0[4].prefix { $0 != " " }) }.reduce(0, +)
        #expect(expected > 1 && page.contains("class=\"band\""))
        let campaigns = PageMarkup.table("Campaigns", in: page).dropFirst().map {
            $0.prefix(3).joined(separator: "|")
        }
        #expect(campaigns == ["Spring|3|3", "Summer|1|1"])
        let reasons = PageMarkup.table("Launches without a match", in: page).dropFirst()
        #expect(reasons.map { $0.joined(separator: "|") } == ["no click|2"])
    }

    @Test("the only day with figures is a dot in the chart, and days before the first app have no figures")
    func runningAndGaps() async {
        await click("Spring")
        let page = await browser.get("/?period=7d").text
        // The only day with figures is today, so the chart has a dot and no dashed line.
        let styles = PageMarkup(page).tags.compactMap { $0.attributes["class"] }
        #expect(styles.contains("l l0 dot") && !styles.contains("l l0 running"))
        let rows = PageMarkup.table("Clicks, launches and matches", in: page)
        #expect(rows.isEmpty)
        let title = page.firstRange(of: "<caption>Clicks, launches and matches")
        #expect(title != nil)
        // The app was created today, so the six days before it have no figures.
        let gap = String(repeating: "<td>–</td>", count: 4)
        #expect(page.components(separatedBy: gap).count == 7)
    }

    @Test("a comparison takes the same days of the week, and can be left out")
    func comparison() async {
        await click("Spring")
        service.clock.advance(seconds: 7 * 86_400)
        await click("Spring", String(repeating: "1", count: 64))
        await click("Spring", String(repeating: "2", count: 64))
        // The first session has ended after seven days.
        let browser = await DashboardBrowser.signedIn(to: service)
        let page = await browser.get("/?period=7d").text
        #expect(page.contains("<dd class=\"change\">+100 %</dd>") && page.contains("same days of the week"))
        #expect(!(await browser.get("/?period=7d&compare=off").text).contains("class=\"change\""))
    }

    @Test("the form offers the comparison as a choice, and pages without a comparison keep the choice")
    func comparisonChoice() async throws {
        await click("Spring")
        func compare(_ address: String) async -> PageMarkup.Tag? {
            let tags = PageMarkup(await browser.get(address).text).tags
            return tags.first { $0.attributes["name"] == "compare" }
        }
        for page in ["/", "/campaigns", "/campaigns/one?campaign=Spring"] {
            #expect(await compare(page)?.name == "select", "\(page)")
            let off = await browser.get(page + (page.contains("?") ? "&" : "?") + "compare=off").text
            #expect(off.contains(#"<option value="off" selected="">"#), "\(page)")
        }
        for page in ["/launches", "/matching", "/events", "/apple"] {
            #expect(await compare(page) == nil, "\(page)")
            #expect(await compare(page + "?compare=off")?.attributes["value"] == "off", "\(page)")
        }
    }

    @Test(
        "each period has its letter in the list of keys",
        arguments: [
            ("30d", "T", "30 days", 30...30), ("6mo", "S", "6 months", 182...215),
            ("12mo", "L", "12 months", 366...397),
        ]
    )
    func periods(period: String, key: String, name: String, days: ClosedRange<Int>) async throws {
        let page = await browser.get("/launches?period=\(period)").text
        #expect(page.contains("<dt><kbd>\(key)</kbd></dt><dd>\(name)</dd>"))
        #expect(page.contains(#"<option value="\#(period)" selected="">\#(name)</option>"#))
        let span = try #require(page.firstMatch(of: /these properties \((\S+) – (\S+)\)/)).output
        let bounds = [span.1, span.2].compactMap { Timestamp(iso8601: "\($0)T00:00:00Z") }
        let count = Int(bounds[1].milliseconds(since: bounds[0]) / 86_400_000) + 1
        #expect(days.contains(count), "\(count)")
        for letter in ["R", "C", "Esc"] { #expect(page.contains("<kbd>\(letter)</kbd>")) }
    }

    @Test("launches are found by method, system and SDK, and are listed newest first")
    func device() async throws {
        await click("Spring", String(repeating: "1", count: 64))
        for (number, version) in [(1, "2.1"), (2, "2.1"), (3, "3.0")] {
            let fields = [
                "X-SDK-Version": version, "User-Agent": number == 3 ? "okhttp/4.9.0" : "Shop/1 CFNetwork",
            ]
            await service.check(String(repeating: "\(number)", count: 64), fields: fields)
            service.clock.advance(seconds: 1)
        }
        func rows(_ query: String) async -> [[String]] {
            let page = await browser.get("/launches?period=day&\(query)").text
            return Array(PageMarkup.table("Recorded launches, the newest first", in: page).dropFirst())
        }
        let all = await rows("")
        #expect(all.count == 3 && all.map { $0[0] } == all.map { $0[0] }.sorted(by: >))
        #expect(all[0][0].hasSuffix(" UTC"))
        #expect(await rows("method=fingerprint").map { $0[1] } == ["Match"])
        #expect(await rows("sdk=2.1").count == 2)
        #expect(await rows("sdk=2").isEmpty)
        let platforms = Set(all.map { $0[5].split(separator: " ").first.map { $0.lowercased() } ?? "" })
        for platform in platforms {
            let found = await rows("platform=\(platform)")
            #expect(!found.isEmpty && found.allSatisfy { $0[5].lowercased().hasPrefix(platform) })
        }
        #expect(await rows("os_version=99").isEmpty)
        #expect(await browser.get("/launches?method=guess").status == 400)
        let page = await browser.get("/launches?method=fingerprint&sdk=2.1").text
        #expect(
            page.contains("--method fingerprint --sdk 2.1") && page.contains("method=fingerprint&amp;sdk=2.1")
        )
        let api = await service.send(
            .get,
            "/admin/api/checks",
            query: "sdk=3.0",
            fields: service.bearer(.admin)
        )
        #expect(api.text.components(separatedBy: "\"id\"").count == 2, "\(api.text)")
    }

    @Test("a list that a limit has ended early says how far back it was searched")
    func searchedBack() {
        let time = service.clock.now
        for (isFull, next) in [(false, time), (true, time), (false, nil)] as [(Bool, Timestamp?)] {
            var html = HTML()
            html.searched(backTo: next, isFull: isFull)
            let text = String(decoding: html.bytes, as: UTF8.self)
            #expect(text.contains("Searched back to") == (next != nil && !isFull))
        }
    }

    @Test("the certificate and the disk raise alarms at their limits, only for keys that see all apps")
    func alarms() async throws {
        let readKey = TestKey(.read, of: nil, at: service.clock.now)
        try await service.add(readKey.key)
        let ofAll = await DashboardBrowser.signedIn(to: service, with: readKey.text)
        let ofOne = await DashboardBrowser.signedIn(to: service, with: service.keyText(.read))
        // Expects both alarms or none on the first page of each key.
        func expectAlarms(_ isAlarming: Bool) async {
            for (seer, seesAlarms) in [(browser, isAlarming), (ofAll, isAlarming), (ofOne, false)] {
                let page = await seer.get("/")
                #expect(page.status == 200)
                #expect(page.text.contains("The certificate expires") == seesAlarms)
                #expect(page.text.contains("has 999.0 MB left") == seesAlarms)
                #expect(page.text.contains("MB left") == seesAlarms)
            }
        }
        await expectAlarms(false)
        let limit = service.clock.now.milliseconds / 1000 + 21 * 86_400
        service.machine.certificateExpiry.value = limit - 1
        service.machine.freeBytes.value = 999_000_000
        await expectAlarms(true)
        service.machine.certificateExpiry.value = limit
        service.machine.freeBytes.value = 1_000_000_000
        await expectAlarms(false)
    }

    @Test("a GET of a form's address leads to the page with the form")
    func forms() async throws {
        for (form, page) in [
            ("/settings/keys/revoke", "/settings"), ("/settings/apps", "/settings"),
            ("/settings/held/erase", "/settings/held"), ("/matching/compare", "/matching"),
            ("/links/lnk_1/archive", "/links/lnk_1"), ("/postbacks/whe_1/rotate", "/postbacks/whe_1"),
            ("/domains/probe", "/domains"), ("/sign-out", "/"), ("/enter", "/"),
        ] {
            let answer = await browser.get(form)
            #expect(answer.status == 303 && answer.field("Location") == page, "\(form)")
        }
        #expect(await browser.get("/try").status == 200)
    }

    @Test("the list of launches follows its filters, and each launch leads to the reasons for its result")
    func launches() async throws {
        await click("Spring", String(repeating: "1", count: 64))
        await service.check(String(repeating: "1", count: 64))
        await service.check(String(repeating: "2", count: 64), fields: ["X-Request-ID": "phone-7"])
        let all = await browser.table("Recorded launches, the newest first", at: "/launches").dropFirst()
        #expect(all.map { $0[1] } == ["No match: no click", "Match"])
        #expect(all.map { $0[4] } == ["–", "Spring"])
        let filtered = await browser.get("/launches?outcome=no_match&reason=no_click").text
        #expect(PageMarkup.table("Recorded launches, the newest first", in: filtered).count == 2)
        #expect(await browser.get("/launches?reason=nonsense").status == 400)
        let found = await browser.get("/launches?find=+phone-7+")
        #expect(found.status == 303 && found.fieldLines.contains("Location: /launches/phone-7\n"))
        let why = await browser.get("/launches/phone-7").text
        #expect(
            why.contains("No match: no click") && why.contains("No click has the launch&#39;s fingerprint")
        )
        #expect(why.contains("Shop &lt;b&gt;") && why.contains("phone-7"))
        #expect(await browser.get("/launches/chk_01m879b64k000723s12pjw96b9").status == 404)
        #expect(await browser.get("/launches?find=%3Cscript%3E").status == 400)
    }

    @Test("the page about a wrong choice leads to pages without it")
    func wrongChoice() async {
        for choice in ["period=nonsense", "app=app_01m879b64k000723s12pjw96b9", "from=tomorrow"] {
            let page = await browser.get("/launches?compare=off&\(choice)")
            #expect([400, 404].contains(page.status), "\(choice)")
            let links = PageMarkup(page.text).tags.compactMap { $0.attributes["href"] }
            #expect(links.contains("/links") && !links.contains { $0.contains("?") }, "\(links)")
        }
    }

    @Test("a click that no launch got is explained too")
    func lostClick() async throws {
        let answer = await service.click()
        let id = try #require(answer.member("click_id"))
        let page = await browser.get("/launches/\(id)")
        #expect(page.status == 200 && page.text.contains("No check is known that got the click \(id)"))
    }

    @Test("markup in the texts of strangers and operators stays text on every page")
    func hostileTexts() async {
        for text in [
            "<script>alert(1)</script>", "\\\"><img src=x onerror=alert(1)>", "javascript:alert(1)", "{{x}}'",
        ] {
            await click(text)
        }
        await service.check(hex, fields: ["X-Client-Version": "<svg/onload=alert(1)>"])
        for path in [
            "/", "/launches", "/launches?campaign=%3Cscript%3E%22", "/campaigns", "/matching", "/apple",
            "/domains",
            "/system",
            "/try", "/campaigns?search=%3Cscript%3E",
            "/campaigns/one?campaign=%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        ] {
            let page = PageMarkup(await browser.get(path).text)
            #expect(page.tags.count { $0.name == "script" } == 1 && page.rawTexts == [""])
            #expect(
                !page.tags.contains { $0.name == "img" || $0.attributes.keys.contains { $0.hasPrefix("on") } }
            )
            let links = page.tags.compactMap { $0.attributes["href"] }
            #expect(links.allSatisfy { $0.hasPrefix("/") || $0 == "#main" || $0 == "data:," })
        }
    }

    @Test("the first page, its style and its script stay within their sizes")
    func sizes() async throws {
        for number in 10..<60 {
            await click("Campaign \(number)", String(repeating: "\(number)", count: 32))
            await service.check(String(repeating: "\(number)", count: 32))
        }
        let page = await browser.get("/?period=91d")
        let files = PageMarkup(page.text).tags.flatMap { tag in
            [tag.attributes["href"], tag.attributes["src"]].compactMap(\.self)
        }
        .filter { $0.hasPrefix("/files/") }
        #expect(files.count == 2)
        var sizes: [String: Int] = [:]
        for file in files {
            let answer = await browser.get(file)
            #expect(answer.status == 200 && answer.fieldLines.contains("immutable"))
            sizes[String(file.suffix(3))] = answer.body.count
        }
        let (style, script) = (sizes["css"] ?? .max, sizes[".js"] ?? .max)
        #expect(style <= 12_000 && script <= 20_000)
        let first = page.body.count + style + script
        #expect(first <= 60_000, "\(first)")
    }

    @Test("the first page with full panels stays within 60 KB, and within 100 KB with its files")
    func fullPanels() async throws {
        let sources = [
            "instagram", "facebook", "tiktok", "google", "linkedin", "email", "snapchat", "pinterest",
            "reddit",
        ]
        for number in 10..<28 {
            let fingerprint = String(repeating: "\(number)", count: 32)
            let (campaign, slug) = ("Campaign of the summer, week \(number)", "summer-sale-\(number)")
            try await service.makeLink(
                #"{"slug":"\#(slug)","destination":"myapp://promo","campaign_key":"\#(campaign)"}"#
            )
            let agent =
                "Mozilla/5.0 (iPhone; CPU iPhone OS \(number)_2 like Mac OS X) AppleWebKit/605.1.15 "
                + "(KHTML, like Gecko) Version/\(number).2 Mobile/15E148 Safari/604.1"
            let source = sources[number % sources.count]
            let click = await service.click(
                #"{"fingerprint":"\#(fingerprint)","link":"\#(slug)","source":"\#(source)"}"#,
                fields: ["User-Agent": agent]
            )
            #expect(click.status == 201, "\(click.text)")
            await service.check(fingerprint)
        }
        for period in ["", "?period=day", "?period=30d", "?period=91d", "?period=12mo"] {
            let page = await browser.get("/" + period)
            #expect(page.text.contains("summer-sale-") && page.text.contains("Campaign of the summer"))
            #expect(page.text.contains("reddit") || page.text.contains("instagram"))
            var sum = page.body.count
            for tag in PageMarkup(page.text).tags {
                let file = tag.attributes["href"] ?? tag.attributes["src"] ?? ""
                if file.hasPrefix("/files/") { sum += await browser.get(file).body.count }
            }
            #expect(page.body.count <= 60_000 && sum > page.body.count, "\(period): \(page.body.count)")
            // Long charts and their tables count for the second limit only.
            #expect(sum <= (period.isEmpty ? 60_000 : 100_000), "\(period): \(sum)")
        }
    }
}

extension Answer {
    /// Returns a number in an object of the body, as text.
    func number(_ object: String, _ member: String) -> String? {
        guard let start = text.firstRange(of: "\"\(object)\":{"),
            let found = text[start.upperBound...].firstRange(of: "\"\(member)\":")
        else { return nil }
        return String(text[found.upperBound...].prefix { $0.isNumber })
    }
}
