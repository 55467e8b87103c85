import Attribution
import HTTPServer
import JSON
import Server
import Testing

private let click =
    #"{"fingerprint":"\#(hex)","deeplink_url":"myapp://gift/for-anna?pin=1","campaign_key":"SUMMER25","#
    + #""jid":"j_annas","referer":"https://instagram.com/","metadata":{"name":"Anna"}}"#

@Suite("An app's matching policy")
struct MatchPolicyTests {
    @Test("without fingerprints only tokens and ids match, and a test key gets the reason")
    func withoutFingerprints() async throws {
        let policy = MatchPolicy(usesFingerprints: false)
        let service = try await TestService(App.Settings(name: "Shop", policy: policy))
        let token = try #require(await service.click(click, fields: service.bearer(.test)).member("token"))
        for reply in [
            await service.check(hex, key: .test),
            await service.check(
                query: "fingerprint=\(hex)&idfa=11111111-2222-3333-4444-555555555555",
                key: .test
            ),
            await service.resolve(#"{"fingerprint":"\#(hex)"}"#, key: .test),
        ] {
            #expect(reply.member("reason") == "fingerprint_disabled")
        }
        #expect(await service.check(hex).text == #"{"status":"no_match","matched":false}"#)
        let reply = await service.check(query: "fingerprint=\(hex)&token=\(token)", key: .test)
        #expect(reply.member("attributionMethod") == "signed_token")
    }

    @Test("where the campaign alone is credited, the response contains nothing about the person who clicked")
    func campaignOnly() async throws {
        let settings = App.Settings(
            name: "Shop",
            policy: MatchPolicy(onAmbiguity: .campaignOnly),
            defaultLink: DeepLinkURL(stored: "myapp://home?tab=1")
        )
        let service = try await TestService(settings)
        await service.click(click)
        service.watch.claim = { claim in
            Claim(
                click: claim.click,
                claimedAt: claim.claimedAt,
                method: .fingerprint,
                confidence: 0.71239,
                competingClicks: 3,
                isCampaignOnly: true
            )
        }
        let reply = await service.check(hex)
        let url = "myapp://home?tab=1&keyName=SUMMER25"
        #expect(reply.member("url") == url && reply.member("deeplink_url") == url)
        #expect(reply.member("campaignKey") == "SUMMER25" && reply.member("campaign_key") == "SUMMER25")
        #expect(reply.flag("campaignOnly") == true)
        #expect(reply.number("confidence") == 0.7124)
        #expect(reply.number("competingClicks") == 3)
        for text in ["anna", "Anna", "j_annas", "pin", "metadata", "jid", "instagram"] {
            #expect(!reply.text.contains(text), "\(text)")
        }
    }

    @Test("without a default link, no campaign is credited alone; a match without a link becomes no match")
    func withoutDefaultLink() async throws {
        let settings = App.Settings(name: "Shop", policy: MatchPolicy(onAmbiguity: .campaignOnly))
        #expect(settings.followedPolicy.onAmbiguity == .noMatch)
        let service = try await TestService(settings)
        await service.click(click)
        service.watch.claim = { claim in
            Claim(click: claim.click, claimedAt: claim.claimedAt, method: .fingerprint, isCampaignOnly: true)
        }
        #expect(await service.check(hex).text == #"{"status":"no_match","matched":false}"#)
        #expect(service.watch.check?.policy.onAmbiguity == .noMatch)
    }

    @Test("a claim without a probability is returned without a confidence")
    func olderClaim() async throws {
        let service = try await TestService()
        await service.click(click)
        service.watch.claim = { claim in
            Claim(click: claim.click, claimedAt: claim.claimedAt, method: .fingerprint)
        }
        let reply = await service.check(hex)
        #expect(reply.member("status") == "match" && reply.flag("guaranteed") == false)
        #expect(!reply.text.contains("confidence") && !reply.text.contains("competingClicks"))
    }
}
