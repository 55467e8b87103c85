import Attribution
import HTTPServer
import Server
import Testing

@Suite("A visitor who does not want to be tracked")
struct ConsentTests {
    private let hex = String(repeating: "ab", count: 32)

    @Test(
        "is counted and nothing more: no fingerprint, no address, no token, no match",
        arguments: [true, false]
    )
    func counted(bySignal: Bool) async throws {
        let service = try await TestService(LinkScenario.shop)
        _ = try await service.makeLink(#"{"slug":"a","destination":"myapp://x","campaign_key":"S"}"#)
        let signals =
            #""signals":{"model":"iPhone","osVersion":"17.2","screenWidth":390,"screenHeight":844,"#
            + #""pixelRatio":3,"timezone":"Europe/Istanbul","language":"tr"},"idfa":"6D92078A-8246-4BA4-AE5B-76104861E7DC""#
        let answer = await service.click(
            #"{"link":"a","fingerprint":"\#(hex)",\#(signals)\#(bySignal ? "" : #","consent":false"#)}"#,
            fields: ["User-Agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X)"].merging(
                bySignal ? ["Sec-GPC": "1"] : [:]
            ) { $1 }
        )
        #expect(answer.status == 201, "\(answer.text)")
        #expect(answer.member("token") == nil && answer.member("fingerprint") == nil)
        let click = try #require(service.watch.click)
        #expect(click.fingerprints.isEmpty && click.evidence.signals.isEmpty)
        #expect(click.evidence.advertisingIDs.isEmpty && click.evidence.address == nil)
        #expect(click.evidence.canonicalText == "ios; basis=counted")
        #expect(await service.check(hex).text.contains("no_match"))
        #expect(try await service.totals()[.clicks] == 1)
        let id = try #require(answer.member("click_id"))
        let told = await service.send(
            .get,
            "/admin/api/checks/\(id)/explain",
            fields: service.bearer(.admin)
        )
        #expect(told.text.contains(#""basis":"counted""#), "\(told.text)")
        #expect(told.text.contains("did not want to be tracked"))
    }

    @Test("needs to tell nothing of his device; and a customer's own server speaks for him by the body alone")
    func bodies() async throws {
        let service = try await TestService(LinkScenario.shop)
        _ = try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        #expect(await service.click(#"{"link":"a","consent":false}"#).status == 201)
        #expect(await service.click(#"{"link":"a","consent":true}"#).status == 400)
        #expect(await service.click(#"{"link":"a","consent":"no"}"#).status == 400)
        let gpc = service.bearer(.server).merging(["Sec-GPC": "1"]) { $1 }
        let server = await service.click(#"{"link":"a","fingerprint":"\#(hex)"}"#, fields: gpc)
        #expect(server.member("token") != nil)
    }
}
