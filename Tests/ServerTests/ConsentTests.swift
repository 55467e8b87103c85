import Attribution
import HTTPServer
import JSON
import Server
import Testing

@Suite("A visitor who does not want to be tracked")
struct ConsentTests {
    @Test(
        "a visitor who opted out is only counted: no fingerprint, address, token or match",
        arguments: [true, false]
    )
    func counted(bySignal: Bool) async throws {
        let service = try await TestService(LinkScenario.shop)
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x","campaign_key":"S"}"#)
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
        // Even the identifier leads to no match, because the visitor did not want to be recognised.
        let launch = await service.resolve(#"{"click_id":"\#(id)"}"#)
        #expect(launch.text.contains("no_match"), "\(launch.text)")
        let explained = await service.admin(.get, "/checks/\(id)/explain")
        #expect(explained.text.contains(#""basis":"counted""#), "\(explained.text)")
        #expect(explained.text.contains("opted out of tracking"))
    }

    @Test(
        "after consent, a visitor gets another click with its own token, although the idempotency key is the same"
    )
    func changedMind() async throws {
        let service = try await TestService(LinkScenario.shop)
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        func post(_ consent: Bool) async -> Answer {
            let body =
                #"{"link":"a","fingerprint":"\#(hex)","idempotency_key":"visit","consent":\#(consent)}"#
            return await service.click(body)
        }
        let refused = await post(false)
        #expect(refused.status == 201 && refused.member("token") == nil)
        let agreed = await post(true)
        #expect(agreed.status == 201 && agreed.member("token") != nil)
        for (consent, first) in [(false, refused), (true, agreed)] {
            let again = await post(consent)
            #expect(again.status == 200 && again.member("click_id") == first.member("click_id"))
            #expect(again.member("token") == first.member("token"))
        }
    }

    @Test("a click without consent needs no signals; the Sec-GPC of a customer's server has no effect")
    func bodies() async throws {
        let service = try await TestService(LinkScenario.shop)
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        #expect(await service.click(#"{"link":"a","consent":false}"#).status == 201)
        #expect(await service.click(#"{"link":"a","consent":true}"#).status == 400)
        #expect(await service.click(#"{"link":"a","consent":"no"}"#).status == 400)
        for answer in [#""false""#, "0", "{}"] {
            let click = await service.click(#"{"link":"a","fingerprint":"\#(hex)","consent":\#(answer)}"#)
            #expect(click.status == 400 && click.member("field") == "consent", "\(answer)")
        }
        let gpc = service.bearer(.server).merging(["Sec-GPC": "1"]) { $1 }
        let server = await service.click(#"{"link":"a","fingerprint":"\#(hex)"}"#, fields: gpc)
        #expect(server.member("token") != nil)
    }
}
