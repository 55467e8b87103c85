import Attribution
import Foundation
import Testing

/// The live page, its stream, and what it shows.
@Suite("The live page")
struct LivePageTests {
    private let service: TestService
    private let browser: DashboardBrowser

    init() async throws {
        service = try await TestService()
        browser = await DashboardBrowser.signedIn(to: service)
    }

    private func click(_ number: Int) async {
        let fingerprint = String(repeating: "\(number)", count: 64)
        await service.click(
            #"{"fingerprint":"\#(fingerprint)","deeplink_url":"myapp://p","campaign_key":"<b>\#(number)"}"#
        )
    }

    private func message(_ address: String) async throws -> (rows: [[String: Any]], minutes: [Int]) {
        let answer = await browser.get(address)
        let body =
            address.hasPrefix("/live/stream")
            ? Array(answer.body.dropFirst("data: ".utf8.count)) : answer.body
        let json = try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
        return (try #require(json["rows"] as? [[String: Any]]), try #require(json["minutes"] as? [Int]))
    }

    @Test("lists clicks and launches of the last half hour, each with a link to its reasons")
    func lists() async throws {
        #expect(await browser.get("/live").text.contains("There was no traffic in the last 30 minutes"))
        await click(1)
        await service.check(String(repeating: "1", count: 64))
        service.clock.advance(seconds: 60)
        await service.check(String(repeating: "2", count: 64))
        // The page of launches waits until checks without a match are written; a running service writes them within a
        // second.
        #expect(await browser.get("/launches").status == 200)
        let page = await browser.get("/live").text
        let rows = PageMarkup.table("Newest clicks and launches", in: page).dropFirst()
        #expect(Set(rows.map { $0[1] }) == ["Click", "Match", "No match: no click"] && rows.count == 3)
        #expect(page.contains("&lt;b&gt;1") && !page.contains("<b>1"))
        #expect(page.contains("href=\"/launches/clk_") && page.contains("href=\"/launches/chk_"))
        #expect(!page.contains("There was no traffic"))
        let chart = PageMarkup.table("Clicks, launches and matches of the last 30 minutes", in: page)
        #expect(chart.count == 31 && chart.first == ["Minute", "Clicks", "Launches", "Matches"])
        #expect(chart.suffix(2) == [["1 min ago", "1", "1", "1"], ["Now", "0", "1", "0"]])
        #expect(page.contains(#"<div class="scale" aria-hidden="true"><span>1</span><span>0</span></div>"#))
        service.clock.advance(seconds: 1)
        let (messages, minutes) = try await message("/live/now")
        #expect(messages.count == 3 && minutes.count == 90)
        #expect(Array(minutes.suffix(6)) == [1, 1, 1, 0, 1, 0])
        #expect(await browser.get("/live/now").text.contains(#""scale":[1,0]"#))
        service.clock.advance(seconds: 1860)
        #expect(try await message("/live/now").minutes == Array(repeating: 0, count: 90))
    }

    @Test("sorts events by time, and shows clicks even among many launches")
    func order() async throws {
        for number in 1...3 {
            await click(number)
            service.clock.advance(seconds: 10)
            await service.check(String(repeating: "\(number + 3)", count: 64))
            service.clock.advance(seconds: 10)
        }
        #expect(await browser.get("/launches").status == 200)
        let first = try await message("/live/now").rows.compactMap { $0["what"] as? String }
        #expect(first == Array(repeating: ["Click", "No match: no click"], count: 3).flatMap(\.self))
        // Many launches displace neither clicks nor the traffic of another kind.
        for key in [KeyKind.test, .app] {
            for _ in 1...120 { await service.check(String(repeating: "9", count: 64), key: key) }
            #expect(await browser.get("/launches").status == 200)
            service.clock.advance(seconds: 2)
            if key == .test { #expect(try await message("/live/now").rows.count == 6) }
        }
        await click(4)
        service.clock.advance(seconds: 2)
        let rows = try await message("/live/now").rows.compactMap { $0["what"] as? String }
        #expect(rows.count == 50 && rows.last == "Click" && !rows.dropLast().contains("Click"))
    }

    @Test("counts nothing twice after the clock was set back")
    func clockSetBack() async throws {
        await click(1)
        service.clock.advance(seconds: 10)
        #expect(try await message("/live/now").minutes.reduce(0, +) == 1)
        service.clock.advance(seconds: -5)
        let (rows, minutes) = try await message("/live/now")
        #expect(rows.count == 1 && minutes.reduce(0, +) == 1)
    }

    @Test("separates test traffic from live traffic")
    func separatesTests() async throws {
        await click(1)
        #expect(try await message("/live/now?test=true").rows.isEmpty)
        #expect(try await message("/live/now?test=false").rows.count == 1)
        #expect(try await message("/live/now?app=\(service.app.text)").rows.count == 1)
        #expect(await browser.get("/live?test=maybe").status == 400)
    }

    @Test("streams events, to at most 64 pages at once")
    func streams() async throws {
        await click(1)
        let answer = await browser.get("/live/stream")
        #expect(answer.status == 200 && answer.fieldLines.contains("Content-Type: text/event-stream"))
        #expect(answer.text.hasSuffix("\n\n"))
        #expect(try await message("/live/stream").rows.count == 1)
        // Each stream of this test has ended, so there is room for another one.
        for _ in 0..<70 { #expect(await browser.get("/live/stream?test=true").status == 200) }
        let isFull = await service.whileStreamsAreOpen(64, browser) { await browser.get("/live/stream") }
        isFull.expect(503, holds: ["64 live pages are open already", "Retry-After: 5"])
        #expect(await browser.get("/live/stream").status == 200)
    }

    @Test("twenty streams share one read of clicks, checks and sessions, and all end with their session")
    func sharesReads() async {
        let (count, reads) = (20, service.reads)
        await service.whileStreamsAreOpen(count, browser) {
            let before = (exports: reads.exports, sessions: reads.sessions)
            // One read of the feed is one page of each of its two tables.
            #expect(await service.nextMessages(ofStreams: count).allSatisfy { $0.hasPrefix("data: ") })
            #expect(reads.exports == before.exports + 2)
            for number in 1...2 {
                await click(number)
                service.clock.advance(seconds: 1)
                let messages = await service.nextMessages(ofStreams: count)
                #expect(
                    messages.allSatisfy { $0.contains("b>\(number)\"") && !$0.contains("b>\(number - 1)\"") }
                )
                #expect(reads.exports == before.exports + 2 + 2 * number)
            }
            #expect(reads.sessions == before.sessions + 1, "the sessions are read every five seconds")
            // The sign-out and its form read the session once each.
            let token = await browser.formToken()
            #expect(await browser.post("/sign-out", "token=\(token)").status == 303)
            service.clock.advance(seconds: 5)
            let last = await service.nextMessages(ofStreams: count)
            #expect(last.allSatisfy { $0.hasPrefix("event: ended") }, "\(last)")
            #expect(reads.exports == before.exports + 8 && reads.sessions == before.sessions + 4)
        }
    }

    @Test("an open stream counts as use of its session")
    func keepsSession() async {
        await service.whileStreamsAreOpen(1, browser) {
            service.clock.advance(seconds: 11 * 3600)
            #expect(await service.nextMessages(ofStreams: 1).allSatisfy { $0.hasPrefix("data: ") })
        }
        service.clock.advance(seconds: 2 * 3600)
        #expect(await browser.get("/live").status == 200)
    }

    @Test("needs a session")
    func needsSession() async {
        for path in ["/live", "/live/now", "/live/stream"] {
            #expect(await DashboardBrowser(service).get(path).status == 303)
        }
    }
}
