import Attribution
import Foundation
import Server
import Testing

/// The description of the API lists the members; `DescribedNamesTests` compares the list with the names in the code.
@Suite("The members of a click's body")
struct ClickMemberTests {
    private static let base = [
        "link": #""a""#, "deeplink_url": #""myapp://promo/item""#, "jid": #""j1""#,
        "fingerprint": #""\#(hex)""#,
        "signals": #"{"model":"iPhone","timezone":"Europe/Istanbul","language":"tr"}"#,
    ]

    /// For each member, a JSON value that differs from the value in ``base``.
    ///
    /// A new member needs a value here, and `facts` in ClickBody.swift must copy the member into the stored click.
    private static let values = [
        "link": #""b""#, "deeplink_url": #""myapp://promo/other""#, "jid": #""j2""#,
        "fingerprint": #""\#(String(repeating: "c", count: 64))""#,
        "signals": #"{"model":"iPhone","timezone":"Europe/Berlin","language":"de"}"#, "variant": #""y""#,
        "query": #""source=newsletter""#, "campaign_key": #""S""#, "user_agent": #""Other/1""#,
        "click_timestamp": #""\#(TestClock.start.advanced(byMilliseconds: -3_600_000).iso8601)""#,
        "ip_address": #""203.0.113.9""#, "referer": #""https://l.instagram.com/""#, "platform": #""android""#,
        "attribution_window_seconds": "7200", "source": #""tiktok""#, "utm": #"{"utm_source":"mail"}"#,
        "metadata": #"{"offer":1}"#, "idempotency_key": #""k1""#, "consent": "false",
        "idfa": #""6D92078A-8246-4BA4-AE5B-76104861E7DC""#,
        "click_ids": #"{"gclid":"c1"}"#, "gaid": #""7D92078A-8246-4BA4-AE5B-76104861E7DC""#,
    ]

    private func service() async throws -> TestService {
        let service = try await TestService(LinkScenario.shop)
        for slug in ["a", "b"] {
            let variants = ["x", "y"].map { #"{"name":"\#($0)","weight":1,"destination":"/\#($0)"}"# }
            try await service.makeLink(
                #"{"slug":"\#(slug)","variants":[\#(variants.joined(separator: ","))]}"#
            )
        }
        return service
    }

    /// Posts a click with the key of a customer's server, which may set every member.
    private func post(_ members: [String: String], _ service: TestService) async throws -> Answer {
        service.watch.click = nil
        let body = members.map { #""\#($0)":\#($1)"# }.joined(separator: ",")
        let answer = await service.click("{\(body)}", fields: service.bearer(.server))
        try #require([200, 201].contains(answer.status), "\(answer.text)")
        return answer
    }

    @Test("each member changes the stored click, and not only its hashes")
    func eachIsStored() async throws {
        let document = try JSONSerialization.jsonObject(with: Data(APIDescription.body)) as? [String: Any]
        let components = document?["components"] as? [String: Any]
        let schema = (components?["schemas"] as? [String: Any])?["Click"] as? [String: Any]
        let described = try #require(schema?["properties"] as? [String: Any])
        // The member "app" chooses the app, which the key of this test has chosen already.
        #expect(Set(Self.values.keys).union(["app"]) == Set(described.keys))
        let service = try await service()
        _ = try await post(Self.base, service)
        let base = try #require(service.watch.click)
        for (name, value) in Self.values {
            _ = try await post(Self.base.merging([name: value]) { $1 }, service)
            var click = try #require(service.watch.click)
            (click.visit, click.post) = (base.visit, base.post)
            #expect(click != base, "\(name) is not stored: is it in `facts` of ClickBody.swift?")
        }
    }

    @Test("a match has all members of its click's body as the database stored them")
    func allComeBack() async throws {
        let service = try await service()
        let members = Self.base.merging(Self.values) { $1 }.merging(["consent": "true"]) { $1 }
        let token = try #require(try await post(members, service).member("token"))
        let match = await service.check(query: "token=\(token)")
        #expect(match.member("status") == "match", "\(match.text)")
        let posted = try #require(service.watch.click?.facts)
        #expect(service.watch.claimedClick?.facts == posted)
        #expect(match.member("campaignKey") == "S" && match.member("jid") == "j2")
        #expect(match.text.contains(#""metadata":{"offer":1"#) && match.number("attributionWindow") == 7200)
        #expect(match.member("clickTimestamp") == posted.clickedAt.iso8601)
    }
}
