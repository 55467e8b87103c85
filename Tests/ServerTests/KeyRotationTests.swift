import Attribution
import Foundation
import HTTPServer
import JSON
import Server
import TestDatabases
import Testing

private let peer = PeerAddress(ipv4: 0xCB00_7109, port: 1)

private func click(_ link: String = "item", _ members: String = "") -> String {
    #"{"fingerprint":"\#(hex)","deeplink_url":"myapp://promo/\#(link)"\#(members)}"#
}

@Suite("After a rotation of the server key")
struct ServerKeyRotationTests {
    private let service: TestService

    init() async throws { service = try await TestService(replayGrace: 0) }

    @Test("clicks from before and after the rotation match, each once")
    func clicks() async throws {
        await service.click(click("before"))
        try service.rotateServerKey()
        #expect(await service.check(hex).member("url")?.hasPrefix("myapp://promo/before") == true)
        #expect(await service.check(hex).member("status") == "no_match")
        await service.click(click("after"))
        // The click is stored under the new key, so that the former key does not reveal it.
        let former = service.serverKey.keyed(try #require(Fingerprint(hex: hex)))
        #expect(service.watch.click?.fingerprints.contains { $0.key == former } == false)
        #expect(await service.check(hex).member("url")?.hasPrefix("myapp://promo/after") == true)
        #expect(await service.check(hex).member("status") == "no_match")
        #expect(try await service.totals()[.matches] == 2)
    }

    @Test("the newer of two clicks matches, whichever keys the clicks are stored under")
    func newest() async throws {
        await service.click(click("before"), fields: ["User-Agent": "A"])
        try service.rotateServerKey()
        service.clock.advance(seconds: 60)
        await service.click(click("after"), fields: ["User-Agent": "B"])
        #expect(await service.check(hex).member("url")?.hasPrefix("myapp://promo/after") == true)
        #expect(await service.check(hex).member("url")?.hasPrefix("myapp://promo/before") == true)
        #expect(await service.check(hex).member("status") == "no_match")
    }

    @Test("tokens and advertising ids from before the rotation find their clicks")
    func sureWays() async throws {
        let token = try #require(await service.click(click()).member("token"))
        let idfa = "6D92078A-8246-4BA4-AE5B-76104861E7DC"
        await service.click(
            #"{"fingerprint":"\#(String(repeating: "cd", count: 32))","deeplink_url":"myapp://promo/x?idfa=\#(idfa)"}"#
        )
        try service.rotateServerKey()
        let byToken = await service.check(query: "token=\(token)")
        #expect(byToken.member("attributionMethod") == "signed_token")
        let byID = await service.check(query: "idfa=\(idfa)")
        #expect(byID.member("attributionMethod") == "idfa")
        #expect(await service.check(query: "token=\(token)").member("status") == "no_match")
    }

    @Test("a caller gets the same response again after the rotation, with an install id and without")
    func repetition() async throws {
        let service = try await TestService()
        await service.click(click("one"))
        let install = ["X-Install-ID": "install-1"]
        let first = await service.check(hex, fields: install)
        try service.rotateServerKey()
        #expect(await service.check(hex, fields: install).text == first.text)
        let idfa = "idfa=6D92078A-8246-4BA4-AE5B-76104861E7DC&fingerprint=\(hex)"
        service.clock.advance(seconds: 60)
        await service.click(click("two"))
        let second = await service.check(query: idfa)
        #expect(second.member("status") == "match")
        await service.deliverLast(.delivered)
        try service.rotateServerKey()
        #expect(await service.check(query: idfa).text == second.text)
        #expect(try await service.totals()[.matches] == 2)
    }

    @Test("if the response with a click from before the rotation is lost, the next check gets the click")
    func lostAnswer() async throws {
        await service.click(click())
        try service.rotateServerKey()
        let first = await service.check(hex)
        await service.deliverLast(.failed)
        #expect(await service.check(hex, fields: ["User-Agent": "B"]).text == first.text)
        #expect(await service.check(hex).member("status") == "no_match")
    }

    @Test("a post with an idempotency key from before the rotation gets the same click and its fingerprint")
    func idempotency() async throws {
        let service = try await TestService()
        let body = click("item", #","idempotency_key":"order-1""#)
        let first = await service.click(body)
        service.clock.advance(seconds: 3600)
        try service.rotateServerKey()
        let again = await service.click(body)
        #expect(again.status == 200 && again.member("click_id") == first.member("click_id"))
        #expect(again.member("fingerprint") == hex)
        // This post belongs to another visit with the same fingerprint.
        let elsewhere = await service.click(body, fields: ["User-Agent": "B"])
        #expect(elsewhere.status == 200 && elsewhere.member("fingerprint") == hex)
        #expect(try await service.totals()[.clicks] == 1)
    }

    @Test("a tap before the rotation and a tap after it are one visit, which matches one launch")
    func taps() async throws {
        let before = await service.click(click())
        try service.rotateServerKey()
        service.clock.advance(seconds: 60)
        let after = await service.click(click())
        #expect(before.status == 201 && after.status == 201)
        #expect(await service.check(hex).member("status") == "match")
        #expect(await service.check(hex).member("status") == "no_match")
    }

    @Test("checks from before the rotation are found by their fingerprint")
    func records() async throws {
        let service = try await TestService()
        await service.check(hex)
        try service.rotateServerKey()
        let list = await service.admin(.get, "/checks", query: "fingerprint=\(hex)")
        #expect(list.text.contains("chk_"))
    }

    @Test("the explanation of a check without a match names a click from before the rotation")
    func reason() async throws {
        let clicked = try #require(await service.click(click()).member("click_id"))
        await service.check(hex)
        try service.rotateServerKey()
        #expect(await service.check(hex, key: .app).member("status") == "no_match")
        let list = await service.admin(.get, "/checks", query: "reason=already_claimed")
        #expect(list.text.contains("already_claimed"))
        let id = try #require(list.text.firstMatch(of: /chk_[0-9a-z]+/)?.output)
        let explained = await service.admin(.get, "/checks/\(id)/explain")
        #expect(explained.text.contains(clicked))
    }
}

@Suite("When the day's key for addresses changes")
struct AddressKeyRotationTests {
    /// Creates a service whose clock is three seconds before the end of its day.
    private func service(replayGrace: Int64 = 60_000) async throws -> TestService {
        let service = try await TestService(replayGrace: replayGrace)
        let day = AddressKeys.period
        let rest = day - service.clock.now.milliseconds % day
        service.clock.advance(seconds: rest / 1000 - 3)
        return service
    }

    @Test("a launch is still compared with a click of the day before, by its address")
    func evidence() async throws {
        let service = try await service()
        await service.click(click("here"), fields: ["User-Agent": "A"], peer: peer)
        let clicked = try #require(service.watch.click?.evidence.address)
        service.clock.advance(seconds: 30)
        let reply = await service.check(hex, fields: ["User-Agent": "App"], peer: peer)
        let check = try #require(service.watch.check)
        var address = try #require(check.details.address)
        #expect(AddressHashes.agreement(clicked, address.current) == .missing)
        #expect(address.agreement(with: clicked) == .exact)
        #expect(reply.member("attributionMethod") == "probabilistic")
    }

    @Test("a post that is repeated seconds later, after the change, is the same click")
    func repeatedPost() async throws {
        let service = try await service()
        let first = await service.click(click(), peer: peer)
        service.clock.advance(seconds: 6)
        let again = await service.click(click(), peer: peer)
        #expect(again.status == 200 && again.member("click_id") == first.member("click_id"))
    }

    @Test(
        "a post before the change and one for another campaign after it are two clicks, each repeatable"
    )
    func campaigns() async throws {
        let service = try await service(replayGrace: 0)
        let older = await service.click(click("item", #","campaign_key":"A""#), peer: peer)
        service.clock.advance(seconds: 6)
        let newer = await service.click(click("item", #","campaign_key":"B""#), peer: peer)
        #expect(older.status == 201 && newer.status == 201)
        for (campaign, answer) in [("A", older), ("B", newer)] {
            let again = await service.click(click("item", #","campaign_key":"\#(campaign)""#), peer: peer)
            #expect(again.status == 200 && again.member("click_id") == answer.member("click_id"))
        }
        #expect(await service.check(hex, peer: peer).member("campaignKey") == "B")
        #expect(await service.check(hex, peer: peer).member("status") == "no_match")
    }

    @Test(
        "taps before and after the change are one visit: a match of the last tap retires the others",
        arguments: [peer, TestService.peer]
    )
    func taps(peer: PeerAddress) async throws {
        let service = try await service(replayGrace: 0)
        for seconds in [30, 540, 0] as [Int64] {
            #expect(await service.click(click(), peer: peer).status == 201)
            service.clock.advance(seconds: seconds)
        }
        #expect(await service.check(hex, peer: peer).member("status") == "match")
        #expect(await service.check(hex, peer: peer).member("status") == "no_match")
    }

    @Test("a visitor who taps another link seconds later is recognised, and strangers are not")
    func visitors() async throws {
        let service = try await service(replayGrace: 0)
        await service.click(click("one"), fields: ["User-Agent": "A"], peer: peer)
        service.clock.advance(seconds: 30)
        await service.click(click("two"), fields: ["User-Agent": "A"], peer: peer)
        #expect(try service.count(.visitors) == 1)
        await service.click(click("two"), fields: ["User-Agent": "B"], peer: peer)
        await service.click(
            click("two"),
            fields: ["User-Agent": "A"],
            peer: PeerAddress(ipv4: 0x0808_0808, port: 1)
        )
        #expect(try service.count(.visitors) == 3)
        let reply = await service.check(hex, peer: peer)
        #expect(reply.member("url")?.hasPrefix("myapp://promo/two") == true)
    }

    @Test("a caller gets the same response again within the grace period, after the change")
    func replay() async throws {
        let service = try await service()
        await service.click(click(), peer: peer)
        let first = await service.check(hex, peer: peer)
        await service.deliverLast(.delivered)
        service.clock.advance(seconds: 30)
        #expect(await service.check(hex, peer: peer).text == first.text)
        #expect(try await service.totals()[.replays] == 1)
        #expect(
            await service.check(hex, peer: PeerAddress(ipv4: 0x0808_0808, port: 1)).member("status")
                == "no_match"
        )
    }
}
