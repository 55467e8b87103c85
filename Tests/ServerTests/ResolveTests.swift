import Attribution
import HTTPServer
import JSON
import Server
import Testing
import Threads

private let phone =
    #""model":"iPhone","osVersion":"17.2","screen":{"width":390,"height":844},"scale":3,"#
    + #""timezone":"Europe/Istanbul","language":"tr""#

private func launch(_ signals: String = phone, _ members: String = "") -> String {
    #"{"platform":"ios","signals":{\#(signals)}\#(members)}"#
}

private let page =
    #"{"signals":{"model":"iPhone","osVersion":"17_2","screenWidth":390,"screenHeight":844,"pixelRatio":3,"#
    + #""timezone":"Europe/Istanbul","language":"tr-TR"},"deeplink_url":"myapp://promo/item","jid":"j"}"#

@Suite("The first launch of a newer client")
struct ResolveTests {
    private let service: TestService

    init() async throws { service = try await TestService() }

    @Test(
        "a launch is matched by its signals instead of a hash, under all three prefixes",
        arguments: ["/v1/deferred-deeplink", "/deferred-deeplink", "/api/v1/deferred-deeplink"]
    )
    func signals(prefix: String) async throws {
        await service.click(page)
        let fields = service.bearer(.app).merging(["Content-Type": "application/json"]) { $1 }
        await service.send(.post, prefix + "/resolve", fields: fields, body: launch()).expect(
            200,
            holds: [#""status":"match""#, #""url":"myapp://promo/item?jid=j""#, "no-store"],
            lacks: ["reason", "campaignOnly"]
        )
    }

    @Test(
        "a launch finds a click that came with a ready-made fingerprint of any form",
        arguments: [
            "iPhone|17.2|390x844|Europe/Istanbul|tr", "iPhone|17.2|1170|Europe/Istanbul|tr",
            "iPhone|1170|Europe/Istanbul|tr", "iPhone|Europe/Istanbul|tr",
        ]
    )
    func readyMade(text: String) async throws {
        let hex = Fingerprint(of: text).hex
        await service.click(#"{"fingerprint":"\#(hex)","deeplink_url":"myapp://promo/item"}"#)
        #expect(await service.resolve(launch()).member("status") == "match")
    }

    @Test("a launch finds a click by a fingerprint of the client's own, sent with its signals or alone")
    func ownFingerprint() async throws {
        let service = try await TestService(replayGrace: 0)
        for body in [launch(phone, #","fingerprint":"\#(hex)""#), #"{"fingerprint":"\#(hex)"}"#] {
            await service.click()
            #expect(await service.resolve(body).member("status") == "match")
        }
    }

    @Test("an install id in the body or the header gets the same response again, and consumes one click")
    func installID() async throws {
        let service = try await TestService(replayGrace: 0)
        await service.click(page)
        let first = await service.resolve(launch(phone, #","install_id":"phone-1""#))
        #expect(first.member("status") == "match")
        #expect(await service.resolve(launch(phone, #","install_id":"phone-1""#)).text == first.text)
        #expect(await service.resolve(launch(), fields: ["X-Install-ID": "phone-1"]).text == first.text)
        let other = await service.resolve(launch(phone, #","install_id":"phone-2""#))
        #expect(other.text == #"{"status":"no_match","matched":false}"#)
        #expect(try await service.totals()[.matches] == 1)
    }

    @Test("a caller without an install id gets its response again; another device at its address does not")
    func callers() async throws {
        await service.click(page)
        let first = await service.resolve(launch())
        #expect(await service.resolve(launch()).text == first.text)
        let updated = phone.replacing("17.2", with: "17.3")
        #expect(await service.resolve(launch(updated)).member("status") == "no_match")
    }

    @Test("a refused launch consumes nothing")
    func refusals() async throws {
        await service.click(page)
        let refused: [(KeyKind?, [String: String], String, Int, String)] = [
            (nil, [:], launch(), 401, "INVALID_API_KEY"), (.admin, [:], launch(), 403, "FORBIDDEN"),
            (.app, ["Content-Type": "text/plain"], launch(), 415, "UNSUPPORTED_MEDIA_TYPE"),
            (.app, [:], "{}", 400, "MISSING_REQUIRED_FIELD"),
            (.app, [:], launch(phone, #","fingerprint":"abc""#), 400, "INVALID_FINGERPRINT"),
            (.app, ["X-Install-ID": "a", "x-install-id": "b"], launch(), 400, "INVALID_FIELD"),
            // An invalid header field is refused even if the body has a valid id.
            (.app, ["X-Install-ID": "a b"], launch(phone, #","install_id":"phone-1""#), 400, "INVALID_FIELD"),
        ]
        for (key, fields, body, status, code) in refused {
            let usual = (key.map(service.bearer) ?? [:]).merging(["Content-Type": "application/json"]) { $1 }
            let (path, all) = ("/v1/deferred-deeplink/resolve", usual.merging(fields) { $1 })
            await service.send(.post, path, fields: all, body: body).expect(status, holds: [code])
        }
        #expect(await service.resolve(launch()).member("status") == "match")
    }

    @Test("a launch counts against the rate limit of checks")
    func limits() async throws {
        let service = try await TestService(rateLimits: RateLimits([.checks], "1/s:1"))
        let moment = MonotonicTime.now()
        #expect(await service.resolve(launch(), at: moment).status == 200)
        #expect(await service.resolve(launch(), at: moment).status == 429)
    }

    @Test("a launch passes its fingerprints to the store, the shortest form first, and the other values")
    func handsOver() async throws {
        let peer = PeerAddress(ipv4: 0xCB00_7109, port: 1)
        let time = "2026-01-02T03:04:05.678Z"
        let fields = [
            "X-SDK-Version": "paylisher-ios/2.0.0", "X-Request-ID": "request-1", "User-Agent": "Shop/1",
        ]
        await service.resolve(launch(phone, #","first_install_time":"\#(time)""#), fields: fields, peer: peer)
        let check = try #require(service.watch.check)
        #expect(check.ladder.fingerprints.count == 4)
        #expect(check.platform == .ios)
        let details = check.details
        #expect(details.release == OSRelease(platform: .ios, major: 17, minor: 2))
        #expect(details.signals.components == [.width, .screen])
        #expect(details.sdkVersion == "ios 2.0.0" && details.requestID == "request-1")
        #expect(details.address != nil)
        #expect(details.firstInstalledAt == Timestamp(iso8601: time))
        await service.click(page, peer: peer)
        let click = try #require(service.watch.click)
        #expect(click.fingerprints.contains { $0.form == .d && $0.key == check.ladder.fingerprints[0] })
        #expect(click.evidence.signals == details.signals)
        #expect(click.evidence.address == details.address?.current)
    }

    @Test("a launch is matched by its app's language, whether the app's languages are set or not")
    func languages() async throws {
        let service = try await TestService(App.Settings(name: "Shop", localizations: ["en"]))
        let wanted = #""languages":["tr-TR","en"]"#
        let tr = page.replacing(#""language":"tr-TR""#, with: #""language":"tr-TR",\#(wanted)"#)
        await service.click(tr)
        let own = phone.replacing(#""language":"tr""#, with: #""language":"en",\#(wanted)"#)
        #expect(await service.resolve(launch(own)).member("status") == "match")
        let unset = try await TestService()
        await unset.click(tr)
        #expect(await unset.resolve(launch(own)).member("status") == "match")
    }
}
