import Attribution
import HTTPServer
import JSON
import Server
import Testing

private let hex = String(repeating: "ab", count: 32)

@Suite("Finding the deferred deep link of a first launch")
struct FindDeferredDeepLinkTests {
    @Test("returns the whole contract, both spellings, in the right JSON types")
    func wholeAnswer() async throws {
        let service = try await TestService()
        let clickedAt = service.clock.now.iso8601
        await service.click(
            #"{"fingerprint":"\#(hex)","deeplink_url":"myapp://promo/item","campaign_key":"SUMMER25","jid":"j_1","#
                + #""metadata":{"utm_source":"instagram", "n": 1.50}}"#
        )
        service.clock.advance(seconds: 60)
        let reply = await service.check(hex)
        let url = "myapp://promo/item?source=instagram&keyName=SUMMER25&jid=j_1"
        #expect(
            reply.text
                == #"{"status":"match","matched":true,"url":"\#(url)","deeplink_url":"\#(url)","#
                + #""campaignKey":"SUMMER25","campaign_key":"SUMMER25","jid":"j_1","clickTimestamp":"\#(clickedAt)","#
                + #""attributionWindow":86400,"attributionMethod":"fingerprint","confidence":0.99,"#
                + #""guaranteed":false,"competingClicks":0,"#
                + #""metadata":{"utm_source":"instagram", "n": 1.50}}"#
        )
    }

    @Test("a click from signals is found by the hash that the device sends")
    func fromSignals() async throws {
        let service = try await TestService()
        let body =
            #"{"signals":{"model":"iPhone","osVersion":"17_2","screenWidth":844,"screenHeight":390,"pixelRatio":3,"#
            + #""timezone":"Europe/Istanbul","language":"tr-TR"},"deeplink_url":"myapp://promo/item"}"#
        let click = await service.click(body)
        let native = Fingerprint(of: "iPhone|17.2|390x844|Europe/Istanbul|tr").hex
        #expect(click.member("fingerprint") == native)
        let reply = await service.check(native)
        #expect(reply.member("status") == "match")
        #expect(reply.member("campaignKey") == nil)
        #expect(reply.member("jid")?.hasPrefix("j_") == true)
    }

    @Test(
        "a click is found under every form that clients hash",
        arguments: [
            "iPhone|17.2|390x844|Europe/Istanbul|tr", "iPhone|17.2|1170|Europe/Istanbul|tr",
            "iPhone|1170|Europe/Istanbul|tr", "iPhone|Europe/Istanbul|tr",
        ]
    )
    func everyForm(native: String) async throws {
        let service = try await TestService()
        await service.click(
            #"{"signals":{"model":"iPhone","osVersion":"17_2","screenWidth":390,"screenHeight":844,"pixelRatio":3,"#
                + #""timezone":"Europe/Istanbul","language":"tr-TR"},"deeplink_url":"myapp://promo/item"}"#
        )
        let reply = await service.check(Fingerprint(of: native).hex)
        #expect(reply.member("status") == "match")
        for other in ["iPhone|Europe/Istanbul|tr", "iPhone|1170|Europe/Istanbul|tr"] {
            // Consumed as a whole.
            let again = await service.check(Fingerprint(of: other).hex, fields: ["User-Agent": "another"])
            #expect(again.member("status") == "no_match")
        }
    }

    @Test("an Android whose browser hides its model is found by its client hints")
    func clientHints() async throws {
        let service = try await TestService()
        await service.play(
            Step(
                name: "click",
                method: .post,
                path: "/v1/deferred-deeplink/click",
                fields: [
                    "Content-Type": "application/json",
                    "User-Agent": "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
                        + "Chrome/131.0.0.0 Mobile Safari/537.36",
                    "Sec-CH-UA-Platform": "\"Android\"",
                    "Sec-CH-UA-Model": "\"Pixel 9\"",
                ],
                body:
                    #"{"signals":{"screenWidth":412,"screenHeight":915,"pixelRatio":2.625,"#
                    + #""timezone":"Europe/Istanbul","language":"tr-TR"},"deeplink_url":"myapp://promo/item"}"#,
                status: 201
            )
        )
        let reply = await service.check(Fingerprint(of: "Pixel 9|1080|Europe/Istanbul|tr").hex)
        #expect(reply.member("status") == "match")
    }

    @Test("an app that lacks the browser's language runs in one of its own, and is found by it")
    func negotiatedLanguage() async throws {
        let service = try await TestService(
            App.Settings(name: "Shop", localizations: ["en", "de"], developmentLanguage: "en")
        )
        let body =
            #"{"signals":{"model":"iPhone","timezone":"Europe/Istanbul","language":"tr-TR","#
            + #""languages":["tr-TR","de-DE","en"]},"deeplink_url":"myapp://promo/item"}"#
        for language in ["de", "tr"] {
            service.clock.advance(seconds: 60)
            await service.click(body)
            let reply = await service.check(Fingerprint(of: "iPhone|Europe/Istanbul|\(language)").hex)
            #expect(reply.member("status") == "match", "\(language)")
        }
        let english = await service.check(Fingerprint(of: "iPhone|Europe/Istanbul|en").hex)
        #expect(english.member("status") == "no_match")
    }

    @Test("malformed requests are refused only after the key was accepted, and consume nothing")
    func refusals() async throws {
        let service = try await TestService()
        await service.click(#"{"fingerprint":"\#(hex)","deeplink_url":"myapp://promo/item"}"#)
        let path = "/v1/deferred-deeplink"
        for query in [
            nil, "", "fingerprint=", "fingerprint=abc", "fingerprint=\(hex)0", "Fingerprint=\(hex)",
            "fingerprint=\(hex)&fingerprint=\(hex)", "fingerprint=\(hex)&idfa=1&fingerprint=abc",
        ] {
            await service.play(
                Step(
                    name: "no key",
                    path: path,
                    query: query,
                    status: 401,
                    holds: ["INVALID_API_KEY", "Bearer"]
                )
            )
            await service.play(
                Step(
                    name: "with key",
                    path: path,
                    query: query,
                    fields: service.bearer(.app),
                    status: 400,
                    holds: ["INVALID_FINGERPRINT"]
                )
            )
        }
        let install = service.bearer(.app).merging(["X-Install-ID": "not allowed!"]) { $1 }
        await service.play(
            Step(
                name: "install",
                path: path,
                query: "fingerprint=\(hex)",
                fields: install,
                status: 400,
                holds: ["X-Install-ID"]
            )
        )
        // Names of either case are one field: these are two lines of it.
        for fields in [
            ["X-Install-ID": "phone-1", "x-install-id": "phone-2"],
            ["X-Install-ID": "phone-1", "x-install-id": "phone-1"],
            ["Origin": "https://shop.example", "origin": "https://evil.example"],
        ] {
            let repeated = await service.check(hex, fields: fields)
            #expect(repeated.status == 400)
            #expect(repeated.member("error_code") == "INVALID_FIELD")
            #expect(fields.keys.contains(repeated.member("field") ?? ""))
            #expect(repeated.member("message")?.contains("send one line of it") == true)
        }
        #expect(await service.check(hex).member("status") == "match")
    }

    @Test("an install id that had its match gets it again with any fingerprint, and consumes nothing more")
    func installIDWithAnotherFingerprint() async throws {
        let service = try await TestService()
        let other = String(repeating: "cd", count: 32)
        for (fingerprint, link) in [(hex, "first"), (other, "second")] {
            let body = #"{"fingerprint":"\#(fingerprint)","deeplink_url":"myapp://promo/\#(link)"}"#
            #expect(await service.click(body).status == 201)
        }
        let install = ["X-Install-ID": "phone-1"]
        let first = await service.check(hex, fields: install)
        #expect(first.member("url")?.hasPrefix("myapp://promo/first") == true)
        #expect(await service.check(other, fields: install).text == first.text)
        let second = await service.check(other, fields: ["X-Install-ID": "phone-2"])
        #expect(second.member("url")?.hasPrefix("myapp://promo/second") == true)
    }

    @Test("HEAD never stands for a call that consumes")
    func head() async throws {
        let service = try await TestService()
        await service.play(
            Step(
                name: "HEAD",
                method: .head,
                path: "/v1/deferred-deeplink",
                query: "fingerprint=\(hex)",
                fields: service.bearer(.app),
                status: 405,
                holds: ["GET"]
            )
        )
    }

    @Test("keys of another app never see the click; revoked and expired keys are refused like unknown ones")
    func otherKeys() async throws {
        let service = try await TestService()
        await service.click(#"{"fingerprint":"\#(hex)","deeplink_url":"myapp://promo/item"}"#)
        let other = try await service.addApp(App.Settings(name: "Other"))
        #expect(await service.check(hex, fields: other.bearer).member("status") == "no_match")
        try await service.revoke(other.key)
        let revoked = await service.check(hex, fields: other.bearer)
        let unknown = await service.check(hex, fields: ["Authorization": "Bearer app_unknown"])
        #expect(revoked.status == 401)
        #expect(revoked.text == unknown.text)
        #expect(await service.check(hex, fields: service.bearer(.server)).member("status") == "match")
    }

    @Test("a response whose delivery failed goes to the next check, once, and counts once")
    func failedDelivery() async throws {
        let service = try await TestService(replayGrace: 0)
        await service.click(#"{"fingerprint":"\#(hex)","deeplink_url":"myapp://promo/item"}"#)
        let lost = await service.check(hex)
        await service.deliverLast(.failed)
        let next = await service.check(hex)
        #expect(next.text == lost.text)
        await service.deliverLast(.delivered)
        #expect(await service.check(hex).member("status") == "no_match")
        #expect(try await service.totals()[.matches] == 1)
        #expect(try await service.totals()[.replays] == 1)
    }

    @Test("a repeated response whose delivery fails goes to no other caller, because the first one arrived")
    func failedRepetition() async throws {
        let service = try await TestService()
        await service.click(#"{"fingerprint":"\#(hex)","deeplink_url":"myapp://promo/item"}"#)
        let first = await service.check(hex)
        await service.deliverLast(.delivered)
        #expect(await service.check(hex).text == first.text)
        await service.deliverLast(.failed)
        let stranger = await service.check(hex, fields: ["User-Agent": "Another/1"])
        #expect(stranger.member("status") == "no_match")
        #expect(await service.check(hex).text == first.text)
    }

    @Test("the released clients' other calls get a final response")
    func newerClients() async throws {
        let service = try await TestService()
        for step in [
            Step(
                name: "skan",
                path: "/v1/skan/config",
                query: "bundle_id=com.shop",
                status: 200,
                holds: [#"{"enabled":false}"#]
            ),
            Step(
                name: "ads",
                method: .post,
                path: "/v1/apple-ads/attribution",
                body: "token",
                status: 200,
                holds: [#"{"status":"unsupported"}"#]
            ),
            Step(
                name: "resolve",
                path: "/resolve/SUMMER%2025",
                status: 200,
                holds: [#"{"keyName":"SUMMER 25"}"#],
                lacks: ["_id"]
            ),
            Step(name: "campaign", path: "/campaign/resolve/S", status: 200, holds: [#"{"keyName":"S"}"#]),
            Step(name: "too deep", path: "/resolve/a/b", status: 404, holds: ["NOT_FOUND"]),
        ] {
            await service.play(step)
        }
    }
}
