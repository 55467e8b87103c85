import Attribution
import HTTPServer
import JSON
import Server
import Testing

@Suite("Finding the deferred deep link of a first launch")
struct FindDeferredDeepLinkTests {
    private let service: TestService

    init() async throws { service = try await TestService() }

    @Test("the response has every member of the contract, in both spellings and the right JSON types")
    func wholeAnswer() async throws {
        let clickedAt = service.clock.now.iso8601
        let click = await service.click(
            #"{"fingerprint":"\#(hex)","deeplink_url":"myapp://promo/item","campaign_key":"SUMMER25","jid":"j_1","#
                + #""metadata":{"utm_source":"instagram", "n": 1.50}}"#
        )
        let id = try #require(click.member("click_id"))
        service.clock.advance(seconds: 60)
        let reply = await service.check(hex)
        let url = "myapp://promo/item?source=instagram&keyName=SUMMER25&jid=j_1"
        #expect(
            reply.text
                == #"{"status":"match","matched":true,"url":"\#(url)","deeplink_url":"\#(url)","#
                + #""campaignKey":"SUMMER25","campaign_key":"SUMMER25","jid":"j_1","click_id":"\#(id)","#
                + #""clickTimestamp":"\#(clickedAt)","attributionWindow":86400,"#
                + #""attributionMethod":"fingerprint","confidence":0.99,"#
                + #""guaranteed":false,"competingClicks":0,"#
                + #""metadata":{"utm_source":"instagram", "n": 1.50}}"#
        )
    }

    /// Returns the body of a click of an iPhone whose screen has these sides, in points.
    private func iPhone(width: Int = 390, height: Int = 844) -> String {
        #"{"signals":{"model":"iPhone","osVersion":"17_2","screenWidth":\#(width),"screenHeight":\#(height),"#
            + #""pixelRatio":3,"timezone":"Europe/Istanbul","language":"tr-TR"},"deeplink_url":"myapp://promo/item"}"#
    }

    @Test("a click from signals is found by the hash that the device sends")
    func fromSignals() async throws {
        let click = await service.click(iPhone(width: 844, height: 390))
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
        await service.click(iPhone())
        let reply = await service.check(Fingerprint(of: native).hex)
        #expect(reply.member("status") == "match")
        for other in ["iPhone|Europe/Istanbul|tr", "iPhone|1170|Europe/Istanbul|tr"] {
            // The click is consumed under all its fingerprints.
            let again = await service.check(Fingerprint(of: other).hex, fields: ["User-Agent": "another"])
            #expect(again.member("status") == "no_match")
        }
    }

    @Test("an Android phone whose browser hides the model is found by its client hints")
    func clientHints() async throws {
        let hints = ["Sec-CH-UA-Platform": "\"Android\"", "Sec-CH-UA-Model": "\"Pixel 9\""]
        let click = await service.click(
            #"{"signals":{"screenWidth":412,"screenHeight":915,"pixelRatio":2.625,"#
                + #""timezone":"Europe/Istanbul","language":"tr-TR"},"deeplink_url":"myapp://promo/item"}"#,
            fields: hints.merging(["User-Agent": Visitors.android]) { $1 }
        )
        #expect(click.status == 201, "\(click.text)")
        let reply = await service.check(Fingerprint(of: "Pixel 9|1080|Europe/Istanbul|tr").hex)
        #expect(reply.member("status") == "match")
    }

    @Test("a click is found by the browser's first language, and by the next one if the app lacks the first")
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

    @Test("malformed requests are refused only after their key is accepted, and consume nothing")
    func refusals() async throws {
        await service.click()
        let path = "/v1/deferred-deeplink"
        for query in [
            nil, "", "fingerprint=", "fingerprint=abc", "fingerprint=\(hex)0", "Fingerprint=\(hex)",
            "fingerprint=\(hex)&fingerprint=\(hex)", "fingerprint=\(hex)&idfa=1&fingerprint=abc",
        ] {
            let stranger = await service.send(.get, path, query: query)
            #expect(stranger.isRefusal(401, "INVALID_API_KEY") && stranger.text.contains("Bearer"))
            let client = await service.send(.get, path, query: query, fields: service.bearer(.app))
            #expect(client.isRefusal(400, "INVALID_FINGERPRINT"), "\(client.text)")
        }
        let install = await service.check(hex, fields: ["X-Install-ID": "not allowed!"])
        #expect(install.isRefusal(400, "INVALID_FIELD", field: "X-Install-ID"), "\(install.text)")
        // Field names ignore case, so these are two lines of one field.
        for fields in [
            ["X-Install-ID": "phone-1", "x-install-id": "phone-2"],
            ["X-Install-ID": "phone-1", "x-install-id": "phone-1"],
            ["Origin": "https://shop.example", "origin": "https://evil.example"],
        ] {
            let repeated = await service.check(hex, fields: fields)
            #expect(repeated.isRefusal(400, "INVALID_FIELD"), "\(repeated.text)")
            #expect(fields.keys.contains(repeated.member("field") ?? ""))
            #expect(repeated.member("message")?.contains("send one line of it") == true)
        }
        #expect(await service.check(hex).member("status") == "match")
    }

    @Test("HEAD gets 405 instead of a check")
    func head() async throws {
        let (path, query) = ("/v1/deferred-deeplink", "fingerprint=\(hex)")
        let head = await service.send(.head, path, query: query, fields: service.bearer(.app))
        #expect(head.status == 405 && head.field("Allow")?.contains("GET") == true)
    }

    @Test("a response whose delivery failed goes to the next check, once, and counts once")
    func failedDelivery() async throws {
        let service = try await TestService(replayGrace: 0)
        await service.click()
        let lost = await service.check(hex)
        await service.deliverLast(.failed)
        let next = await service.check(hex)
        #expect(next.text == lost.text)
        await service.deliverLast(.delivered)
        #expect(await service.check(hex).member("status") == "no_match")
        #expect(try await service.totals()[.matches] == 1)
        #expect(try await service.totals()[.replays] == 1)
    }

    @Test("a repeated response whose delivery fails goes to no other caller: the first response arrived")
    func failedRepetition() async throws {
        await service.click()
        let first = await service.check(hex)
        await service.deliverLast(.delivered)
        #expect(await service.check(hex).text == first.text)
        await service.deliverLast(.failed)
        let stranger = await service.check(hex, fields: ["User-Agent": "Another/1"])
        #expect(stranger.member("status") == "no_match")
        #expect(await service.check(hex).text == first.text)
    }
}
