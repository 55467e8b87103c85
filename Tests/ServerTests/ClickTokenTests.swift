import Attribution
import HTTPServer
import JSON
import Server
import Testing

private let plainNoMatch = #"{"status":"no_match","matched":false}"#

private func click(_ link: String = "item", fingerprint: String = hex) -> String {
    #"{"fingerprint":"\#(fingerprint)","deeplink_url":"myapp://promo/\#(link)","campaign_key":"S"}"#
}

/// The places in which a launch can name a click.
enum Way: String, CaseIterable, Sendable {
    case query, referrer, wrappedReferrer, body, bodyReferrer, pasteboard

    func ask(_ service: TestService, _ name: String, key: KeyKind = .app) async -> Answer {
        switch self {
        case .query: await service.check(query: "token=\(name)", key: key)
        case .referrer:
            await service.check(
                query: "fingerprint=\(String(repeating: "9", count: 64))",
                key: key,
                fields: ["X-Install-Referrer": "al=\(name)&utm_source=instagram"]
            )
        case .wrappedReferrer:
            await service.check(
                query: "",
                key: key,
                fields: ["x-install-referrer": "al%3D\(name)%26utm_source%3Dx"]
            )
        case .body: await service.resolve(#"{"token":"\#(name)"}"#, key: key)
        case .bodyReferrer: await service.resolve(#"{"referrer":"al=\#(name)&utm_source=x"}"#, key: key)
        case .pasteboard:
            await service.resolve(#"{"pasteboard":"see https://go.example/s?al=\#(name) !"}"#, key: key)
        }
    }
}

@Suite("The token of a click")
struct ClickTokenCallTests {
    private let service: TestService

    init() async throws { service = try await TestService() }

    @Test(
        "a token finds its click from every place that can contain the token, once and with a guarantee",
        arguments: Way.allCases
    )
    func everyWay(way: Way) async throws {
        let service = try await TestService(replayGrace: 0)
        let token = try #require(await service.click(click()).member("token"))
        // Another visitor clicks later, with the same fingerprint.
        _ = await service.click(click("other"), fields: ["User-Agent": "another"])
        let reply = await way.ask(service, token)
        #expect(reply.member("status") == "match")
        #expect(reply.member("url")?.hasPrefix("myapp://promo/item?") == true)
        #expect(reply.member("attributionMethod") == "signed_token")
        #expect(reply.number("confidence") == 0.99)
        #expect(reply.flag("guaranteed") == true)
        #expect(reply.number("competingClicks") == 0)
        let again = await way.ask(service, token)
        #expect(again.text == plainNoMatch)
    }

    @Test("a click's unsigned identifier finds the click, too, without a guarantee", arguments: Way.allCases)
    func clickID(way: Way) async throws {
        let id = try #require(await service.click(click()).member("click_id"))
        let reply = await way.ask(service, id)
        #expect(reply.member("attributionMethod") == "click_id")
        #expect(reply.number("confidence") == 0.95)
        #expect(reply.flag("guaranteed") == false)
        let query = try #require(
            await service.click(click("b"), fields: ["User-Agent": "b"]).member("click_id")
        )
        #expect(await service.check(query: "click_id=\(query)").member("attributionMethod") == "click_id")
    }

    @Test("an unusable token is reported to a test key, and not to a live key", arguments: Way.allCases)
    func refusals(way: Way) async throws {
        let service = try await TestService(replayGrace: 0)
        let test = service.bearer(.test)
        let token = try #require(await service.click(click(), fields: test).member("token"))
        let other = try await service.addApp(App.Settings(name: "Other"))
        let others = try #require(await service.click(click(), fields: other.bearer).member("token"))
        let short = #"{"attribution_window_seconds":60,"#
        let brief = try #require(
            await service.click(short + click("brief").dropFirst(), fields: test).member("token")
        )
        let robot = try #require(
            await service.click(
                click("robot"),
                fields: test.merging(["User-Agent": "facebookexternalhit/1.1"]) { $1 }
            ).member("token")
        )
        #expect(await way.ask(service, token, key: .test).member("status") == "match")
        service.clock.advance(seconds: 61)
        let altered = String(token.dropLast()) + (token.last == "A" ? "B" : "A")
        for (name, reason) in [
            (token, "token_used"), (altered, "token_invalid"), ("nonsense", "token_invalid"),
            (others, "other_app"), (brief, "expired"), (robot, "robot_click"),
        ] {
            let reply = await way.ask(service, name, key: .test)
            #expect(reply.member("reason") == reason, "\(way) \(reason): \(reply.text)")
            #expect(await way.ask(service, name).text == plainNoMatch)
        }
        // A live key sees no test click, even with its token.
        let fresh = try #require(await service.click(click("x"), fields: test).member("token"))
        #expect(await way.ask(service, fresh).text == plainNoMatch)
        #expect(await way.ask(service, fresh, key: .test).member("status") == "match")
    }

    @Test("a launch with an unusable token is matched by its fingerprint")
    func fallsBack() async throws {
        await service.click(click())
        let reply = await service.check(query: "fingerprint=\(hex)&token=nonsense")
        #expect(reply.member("attributionMethod") == "fingerprint")
    }

    @Test("a token does not excuse a malformed or repeated fingerprint, and is then not consumed")
    func malformedFingerprint() async throws {
        let token = try #require(await service.click(click()).member("token"))
        for query in ["fingerprint=abc", "fingerprint=", "fingerprint=\(hex)&fingerprint=\(hex)"] {
            let reply = await service.check(query: "\(query)&token=\(token)")
            #expect(reply.isRefusal(400, "INVALID_FINGERPRINT"), "\(reply.text)")
        }
        for query in ["", "token=", "idfa=nonsense", "platform=ios", "Token=\(token)"] {
            #expect(await service.check(query: query).status == 400, "\(query)")
        }
        #expect(await service.check(query: "token=\(token)").member("status") == "match")
    }

    @Test("an install that no link of this service led to gets no match, and no error")
    func organicReferrer() async throws {
        let fields = ["X-Install-Referrer": "utm_source=google-play&utm_medium=organic"]
        #expect(await service.check(query: "", fields: fields).text == plainNoMatch)
        #expect(await service.check(query: "idfa=00000000-0000-0000-0000-000000000000").text == plainNoMatch)
        let organic = "Google Play states an organic installation: no campaign link led to the store."
        for (fingerprint, more) in [("", ""), (hex, " No click has the launch's fingerprint")] {
            let query = fingerprint.isEmpty ? "" : "fingerprint=\(fingerprint)"
            let answer = await service.check(query: query, key: .test, fields: fields)
            #expect(answer.member("reason") == "organic", "\(answer.text)")
            let id = try #require(answer.field("X-Request-ID"))
            let why = await service.admin(.get, "/checks/\(id)/explain")
            #expect(why.member("summary")?.hasPrefix(organic + more) == true, "\(why.text)")
            #expect(why.text.contains(#""advice":["Such launches rightly get no campaign."]"#), "\(why.text)")
        }
        let statistics = await service.statistics("test=true")
        #expect(statistics.text.contains(#""organic":2"#), "\(statistics.text)")
        // Another reason takes precedence, because it says more; a click that a fingerprint finds still matches.
        let refused = await service.check(query: "token=nonsense", key: .test, fields: fields)
        #expect(refused.member("reason") == "token_invalid", "\(refused.text)")
        await service.click(click(), fields: service.bearer(.test))
        let match = await service.check(query: "fingerprint=\(hex)", key: .test, fields: fields)
        #expect(match.member("status") == "match", "\(match.text)")
    }

    @Test("a lost response is repeated for the same token, never for another token")
    func replays() async throws {
        let tokens = [
            try #require(await service.click(click("a")).member("token")),
            try #require(await service.click(click("b")).member("token")),
        ]
        let first = await service.check(query: "fingerprint=\(hex)&token=\(tokens[0])")
        #expect(await service.check(query: "fingerprint=\(hex)&token=\(tokens[0])").text == first.text)
        let second = await service.check(query: "fingerprint=\(hex)&token=\(tokens[1])")
        #expect(second.member("url")?.hasPrefix("myapp://promo/b") == true)
        let stranger = await service.check(query: "token=\(tokens[0])", fields: ["User-Agent": "x"])
        #expect(stranger.text == plainNoMatch)
        #expect(try await service.totals()[.matches] == 2)
        #expect(try await service.totals()[.replays] == 1)
    }

    @Test("if the delivery of a match by token fails, the next launch with the token gets the match")
    func failedDelivery() async throws {
        let service = try await TestService(replayGrace: 0)
        let token = try #require(await service.click(click()).member("token"))
        let lost = await service.resolve(#"{"token":"\#(token)"}"#)
        await service.deliverLast(.failed)
        #expect(await service.resolve(#"{"token":"\#(token)"}"#).text == lost.text)
        await service.deliverLast(.delivered)
        #expect(await service.resolve(#"{"token":"\#(token)"}"#).text == plainNoMatch)
    }

    @Test("the token of a repeated post is the token of the first click")
    func duplicate() async throws {
        let first = await service.click(click())
        let again = await service.click(click())
        #expect(again.status == 200)
        #expect(first.member("token")?.utf8.count == ClickToken.textLength)
        #expect(again.member("token") == first.member("token"))
    }

    @Test("a token finds a click with too few signals for a fingerprint; the response names what is missing")
    func thinSignals() async throws {
        let body = #"{"signals":{"model":"iPhone","language":"tr"},"deeplink_url":"myapp://promo/item"}"#
        let reply = await service.click(body)
        #expect(reply.status == 201 && reply.member("fingerprint") == nil)
        #expect(reply.member("message")?.contains("timezone") == true)
        let again = await service.click(body)
        #expect(again.status == 200 && again.member("click_id") == reply.member("click_id"))
        let other = body.replacing("iPhone", with: "iPad")
        #expect(await service.click(other).status == 201)
        let token = try #require(reply.member("token"))
        #expect(await service.resolve(#"{"token":"\#(token)"}"#).member("status") == "match")
    }
}
