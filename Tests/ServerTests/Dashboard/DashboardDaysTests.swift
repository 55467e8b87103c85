import Attribution
import Foundation
import HTTPServer
import Testing

/// The days of the dashboard's pages, and the choices that limit their counts.
@Suite("Days and choices of the dashboard")
struct DashboardDaysTests {
    private static func service(offset: Int64) async throws -> (TestService, DashboardBrowser) {
        let service = try await TestService(App.Settings(name: "Shop", reportingOffset: offset))
        return (service, await DashboardBrowser.signedIn(to: service))
    }

    /// Sets the clock to an hour of a day of October 2026 in UTC.
    private static func set(_ service: TestService, day: Int64 = 10, hour: Int64) {
        let start = Timestamp(iso8601: "2026-10-01T00:00:00Z") ?? Timestamp(milliseconds: 0)
        service.clock.now = start.advanced(byMilliseconds: ((day - 1) * 24 + hour) * 3_600_000)
    }

    private static func number(_ figure: String, in page: String) -> String? {
        guard let start = page.firstRange(of: "<dt>\(figure)</dt><dd class=\"figure\">") else { return nil }
        return String(page[start.upperBound...].prefix { $0 != "<" })
    }

    private static func click(_ service: TestService, _ fingerprint: String, _ fields: String = "") async {
        let text = String(repeating: fingerprint, count: 64)
        let answer = await service.click(
            #"{"fingerprint":"\#(text)","deeplink_url":"myapp://promo"\#(fields)}"#
        )
        #expect(answer.status == 201)
    }

    @Test(
        "an app's day begins at the hour that its offset sets, on the page and in the statistics",
        arguments: [3, -5, 0] as [Int64]
    )
    func border(offset: Int64) async throws {
        let (service, _) = try await Self.service(offset: offset)
        // An hour before and an hour after the app's midnight of the tenth.
        for (hour, fingerprint) in [(-1, "1"), (1, "2"), (2, "3")] as [(Int64, String)] {
            Self.set(service, hour: hour - offset)
            await Self.click(service, fingerprint, #","campaign_key":"Spring""#)
        }
        Self.set(service, hour: 20 - offset)
        let browser = await DashboardBrowser.signedIn(to: service)
        let day = await browser.get("/?period=day").text
        #expect(Self.number("Clicks", in: day) == "2")
        let yesterday = await browser.get("/?period=yesterday").text
        #expect(Self.number("Clicks", in: yesterday) == "1")
        // A day that has not ended is compared with a whole day, which the page says.
        #expect(day.contains("Today has not ended") && !yesterday.contains("Today has not ended"))
        let week = await browser.get("/?period=7d").text
        let rows = PageMarkup.table("Clicks, launches and matches, 2026-10-04 – 2026-10-10", in: week)
            .dropFirst()
        #expect(rows.map { $0[0] }.suffix(2) == ["2026-10-09", "2026-10-10"])
        #expect(rows.map { $0[1] }.suffix(2) == ["1", "2"])
        #expect(PageMarkup.table("Campaigns", in: day).dropFirst().map { $0[1] } == ["2"])
        // The hours of a day count from the app's midnight.
        let hours = PageMarkup.table("Clicks, launches and matches, 2026-10-10", in: day).dropFirst()
        #expect(
            hours.first?[0] == "00:00" && hours.filter { $0[1] == "1" }.map { $0[0] } == ["01:00", "02:00"]
        )
        let both = await browser.get("/?period=custom&from=2026-10-09&to=2026-10-10").text
        let hoursOfBoth = PageMarkup.table(
            "Clicks, launches and matches, 2026-10-09 – 2026-10-10",
            in: both
        ).dropFirst().map { $0[0] }
        #expect(Set(hoursOfBoth).count == hoursOfBoth.count && hoursOfBoth.first == "2026-10-09 00:00")
        #expect(!day.contains("Clicks by hour of day"))
        let byHour = PageMarkup.table("Clicks by hour of day", in: week)
        let zone = offset == 0 ? "UTC" : "UTC\(offset < 0 ? "−5" : "+3")"
        let (headings, clicks) = (try #require(byHour.first), try #require(byHour.last))
        #expect(headings.first == "Hour (\(zone))" && headings.count == 25 && byHour.count == 2)
        #expect(zip(headings, clicks).filter { $0.1 == "1" }.map(\.0) == ["01", "02", "23"])
        #expect(week.contains("href=\"/export/overview.csv?period=7d&amp;panel=hours\""))
        let file = await browser.get("/export/overview.csv?period=7d&panel=hours").text
        #expect(
            file.split(whereSeparator: \.isNewline) == [
                "name,clicks,matches,conversion_rate", "01,1,0,0.0", "02,1,0,0.0", "23,1,0,0.0",
            ]
        )
        #expect(day.contains(offset == 0 ? "Period (UTC)" : "Period (UTC\(offset < 0 ? "−5" : "+3"))"))
        #expect(!day.contains("Days in UTC"))
        let custom = await browser.get("/?period=custom&from=2026-10-10&to=2026-10-10").text
        #expect(Self.number("Clicks", in: custom) == "2")
        let statistics = await service.statistics("from=2026-10-10T12:00:00Z&offset=\(offset)")
        #expect(statistics.number("totals", "clicks") == "2")
    }

    @Test(
        "where hours were compacted, and for apps with different days, the page says that its days are in UTC"
    )
    func inUTC() async throws {
        let (service, _) = try await Self.service(offset: 3)
        Self.set(service, day: 10, hour: 22)
        await Self.click(service, "1")
        Self.set(service, day: 60, hour: 12)
        let browser = await DashboardBrowser.signedIn(to: service)
        let quarter = await browser.get("/?period=91d").text
        #expect(
            quarter.contains("Days in UTC: days that start at another hour")
                && quarter.contains("Period (UTC)")
        )
        let rows = PageMarkup.table("Clicks, launches and matches, 2026-08-31 – 2026-11-29", in: quarter)
        #expect(rows.first { $0[0] == "2026-10-10" }?[1] == "1", "it was the eleventh in the app's days")
        #expect(!(await browser.get("/?period=28d").text).contains("Days in UTC"))
        // The previous span, with which the page compares, has no hours of a campaign any more.
        #expect(await browser.get("/?period=28d&campaign=Spring").text.contains("Days in UTC"))
        #expect(!(await browser.get("/?period=28d&campaign=Spring&compare=off").text).contains("Days in UTC"))
        _ = try await service.addApp(App.Settings(name: "Other"))
        #expect(
            await browser.get("/?period=7d").text
                .contains("Days in UTC: the days of the apps begin at different hours")
        )
    }

    @Test("the page limits counts to a campaign and a value, and says what is not counted for these")
    func choices() async throws {
        let (service, browser) = try await Self.service(offset: 0)
        await Self.click(service, "1", #","campaign_key":"Spring","platform":"ios","source":"tiktok""#)
        await Self.click(service, "2", #","campaign_key":"Spring","platform":"android","source":"qr""#)
        await Self.click(service, "3", #","campaign_key":"Summer","platform":"ios","source":"qr""#)
        await service.check(String(repeating: "1", count: 64))
        let spring = await browser.get("/?campaign=Spring").text
        #expect(Self.number("Clicks", in: spring) == "2" && Self.number("Matches", in: spring) == "1")
        #expect(Self.number("Launches", in: spring) == "–" && Self.number("Match rate", in: spring) == "–")
        #expect(PageMarkup.table("Sources", in: spring).dropFirst().map { $0[1] } == ["1", "1"])
        let phones = await browser.get("/?platform=ios").text
        #expect(
            Self.number("Clicks", in: phones) == "2" && Self.number("Expected conversions", in: phones) == "–"
        )
        #expect(PageMarkup.table("Campaigns", in: phones).isEmpty && phones.contains("limited to one value"))
        #expect(Self.number("Clicks", in: await browser.get("/?campaign=Spring&platform=ios").text) == "1")
        #expect(Self.number("Clicks", in: await browser.get("/?source=qr").text) == "2")
        #expect(await browser.get("/?source=nothing").text.contains("Nothing with these choices"))
        for query in ["platform=ios&source=qr", "campaign=Spring&os_version=17.0", "offset=15", "offset=1.5"]
        {
            let answer = await service.send(
                .get,
                "/admin/stats",
                query: query,
                fields: service.bearer(.admin)
            )
            #expect(answer.status == 400, "\(query)")
        }
        #expect(await browser.get("/?platform=ios&source=qr").status == 400)
    }
}
