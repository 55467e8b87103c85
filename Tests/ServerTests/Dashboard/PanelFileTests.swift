import Attribution
import Foundation
import HTTPServer
import Testing

@testable import Server

/// The files and the lines to copy under the panels of the dashboard.
@Suite("Exports of panels")
struct PanelFileTests {
    private let service: TestService
    private let browser: DashboardBrowser

    init() async throws {
        service = try await TestService()
        browser = await DashboardBrowser.signedIn(to: service)
        for number in 1...3 {
            let fingerprint = String(repeating: "\(number)", count: 64)
            let campaign = number == 3 ? "-2" : "Spring"
            await service.click(
                #"{"fingerprint":"\#(fingerprint)","deeplink_url":"myapp://p","campaign_key":"\#(campaign)"}"#
            )
        }
        for number in 1...5 { await service.check(String(repeating: "\(number)", count: 64)) }
    }

    private func table(_ address: String) async throws -> [[String]] {
        let answer = await browser.get(address)
        #expect(answer.status == 200 && answer.fieldLines.contains("attachment; filename=\"afterlink-"))
        var reader = CSVReader(answer.body)
        var rows: [[String]] = []
        while let record = try reader.next() { rows.append(record.cells) }
        return rows
    }

    @Test("have the figures that the overview shows")
    func overview() async throws {
        let page = await browser.get("/?period=day").text
        let figures = try await table("/export/overview.csv?period=day&panel=figures")
        #expect(figures[1].prefix(2) == ["clicks", "3"] && page.contains("<dd class=\"figure\">3</dd>"))
        #expect(figures.map { $0[0] }.contains("median_time_to_install_ms"))
        let campaigns = try await table("/export/overview.csv?period=day&panel=campaigns")
        #expect(
            campaigns.map { $0.prefix(3).joined(separator: "|") } == [
                "name|clicks|matches", "Spring|2|2", "'-2|1|1",
            ]
        )
        let shown = PageMarkup.table("Campaigns", in: page).dropFirst()
        #expect(shown.map { $0.prefix(3).joined(separator: "|") } == ["Spring|2|2", "-2|1|1"])
        #expect(
            try await table("/export/overview.csv?period=day&panel=reasons") == [
                ["reason", "launches"], ["no_click", "2"],
            ]
        )
        let series = try await table("/export/overview.csv?period=day&panel=series").dropFirst()
        let chart = PageMarkup.table(
            "Clicks, launches and matches, \(service.clock.now.iso8601.prefix(10))",
            in: page
        )
        #expect(
            series.map { $0.dropFirst().joined(separator: "|") }
                == chart.dropFirst().map {
                    // The page writes the expected conversions and their spread into one cell, without a spread of 0.
                    var cells = $0.dropFirst().flatMap { $0.components(separatedBy: " ± ") }
                    if cells.count < 5 { cells.append(cells.last == "–" ? "–" : "0.0") }
                    return cells.map { $0 == "–" ? "" : $0 }.joined(separator: "|")
                }
        )
        #expect(try await table("/export/overview.csv?period=day&test=true&panel=campaigns").count == 1)
    }

    @Test("have every row of a panel, although the page shows eight, and are named after the panel")
    func allRows() async throws {
        for number in 10..<30 {
            await service.click(
                #"{"fingerprint":"\#(hex)","deeplink_url":"myapp://p","campaign_key":"C\#(number)"}"#
            )
        }
        let page = await browser.get("/?period=day").text
        #expect(PageMarkup.table("Campaigns", in: page).count == 9)
        #expect(try await table("/export/overview.csv?period=day&panel=campaigns").count == 23)
        let file = await browser.get("/export/overview.csv?period=day&panel=campaigns")
        #expect(file.fieldLines.contains("filename=\"afterlink-overview-campaigns.csv\""))
    }

    @Test("have the launches that the page's filters choose, in both forms")
    func launches() async throws {
        let all = try await table("/export/launches.csv?period=day")
        #expect(all[0] == ExportTable.checks.columns && all.count == 6)
        let some = try await table("/export/launches.csv?period=day&outcome=no_match&app=\(service.app.text)")
        #expect(some.dropFirst().map { $0[4] } == ["no_match", "no_match"])
        let json = await browser.get("/export/launches.json?period=day&outcome=no_match")
        let objects = try #require(
            try JSONSerialization.jsonObject(with: Data(json.body)) as? [[String: Any]]
        )
        #expect(objects.map { $0["reason"] as? String } == ["no_click", "no_click"])
        #expect(json.fieldLines.contains("Content-Type: application/json"))
        let none = await browser.get("/export/launches.json?test=true")
        #expect(try JSONSerialization.jsonObject(with: Data(none.body)) as? [Int] == [])
    }

    @Test("have all links that the page's filters choose, although the page lists a hundred")
    func links() async throws {
        for number in 1...102 {
            let campaign = number == 1 ? "Old" : "Spring"
            try await service.makeLink(
                #"{"slug":"s\#(number)","destination":"myapp://x","campaign_key":"\#(campaign)"}"#
            )
        }
        let page = await browser.get("/links?campaign=Spring").text
        #expect(PageMarkup.table("Clicks, matches and state of each link", in: page).count == 101)
        #expect(page.contains(#"href="/export/links.csv?campaign=Spring""#))
        #expect(page.contains("afterlink links list --campaign Spring</pre>"))
        let file = try await table("/export/links.csv?campaign=Spring")
        #expect(file[0] == ExportTable.links.columns + ["ending", "events", "verified_revenue"])
        #expect(Set(file.dropFirst().map { $0[2] }) == Set((2...102).map { "s\($0)" }))
        #expect(file.dropFirst().allSatisfy { $0.suffix(3) == ["", "0", ""] })
        // The command cannot list archived and other links together, so it is not offered for both.
        let both = await browser.get("/links?archived=any").text
        #expect(both.contains("/admin/api/links?archived=any") && !both.contains("afterlink links list"))
        let campaign = await browser.get("/campaigns/one?campaign=Spring").text
        #expect(campaign.contains(#"href="/export/links.csv?campaign=Spring&amp;archived=any""#))
        #expect(campaign.contains("/admin/api/links?campaign=Spring&amp;archived=any"))
    }

    @Test("have all deliveries to an endpoint that the page's filters choose, a value in each column")
    func deliveries() async throws {
        let app = service.app.text
        let draft = #"{"app":"\#(app)","url":"https://example.com/","types":["match.created"]}"#
        let id = try #require(await service.admin(.post, "/postbacks", draft).member("id"))
        for _ in 1...26 { #expect(await service.admin(.post, "/postbacks/\(id)/test").status == 202) }
        let page = await browser.get("/postbacks/\(id)?state=pending").text
        #expect(PageMarkup.table("Deliveries", in: page).count == 26)
        #expect(page.contains(#"href="/export/deliveries.csv?state=pending&amp;endpoint=\#(id)""#))
        let file = try await table("/export/deliveries.csv?state=pending&endpoint=\(id)")
        #expect(file[0] == ExportTable.deliveries.columns && file.count == 27)
        #expect(file.dropFirst().allSatisfy { $0[3...4] == [id, "match.created"] })
        #expect(try await table("/export/deliveries.csv?state=failed&endpoint=\(id)").count == 1)
        for address in ["/export/deliveries.csv", "/export/deliveries.csv?endpoint=pbe_x"] {
            #expect(await browser.get(address).status == 404)
        }
        // The command has no filter by app.
        #expect(await browser.get("/postbacks").text.contains("afterlink postbacks list</pre>"))
        #expect(await !browser.get("/postbacks?app=\(app)").text.contains("afterlink postbacks list"))
    }

    @Test("have the changes that the filters of the audit log choose, with the fields as JSON objects")
    func audit() async throws {
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x","tags":["b","c"]}"#)
        let page = await browser.get("/settings/audit?action=link.create").text
        #expect(page.contains(#"href="/export/audit.csv?action=link.create""#))
        let file = try await table("/export/audit.csv?action=link.create")
        #expect(file.count == 2 && file[0].suffix(4) == ["subject_kind", "subject", "before", "after"])
        #expect(file[1][6] == "link" && file[1][8] == "{}")
        let after = try JSONSerialization.jsonObject(with: Data(file[1][9].utf8)) as? [String: Any]
        #expect(after?["tags"] as? [String] == ["b", "c"] && after?["slug"] as? String == "a")
    }

    @Test("of a list are cut off before the next page if the session ends", arguments: [false, true])
    func sessionEnds(_ hasEnded: Bool) async throws {
        let fields = ["Host": DashboardBrowser.host, "Cookie": browser.cookie]
        let lines = fields.map { FieldLine(name: $0.key, value: $0.value) }
        await service.loop.hold(Request(.get, path: "/export/launches.csv", fields: lines))
        #expect(await service.loop.nextPiece(ofHeld: 0).hasPrefix("id,"))
        let token = await browser.formToken()
        if hasEnded { #expect(await browser.post("/sign-out", "token=\(token)").status == 303) }
        #expect(await service.loop.nextPiece(ofHeld: 0).isEmpty == hasEnded)
        await service.loop.endHeldStreams()
    }

    @Test("of a list need HTTP/1.1, in which a browser knows a cut file from a whole one")
    func version() async throws {
        let fields = ["Host": DashboardBrowser.host, "Cookie": browser.cookie]
        let lines = fields.map { FieldLine(name: $0.key, value: $0.value) }
        let request = Request(.get, path: "/export/launches.csv", version: .http10, fields: lines)
        let answer = await service.loop.sendToDashboard(request)
        answer.expect(505, holds: ["<!doctype html>", "proxy_http_version 1.1"])
    }

    @Test("are linked under each panel with its filters, beside the lines for curl and for the command")
    func lines() async throws {
        let page = await browser.get("/?period=day&test=false").text
        #expect(page.contains(#"href="/export/overview.csv?period=day&amp;test=false&amp;panel=figures""#))
        #expect(page.contains(#"href="/export/overview.json?period=day&amp;test=false&amp;panel=campaigns""#))
        let day = service.clock.now.iso8601.prefix(10)
        #expect(page.contains("afterlink stats --from \(day)T00:00:00.000Z --interval hour"))
        #expect(
            page.contains("/admin/stats?from=\(day)T00"),
            "\(page.components(separatedBy: "/admin/stats").dropFirst().first?.prefix(80) ?? "")"
        )
        let found = await browser.get("/launches?outcome=no_match&period=day").text
        #expect(found.contains("/admin/api/checks?from=") && found.contains("outcome=no_match"))
        #expect(found.contains("$AFTERLINK_KEY"))
        #expect(found.contains("afterlink checks --from \(day)T00"))
        #expect(found.contains("--outcome no_match</pre>"))
    }

    @Test("have an apostrophe in their lines for a shell escaped, even before a combining mark")
    func apostrophes() {
        #expect(PanelExports.line(["it's"]).utf8.elementsEqual(#"'it'\''s'"#.utf8))
        #expect(PanelExports.line(["a'\u{301}; b"]).utf8.elementsEqual("'a'\\''\u{301}; b'".utf8))
    }

    /// Pages whose tables are in the files with all their columns.
    private static let pagesOfWholeTables = [
        "/campaigns", "/campaigns/one?campaign=Spring", "/live", "/system", "/settings/held",
    ]

    @Test("are linked under each table of each page, and have the table's rows and headings")
    func everyPanel() async throws {
        let link = try await service.makeLink(
            #"{"slug":"a","destination":"myapp://x","campaign_key":"Spring","variants":[{"name":"b","weight":1,"destination":"myapp://b"}]}"#
        )
        await service.admin(.post, "/erase", #"{"fingerprint":"\#(String(repeating: "9", count: 64))"}"#)
        service.clock.advance(seconds: 21_600)
        let launches = PageMarkup(await browser.get("/launches?period=all").text).tags
            .compactMap { $0.attributes["href"] }.filter { $0.hasPrefix("/launches/chk_") }
        let clicks = try await table("/export/launches.csv?period=all").joined().filter {
            $0.hasPrefix("clk_")
        }
        let pages =
            ["/", "/campaigns", "/campaigns/one?campaign=Spring", "/launches", "/links", "/links/\(link)"]
            + ["/matching", "/live", "/domains", "/system", "/settings", "/settings/audit", "/settings/held"]
            + launches.map { $0 } + clicks.prefix(1).map { "/launches/\($0)" }
        var tables = 0
        for address in pages {
            let page = await browser.get(address).text
            for rest in page.components(separatedBy: "<caption>").dropFirst() {
                tables += 1
                let (caption, shown) = (
                    rest.prefix { $0 != "<" }, rest.components(separatedBy: "<caption>")[0]
                )
                guard !shown.contains("<tbody></tbody>") else { continue }
                #expect(shown.contains("<summary>Export</summary>"), "\(address): \(caption)")
                guard
                    let file = PageMarkup(shown).tags.compactMap({ $0.attributes["href"] }).first(where: {
                        $0.contains("as=csv")
                    })
                else { continue }
                let rows = PageMarkup.table(String(caption), in: page)
                let lines = try await table(file)
                #expect(lines.count == rows.count, "\(address): \(caption)")
                guard Self.pagesOfWholeTables.contains(address) else { continue }
                let (line, row) = (lines.first ?? [], rows.first ?? [])
                #expect(line.count == row.count && line.first == row.first && !line.isEmpty, "\(address)")
            }
        }
        #expect(tables > 30, "\(tables)")
    }

    @Test("have numbers without blanks, null for a dash, and a different name for each column")
    func values() async throws {
        for number in 1...3 {
            await service.click(
                #"{"fingerprint":"\#(String(repeating: "a\(number)", count: 32))","deeplink_url":"myapp://p","campaign_key":"=1"}"#
            )
        }
        let address = "/campaigns?period=day&sort=name&table=Clicks+and+matches+by+campaign&as="
        let json = await browser.get(address + "json")
        let rows = try #require(try JSONSerialization.jsonObject(with: Data(json.body)) as? [[String: Any]])
        #expect(rows.map { $0["Campaign"] as? String } == ["-2", "=1", "Spring"])
        #expect(rows.map { $0["Clicks"] as? Int } == [1, 3, 2] && rows[1]["Change"] is NSNull)
        #expect(rows[0]["Matches: Change"] is NSNull, "\(rows[0])")
        #expect(try await table(address + "csv").map(\.[0]) == ["Campaign", "'-2", "'=1", "Spring"])
        await browser.get("/campaigns?table=Links&as=csv").expect(404, holds: ["does not have this table"])
        #expect(await browser.get("/campaigns?table=Campaigns&as=xls").status == 400)
        #expect(await DashboardBrowser(service).get("/campaigns?table=Campaigns&as=csv").status == 303)
    }

    @Test("have the live page's rows, and the lines for curl read the tables that the page follows")
    func live() async throws {
        let page = await browser.get("/live?app=\(service.app.text)").text
        let (text, app) = (PageMarkup(page).text, service.app.text)
        let start = service.clock.now.milliseconds / 60_000 * 60_000 - 29 * 60_000
        for name in ["clicks", "checks"] {
            let target = "/admin/api/export/\(name).ndjson?app=\(app)&since=\(start << 16)"
            #expect(text.contains(target) && text.contains("grep '\"test\":false'"))
            let parts = target.split(separator: "?").map(String.init)
            let lines = await service.send(.get, parts[0], query: parts[1], fields: service.bearer(.admin))
                .text
            #expect(
                lines.split(separator: "\n").count { $0.contains(#""test":false"#) }
                    == (name == "clicks" ? 3 : 5)
            )
        }
        #expect(page.contains("afterlink checks --app \(app) --from "))
        let address = "/live?as=csv&table=Newest+clicks+and+launches"
        #expect(
            try await table(address).count == PageMarkup.table("Newest clicks and launches", in: page).count
        )
    }

    @Test("have figures as JSON numbers, and amounts of money as texts with all their digits")
    func numbers() async throws {
        var html = HTML(recording: RecordedTable("Rates"))
        html.table(["Rates": ["Name", "Rate", "Clicks", "Amount"]], [1]) { html, _ in
            html.rowName("0.25")
            html.number("−0.5")
            html.number("7")
            html.number("10.00", isAmount: true)
        }
        let body = try #require(html.recording?.body(.json))
        var bytes: [UInt8] = []
        while let piece = try await body.next(atMost: 100) { bytes += piece }
        let rows = try JSONSerialization.jsonObject(with: Data(bytes)) as? [[String: Any]]
        let row = try #require(rows?.first)
        #expect(row["Name"] as? String == "0.25" && row["Rate"] as? Double == -0.5)
        #expect(row["Clicks"] as? Int == 7 && row["Amount"] as? String == "10.00")
    }

    @Test("need a session and a known name")
    func refusals() async {
        for address in ["/export/overview.csv?panel=x", "/export/overview.csv"] {
            #expect(await browser.get(address).status == 400)
        }
        for address in ["/export/overview.xls?panel=figures", "/export/secrets.csv", "/export/x"] {
            #expect(await browser.get(address).status == 404)
        }
        let answer = await DashboardBrowser(service).get("/export/launches.csv")
        #expect(answer.status == 303 && answer.fieldLines.contains("Location: /sign-in?next="))
    }
}
