import Attribution
import Foundation
import HTTPServer
import JSON
import Server
import Testing

@Suite("Events over HTTP")
struct EventsTests {
    private let service: TestService

    init() async throws { service = try await TestService(replayGrace: 0) }

    private struct Result: Equatable {
        let id: String?
        let outcome: String?
        let field: String?
    }

    private func post(_ body: String, key: KeyKind = .app, fields: [String: String] = [:]) async -> Answer {
        let all = service.bearer(key).merging(["Content-Type": "application/json"]) { $1 }
        return await service.send(.post, "/v1/events", fields: all.merging(fields) { $1 }, body: body)
    }

    private func results(_ events: String, key: KeyKind = .app, fields: [String: String] = [:]) async
        -> [Result]
    {
        let answer = await post(#"{"events":[\#(events)]}"#, key: key, fields: fields)
        #expect(answer.status == 202 && answer.member("status") == "accepted", "\(answer.text)")
        let items = (try? JSONValue(parsing: Array(answer.text.utf8)))?.object?["results"]?.array ?? []
        return items.map { item in
            let object = item.object
            if object?["outcome"]?.string == "rejected" {
                #expect(object?["message"]?.string?.isEmpty == false)
            }
            return Result(
                id: object?["event_id"]?.string,
                outcome: object?["outcome"]?.string,
                field: object?["field"]?.string
            )
        }
    }

    private func report(_ query: String? = nil) async throws -> JSONObject {
        try service.catchUp()
        let answer = await service.send(
            .get,
            "/admin/api/events/report",
            query: query,
            fields: service.bearer(.admin)
        )
        #expect(answer.status == 200, "\(answer.text)")
        return try #require((try JSONValue(parsing: Array(answer.text.utf8))).object)
    }

    private func match(_ install: String) async {
        await service.click(
            #"{"fingerprint":"\#(hex)","deeplink_url":"myapp://promo/item","campaign_key":"SUMMER"}"#
        )
        let answer = await service.check(hex, fields: ["X-Install-ID": install])
        #expect(answer.member("status") == "match", "\(answer.text)")
    }

    @Test("are accepted, or reported as duplicates if they are repeated, with an outcome for each in order")
    func outcomes() async throws {
        let first = #"{"event_id":"a","name":"purchase","install_id":"i1","amount":"12.90","currency":"EUR"}"#
        let second = #"{"event_id":"b","name":"open","user":"u"}"#
        let found = await results("\(first),\(first),{},\(second)")
        #expect(
            found == [
                Result(id: "a", outcome: "accepted", field: nil),
                Result(id: "a", outcome: "duplicate", field: nil),
                Result(id: nil, outcome: "rejected", field: "event_id"),
                Result(id: "b", outcome: "accepted", field: nil),
            ]
        )
        // An event of a server key replaces the same event of an app key, but not the other way round.
        for outcome in ["accepted", "duplicate"] {
            #expect(await results(first, key: .server).map(\.outcome) == [outcome])
        }
        #expect(await results(first).map(\.outcome) == ["duplicate"])
        #expect(await results(first, key: .test).map(\.outcome) == ["accepted"])
        #expect(await results("{}").map(\.outcome) == ["rejected"])
    }

    @Test("of server keys are verified, events of app keys only reported, and events of test keys stay apart")
    func revenue() async throws {
        await match("i1")
        let event = { (id: String) in
            #"{"event_id":"\#(id)","name":"purchase","install_id":"i1","amount":"10","currency":"EUR"}"#
        }
        for (index, key) in [KeyKind.app, .server, .test].enumerated() {
            #expect(await results(event("e\(index)"), key: key).map(\.outcome) == ["accepted"])
        }
        let refund = #"{"event_id":"r","name":"refund","purchase_id":"e1","amount":"-2.50","currency":"EUR"}"#
        #expect(await results(refund, key: .server).map(\.outcome) == ["accepted"])
        let live = try await report()
        let revenue = try #require(live["revenue"]?.array?.first?.object)
        #expect(revenue["reported"]?.string == "10.00" && revenue["verified"]?.string == "7.50")
        #expect(revenue["total"]?.string == "7.50")
        let rows = await service.admin(.get, "/export/events.csv").text
        #expect(
            rows.contains(",-2.50,EUR,"),
            "an amount is a number, not a text after an apostrophe: \(rows)"
        )
        let campaign = try #require(live["campaigns"]?.array?.first?.object)
        #expect(campaign["campaign"]?.string == "SUMMER" && campaign["matches"]?.int64 == 1)
        #expect(campaign["revenue"]?.array?.first?.object?["verified"]?.string == "7.50")
        #expect(live["cohorts"]?.array?.count == 1)
        let ages = live["cohorts"]?.array?.first?.object?["ages"]?.array?.compactMap(\.object) ?? []
        #expect(ages.map { $0["events"]?.isNull } == [false, true, true, true, true, true])
        #expect(ages.map { $0["revenue"]?.isNull } == [false, true, true, true, true, true])
        // In a request, a refund may come before its purchase.
        let later = #"{"event_id":"r2","name":"refund","purchase_id":"e5","amount":"-2.50","currency":"EUR"}"#
        #expect(await results(later + "," + event("e5"), key: .server).count == 2)
        let net = try #require(try await report()["campaigns"]?.array?.first?.object)
        #expect(net["revenue"]?.array?.first?.object?["verified"]?.string == "15.00")
        let test = try await report("test=true")
        #expect(test["revenue"]?.array?.first?.object?["reported"]?.string == "10.00")
        #expect(try await report("campaign=OTHER")["events"]?.array?.isEmpty == true)
    }

    @Test(
        "a wrong member rejects its event alone, and is named",
        arguments: [
            (#""name":"open","install_id":"i""#, "event_id"), (#""event_id":"","name":"open""#, "event_id"),
            (#""event_id":7,"name":"open""#, "event_id"),
            (#""event_id":"a\u0001","name":"open""#, "event_id"),
            (#""event_id":"a","install_id":"i""#, "name"),
            (#""event_id":"a","name":"Buy","install_id":"i""#, "name"),
            (#""event_id":"a","name":"open""#, "install_id"),
            (#""event_id":"a","name":"open","install_id":"a b""#, "install_id"),
            (#""event_id":"a","name":"open","click_id":"clk_1""#, "click_id"),
            (#""event_id":"a","name":"open","user":7"#, "user"),
            (#""event_id":"a","name":"open","user":"u","occurred_at":"yesterday""#, "occurred_at"),
            (#""event_id":"a","name":"open","user":"u","occurred_at":"2020-01-01T00:00:00Z""#, "occurred_at"),
            (#""event_id":"a","name":"purchase","user":"u","amount":12.9,"currency":"EUR""#, "amount"),
            (#""event_id":"a","name":"purchase","user":"u","amount":"12.905","currency":"EUR""#, "amount"),
            (#""event_id":"a","name":"purchase","user":"u","amount":"-1","currency":"EUR""#, "amount"),
            (#""event_id":"a","name":"purchase","user":"u","amount":"1""#, "currency"),
            (#""event_id":"a","name":"purchase","user":"u","amount":"1","currency":"EURO""#, "currency"),
            (#""event_id":"a","name":"purchase","user":"u","currency":"EUR""#, "amount"),
            (#""event_id":"a","name":"refund","user":"u","amount":"-1","currency":"EUR""#, "purchase_id"),
            (#""event_id":"a","name":"refund","purchase_id":"p","amount":"1","currency":"EUR""#, "amount"),
            (#""event_id":"a","name":"refund","purchase_id":"p","amount":"0","currency":"EUR""#, "amount"),
            (#""event_id":"a","name":"purchase","user":"u","purchase_id":"p""#, "purchase_id"),
            (#""event_id":"a","name":"refund","purchase_id":"p""#, "amount"),
            (
                #""event_id":"a","name":"refund","purchase_id":"a","amount":"-1","currency":"EUR""#,
                "purchase_id"
            ),
            (
                #""event_id":"a","name":"refund","purchase_id":"p\u0001","amount":"-1","currency":"EUR""#,
                "purchase_id"
            ),
            (
                #""event_id":"a","name":"refund","purchase_id":"\#(String(repeating: "é", count: 65))","amount":"-1","currency":"EUR""#,
                "purchase_id"
            ),
            (#""event_id":"a","name":"open","user":"u","properties":[]"#, "properties"),
            (#""event_id":"a","name":"open","user":"u","properties":{"a":{}}"#, "properties.a"),
            (
                #""event_id":"a","name":"open","user":"u","properties":{"a":"\#(String(repeating: "x", count: 4090))"}"#,
                "properties"
            ),
            (#""event_id":"a","name":"open","user":"u","consent":"no""#, "consent"),
        ]
    )
    func rejections(members: String, field: String) async throws {
        let good = #"{"event_id":"good","name":"open","user":"u"}"#
        let found = await results("{\(members)},\(good)")
        #expect(found.map(\.outcome) == ["rejected", "accepted"])
        #expect(found.first?.field == field)
    }

    @Test("a refund that its purchase contradicts is rejected")
    func refunds() async throws {
        let purchase = #"{"event_id":"p","name":"purchase","user":"u","amount":"10","currency":"EUR"}"#
        func refund(_ id: String, of purchase: String, _ amount: String, _ currency: String) -> String {
            #"{"event_id":"\#(id)","name":"refund","purchase_id":"\#(purchase)","amount":"\#(amount)","currency":"\#(currency)"}"#
        }
        let refunds = [
            refund("r", of: "p", "-2.50", "EUR"), refund("1", of: "p", "-2.50", "USD"),
            refund("2", of: "p", "-10.01", "EUR"), refund("3", of: "r", "-1", "EUR"),
        ]
        let found = await results(([purchase] + refunds).joined(separator: ","), key: .server)
        #expect(found.map(\.field) == [nil, nil, "currency", "amount", "purchase_id"])
        let whole = #"{"event_id":"w","name":"refund","purchase_id":"p"}"#
        #expect(await results(whole).map(\.outcome) == ["accepted"])
        let revenue = try #require(try await report()["revenue"]?.array?.first?.object)
        #expect(revenue["verified"]?.string == "7.50" && revenue["reported"]?.string == "-10.00")
    }

    @Test(
        "a body without a list of 1 to 100 objects is refused",
        arguments: [
            ("{}", 400), (#"{"events":[]}"#, 400), (#"{"events":{}}"#, 400), (#"{"events":[1]}"#, 400),
            ("[]", 400),
            (#"{"events":[\#(Array(repeating: "{}", count: 101).joined(separator: ","))]}"#, 400),
            (#"{"events":[{}],"consent":1}"#, 400),
        ]
    )
    func bodies(body: String, status: Int) async {
        let answer = await post(body)
        #expect(answer.status == status && answer.member("error_code") != nil, "\(answer.text)")
    }

    @Test("need a key of an app; an admin key and another app's id are refused")
    func keys() async throws {
        let event = #"{"events":[{"event_id":"a","name":"open","user":"u"}]}"#
        #expect(await post(event, key: .admin).status == 403)
        #expect(
            await post(event, fields: ["Authorization": "Bearer \(String(repeating: "x", count: 40))"]).status
                == 401
        )
        #expect(await post(event, fields: ["Content-Type": "text/plain"]).status == 415)
        let other = try await service.addApp(App.Settings(name: "Other")).app.text
        let named = { (app: String) in event.replacing(#"{"events""#, with: #"{"app":"\#(app)","events""#) }
        let refused = await post(named(other))
        #expect(refused.status == 403 && refused.text.contains("another app"), "\(refused.text)")
        #expect(await post(named(service.app.text)).status == 202)
    }

    @Test(
        "a time after the request is replaced for an app key, and refused beyond 5 min for a server key"
    )
    func times() async throws {
        func event(_ id: String, minutes: Int64) -> String {
            let time = service.clock.now.advanced(byMilliseconds: minutes * 60_000).iso8601
            return #"{"event_id":"\#(id)","name":"open","user":"u","occurred_at":"\#(time)"}"#
        }
        #expect(await results(event("a", minutes: 60)).map(\.outcome) == ["accepted"])
        let server = await results("\(event("b", minutes: 4)),\(event("c", minutes: 6))", key: .server)
        #expect(server.map(\.outcome) == ["accepted", "rejected"] && server[1].field == "occurred_at")
        let old = await results(event("d", minutes: -60 * 24 * 31))
        #expect(old.first?.field == "occurred_at")
        #expect(
            await results(event("d", minutes: -60 * 24 * 31), key: .server).map(\.outcome) == ["accepted"]
        )
        let rows = await service.send(
            .get,
            "/admin/api/export/events.ndjson",
            fields: service.bearer(.admin)
        ).text
        #expect(rows.contains(#""occurred_at":"\#(service.clock.now.iso8601)""#), "\(rows)")
    }

    @Test(
        "are counted, but joined to no installation if consent is refused",
        arguments: [#""consent":false"#, #""consent":null"#, ""]
    )
    func consent(member: String) async throws {
        await match("i1")
        let isFree = member.isEmpty || member.contains("null")
        let event = #"{"event_id":"a","name":"open","install_id":"i1"\#(member.isEmpty ? "" : ",\(member)")}"#
        let fields = member.isEmpty ? ["Sec-GPC": "1"] : [:]
        #expect(await results(event, fields: fields).map(\.outcome) == ["accepted"])
        let isJoined = isFree && fields.isEmpty
        let report = try await report()
        #expect(report["events"]?.array?.first?.object?["events"]?.int64 == 1)
        #expect(report["sources"]?.array?.first?.object?["events"]?.array?.isEmpty == !isJoined)
        let held = await service.admin(.post, "/held", #"{"install_id":"i1"}"#).text
        #expect(held.contains(#""events":\#(isJoined ? 1 : 0)"#), "\(held)")
    }

    @Test("are found and erased by the user's id, and no response contains this id")
    func privacy() async throws {
        _ = await results(#"{"event_id":"a","name":"open","user":"alice-7781"}"#)
        let held = await service.admin(.post, "/held", #"{"user":"alice-7781"}"#)
        #expect(held.text.contains(#""events":1"#) && held.text.contains(#""event_id":"a""#), "\(held.text)")
        #expect(!held.text.contains("alice-7781"))
        let erased = await service.admin(.post, "/erase", #"{"user":"alice-7781"}"#)
        #expect(erased.text.contains(#""events":1"#), "\(erased.text)")
        let again = await service.admin(.post, "/held", #"{"user":"alice-7781"}"#)
        #expect(again.text.contains(#""events":[]"#), "\(again.text)")
    }

    @Test("are found by every user's id that events may have, also one of many bytes")
    func longUser() async throws {
        let user = String(repeating: "ü", count: 128)
        let sent = await results(#"{"event_id":"a","name":"open","user":"\#(user)"}"#)
        #expect(sent == [Result(id: "a", outcome: "accepted", field: nil)])
        let held = await service.admin(.post, "/held", #"{"user":"\#(user)"}"#)
        #expect(held.text.contains(#""event_id":"a""#), "\(held.text)")
        let longer = await service.admin(.post, "/held", #"{"user":"\#(user)ü"}"#)
        #expect(longer.status == 422)
    }

    @Test("get 503 while the store cannot write, and are accepted later")
    func unavailable() async throws {
        let full = try await TestService(queueLimit: 1)
        let release = full.holdWriter()
        let fields = full.bearer(.app).merging(["Content-Type": "application/json"]) { $1 }
        let body = #"{"events":[{"event_id":"a","name":"open","user":"u"}]}"#
        let answers = await withTaskGroup(of: Answer.self) { group in
            for _ in 0..<20 {
                group.addTask { await full.send(.post, "/v1/events", fields: fields, body: body) }
            }
            var answers: [Answer] = []
            // While the writer is blocked, only refused requests complete.
            if let refused = await group.next() { answers.append(refused) }
            release.signal()
            for await answer in group { answers.append(answer) }
            return answers
        }
        #expect(answers.first?.isRefusal(503, "UNAVAILABLE") == true)
        #expect(answers.contains { $0.status == 202 })
        #expect(answers.allSatisfy { $0.status == 202 || $0.status == 503 })
    }

    @Test("the page shows conversions, revenue and cohorts; without any event, it says how to send events")
    func page() async throws {
        let browser = await DashboardBrowser.signedIn(to: service)
        #expect(await browser.get("/events").text.contains("No events in this span"))
        await match("i1")
        let purchase = #"{"event_id":"a","name":"purchase","install_id":"i1","amount":"10","currency":"EUR"}"#
        _ = await results(purchase, key: .server)
        _ = await results(#"{"event_id":"b","name":"sign_up","install_id":"i1"}"#)
        try service.catchUp()
        let page = await browser.get("/events?period=day").text
        let events = PageMarkup.table("Events by name and currency", in: page)
        #expect(events.first == ["Event", "Currency", "Events", "Installs", "Reported", "Verified (total)"])
        #expect(
            Set(events.dropFirst()) == [
                ["purchase", "EUR", "1", "1", "0.00", "10.00"], ["sign_up", "–", "1", "1", "–", "–"],
            ]
        )
        #expect(PageMarkup.table("Revenue by currency", in: page).last == ["EUR", "0.00", "10.00"])
        #expect(
            PageMarkup.table("Matches, events and revenue by campaign", in: page).last == [
                "SUMMER", "1", "2", "1", "100 %", "10.00 EUR",
            ]
        )
        #expect(
            PageMarkup.table("Events and revenue by day of the match", in: page).last?.dropFirst().prefix(2)
                == ["1", "2 · 10.00 EUR"]
        )
        // The days of the cohort are still to come.
        #expect(
            PageMarkup.table("Events and revenue by day of the match", in: page).last?.dropFirst(3)
                .allSatisfy { $0 == "–" } == true
        )
        let csv = await browser.get("/events?period=day&as=csv&table=Revenue+by+currency")
        #expect(csv.status == 200 && csv.text.contains("EUR,0.00,10.00"), "\(csv.text)")
        let json = await browser.get("/events?period=day&as=json&table=Revenue+by+currency")
        #expect(json.status == 200 && json.text.contains("\"10.00\""), "\(json.text)")
        #expect(await browser.get("/events?platform=ios").status == 400)
    }

    @Test("pages of campaigns and links show the events and the revenue of the report")
    func values() async throws {
        let browser = await DashboardBrowser.signedIn(to: service)
        let created = await service.admin(.post, "/links", #"{"slug":"sale","destination":"myapp://sale"}"#)
        let link = try #require(created.member("id"))
        func headings(_ table: String, _ page: String) async -> [String] {
            await browser.table(table, at: page).first ?? []
        }
        await match("i1")
        #expect(
            !(await headings("Clicks and matches by campaign", "/campaigns?compare=off")).contains("Events")
        )
        #expect(!(await headings("Clicks, matches and state of each link", "/links")).contains("Events"))
        await service.click(#"{"fingerprint":"\#(hex)","link":"sale"}"#)
        #expect(await service.check(hex, fields: ["X-Install-ID": "i2"]).member("status") == "match")
        for (number, install, price) in [(1, "i1", "12.90"), (2, "i1", "1"), (3, "i2", "0.05")] {
            let names = #""event_id":"e\#(number)","name":"purchase","install_id":"\#(install)""#
            _ = await results(#"{\#(names),"amount":"\#(price)","currency":"EUR"}"#, key: .server)
        }
        _ = await results(
            #"{"event_id":"r","name":"purchase","install_id":"i1","amount":"7","currency":"USD"}"#
        )
        let report = try await report()
        let group = try #require(report["campaigns"]?.array?.first?.object)
        #expect(group["campaign"]?.string == "SUMMER")
        #expect(
            (await headings("Clicks and matches by campaign", "/campaigns?compare=off")).suffix(2) == [
                "Events", "Revenue (verified)",
            ]
        )
        let campaigns = await browser.table("Clicks and matches by campaign", at: "/campaigns?compare=off")
        #expect(campaigns.last?.first == "SUMMER" && campaigns.last?.suffix(2) == ["3", "13.90 EUR"])
        let events = await browser.table("Matches, events and revenue by campaign", at: "/events")
        #expect(events.last?[2] == "3" && events.last?.last == "13.90 EUR")
        let links = await browser.table("Clicks, matches and state of each link", at: "/links")
        #expect(links.last?.first == "sale" && links.last?.suffix(2) == ["1", "0.05 EUR"])
        let ofLinks = await browser.table("Matches, events and revenue by link", at: "/events")
        #expect(ofLinks.last?.first == "sale" && ofLinks.last?.last == "0.05 EUR")
        let page = await browser.get("/events?period=7d").text
        #expect(page.contains("<a href=\"/links/\(link)?period=7d\">sale</a>"))
        #expect(page.contains("<a href=\"/campaigns/one?period=7d&amp;campaign=SUMMER\">SUMMER</a>"))
    }
}
