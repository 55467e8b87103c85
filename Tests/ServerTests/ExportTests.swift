import Attribution
import Foundation
import HTTPServer
import Support
import Testing

@testable import Server

/// The export of tables by the API.
@Suite("Exports")
struct ExportTests {
    private let service: TestService

    init() async throws { service = try await TestService() }

    private func export(_ file: String, _ query: String? = nil, _ kind: KeyKind = .admin) async -> Answer {
        await service.send(.get, "/admin/api/export/\(file)", query: query, fields: service.bearer(kind))
    }

    private func click(_ number: Int, campaign: String = "Spring") async {
        let fingerprint = String(repeating: "\(number)", count: 64)
        let body = #"{"fingerprint":"\#(fingerprint)","deeplink_url":"myapp://promo/\#(number)","#
        #expect(await service.click(body + #""campaign_key":"\#(campaign)"}"#).status == 201)
    }

    private func records(_ text: String) throws -> [[String: String]] {
        var reader = CSVReader(Array(text.utf8))
        let names = try #require(try reader.next()).cells
        var records: [[String: String]] = []
        while let record = try reader.next() {
            #expect(record.cells.count == names.count)
            records.append(Dictionary(uniqueKeysWithValues: zip(names, record.cells)))
        }
        return records
    }

    @Test("need HTTP/1.1, because a stream of HTTP/1.0 that was cut off looks complete")
    func version() async {
        let (field, path) = (service.bearer(.admin)["Authorization"] ?? "", "/admin/api/export/clicks.csv")
        let fields = [FieldLine(name: "Authorization", value: field)]
        let answer = await service.loop.send(Request(.get, path: path, version: .http10, fields: fields))
        answer.expect(505, holds: ["HTTP_VERSION_NOT_SUPPORTED", "proxy_http_version 1.1"])
    }

    @Test("CSV and NDJSON have the same rows, and a cursor continues after its row")
    func formsAgree() async throws {
        for number in 1...7 { await click(number, campaign: number == 1 ? "=1+1" : "Spring") }
        let answer = await export("clicks.csv")
        answer.expect(
            200,
            holds: ["Content-Type: text/csv", "Content-Disposition: attachment; filename=\"clicks.csv\""]
        )
        let rows = try records(answer.text)
        #expect(rows.count == 7 && rows[0]["campaign"] == "'=1+1" && rows[1]["campaign"] == "Spring")
        #expect(answer.text.hasPrefix("cursor,id,app,test,clicked_at,"))
        let lines = await export("clicks.ndjson").text.split(separator: "\n")
        let objects = try lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(objects.map { $0["id"] as? String } == rows.map { $0["id"] })
        #expect(objects.map { $0["cursor"] as? String } == rows.map { $0["cursor"] })
        #expect(objects[0]["campaign"] as? String == "=1+1" && objects[0]["link"] is NSNull)
        #expect(objects[0]["test"] as? Bool == false)
        let cursor = try #require(rows[3]["cursor"])
        let rest = try records(await export("clicks.csv", "since=\(cursor)").text)
        #expect(rest == Array(rows[4...]))
        let time = service.clock.now.iso8601
        #expect(try records(await export("clicks.csv", "until=\(time)").text).isEmpty)
        service.clock.advance(seconds: 1)
        await click(8)
        #expect(try records(await export("clicks.csv", "until=\(service.clock.now.iso8601)").text) == rows)
        #expect(try records(await export("clicks.csv", "app=\(service.app.text)").text).count == 8)
    }

    @Test("no table has a fingerprint, an address or a user agent")
    func hidesVisitors() async throws {
        await click(1)
        await service.check(String(repeating: "1", count: 64))
        await service.check(String(repeating: "2", count: 64))
        let postback = AppleSamples.version4
        #expect(await service.send(.post, ApplePostbackEndpointTests.skan, body: postback).status == 200)
        let sender = service.bearer(.app).merging(["Content-Type": "application/json"]) { $1 }
        let event = #"{"events":[{"event_id":"e","name":"open","install_id":"1111111111"}]}"#
        #expect(await service.send(.post, "/v1/events", fields: sender, body: event).status == 202)
        service.clock.advance(seconds: 7200)
        for table in ExportTable.allCases {
            let text = await export("\(table.rawValue).ndjson").text
            #expect(table.isSnapshot || !text.isEmpty)
            for secret in ["1111111111", "2222222222", "127.0.0.1", "Mozilla"] {
                #expect(!text.contains(secret), "\(table)")
            }
        }
        let matches = try records(await export("matches.csv").text)
        #expect(matches.count == 1 && matches[0]["campaign"] == "Spring" && matches[0]["method"] != "")
        let checks = try records(await export("checks.csv").text)
        #expect(checks.map { $0["outcome"] } == ["match", "no_match"] && checks[1]["weight"] == "1")
    }

    @Test("the table of counters has the statistics' counts, but only of hours that have ended")
    func counters() async throws {
        for number in 1...3 { await click(number) }
        #expect(try records(await export("counters.csv").text).isEmpty)
        service.clock.advance(seconds: 7200)
        let rows = try records(await export("counters.csv").text)
        let clicks = rows.filter { $0["metric"] == "clicks" && $0["dimension"] == "total" }
        #expect(clicks.map { $0["campaign"] } == ["", "Spring"] && clicks.allSatisfy { $0["count"] == "3" })
    }

    @Test("links are exported with their fields and their number of clicks")
    func links() async throws {
        let body = #"{"slug":"spring","destination":"myapp://promo","title":"+49","tags":["a","b"]}"#
        let answer = await service.send(
            .post,
            "/admin/api/links",
            fields: service.bearer(.admin).merging(["Content-Type": "application/json"]) { $1 },
            body: body
        )
        #expect(answer.status == 201)
        let rows = try records(await export("links.csv").text)
        #expect(rows.count == 1 && rows[0]["slug"] == "spring" && rows[0]["title"] == "'+49")
        #expect(rows[0]["tags"] == "a, b" && rows[0]["clicks"] == "0")
    }

    @Test("an erasure is a row in the table of deletions, which a read key of another app does not see")
    func deletions() async throws {
        let other = try await service.addApp(App.Settings(name: "Zebra"))
        func own(_ number: Int) async -> Answer {
            let body =
                #"{"fingerprint":"\#(String(repeating: "\(number)", count: 64))","deeplink_url":"myapp://a"}"#
            return await service.click(body, fields: service.bearer(.app))
        }
        #expect(await own(1).status == 201)
        let theirs = await service.click(anyClick, fields: other.bearer)
        #expect(theirs.status == 201)
        for (app, fingerprint) in [(service.app, String(repeating: "1", count: 64)), (other.app, hex)] {
            let erased = await service.admin(
                .post,
                "/erase",
                #"{"app":"\#(app.text)","fingerprint":"\#(fingerprint)"}"#
            )
            #expect(erased.text.contains(#""clicks":1"#), "\(erased.text)")
        }
        #expect(await own(2).status == 201)
        let all = try records(await export("deletions.csv").text)
        try #require(all.map { $0["reason"] } == ["erasure", "erasure", "retention"])
        #expect(all.map { $0["app"] } == [service.app.text, other.app.text, ""])
        #expect(all[1]["id"] == theirs.member("click_id") && all[1]["table"] == "clicks")
        #expect(all[1]["at"] == service.clock.now.iso8601 && all[1]["before"] == "")
        #expect(all[2]["id"] == "" && all[2]["before"]?.hasSuffix("T00:00:00.000Z") == true)
        let visible = await export("deletions.ndjson", nil, .read).text
        #expect(visible.contains(service.app.text) && visible.contains(#""reason":"retention""#))
        #expect(!visible.contains(other.app.text) && !visible.contains(theirs.member("click_id") ?? "clk_"))
        let cursor = try #require(all[0]["cursor"])
        #expect(try records(await export("deletions.csv", "since=\(cursor)").text) == Array(all[1...]))
    }

    @Test("an erased event becomes a row of deletions whose id is the cursor of the event's row")
    func erasedEvent() async throws {
        let events = #"{"events":[{"event_id":"e1","name":"open","user":"ann"}]}"#
        let fields = service.bearer(.server).merging(["Content-Type": "application/json"]) { $1 }
        let sent = await service.send(.post, "/v1/events", fields: fields, body: events)
        #expect(sent.status == 202, "\(sent.text)")
        let event = try #require(try records(await export("events.csv").text).first)
        let body = #"{"app":"\#(service.app.text)","user":"ann"}"#
        #expect(await service.admin(.post, "/erase", body).text.contains(#""events":1"#))
        let cursor = try #require(event["cursor"])
        let line = #""table":"events","id":"\#(cursor)","app":"\#(service.app.text)""#
        #expect(await export("deletions.ndjson").text.contains(line))
        #expect(try records(await export("events.csv").text).isEmpty)
    }

    @Test(
        "wrong calls are refused with a reason",
        arguments: [
            ("clicks.parquet", nil, 404, "followed by .csv or .ndjson"),
            ("secrets.csv", nil, 404, "one of clicks"),
            ("clicks", nil, 404, "one of clicks"),
            ("clicks.csv", "since=x", 400, "cursor of a row of this table"),
            ("counters.csv", "since=12", 400, "cursor of a row of this table"),
            ("deletions.csv", "since=12", 400, "cursor of a row of this table"),
            ("clicks.csv", "until=tomorrow", 400, "must be a date"),
            ("clicks.csv", "app=x", 400, "must be the id"),
            ("clicks.csv", "limit=3", 400, "takes no query parameter"),
        ] as [(String, String?, Int, String)]
    )
    func refusals(_ file: String, _ query: String?, _ status: Int, _ text: String) async {
        await export(file, query).expect(status, holds: [text])
    }

    @Test("a page without rows is an empty piece, so that a stop need not wait for the next row")
    func emptyPages() async throws {
        var pages = ["", "", "row\n"]
        let body = PagedBody(startingWith: "names\n") { pages.isEmpty ? nil : pages.removeFirst() }
        for expected in ["names\n", "", "", "row\n", nil] {
            let piece = try await body.next(atMost: 100)
            #expect(piece.map { String(decoding: $0, as: UTF8.self) } == expected)
        }
    }

    @Test("an export is cut off before its next page if its key is revoked", arguments: [false, true])
    func revocation(_ isRevoked: Bool) async throws {
        await click(1)
        let key = TestKey(.admin, of: nil, at: service.clock.now)
        try await service.loop.create(key.key)
        let field = FieldLine(name: "Authorization", value: "Bearer \(key.text)")
        await service.loop.holdOfService(Request(.get, path: "/admin/api/export/clicks.csv", fields: [field]))
        #expect(await service.loop.nextPiece(ofHeld: 0).hasPrefix("cursor,"))
        if isRevoked { try await service.revoke(key.key.id) }
        #expect(await service.loop.nextPiece(ofHeld: 0).isEmpty == isRevoked)
        await service.loop.endHeldStreams()
    }
}
