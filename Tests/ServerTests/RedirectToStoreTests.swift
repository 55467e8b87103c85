import Attribution
import Dispatch
import HTTPServer
import Server
import Support
import TestDatabases
import Testing
import Threads

@Suite("A store button without a script")
struct RedirectToStoreTests {
    private func service(_ more: String = "", rateLimits: RateLimits = RateLimits()) async throws
        -> TestService
    {
        let service = try await TestService(LinkScenario.shop, rateLimits: rateLimits)
        try await service.makeLink(
            #"{"slug":"summer25","destination":"/promo/item","campaign_key":"SUMMER","utm_source":"mail"\#(more)}"#
        )
        return service
    }

    /// Returns the referrer that the store passes to the app.
    private func referrer(_ answer: Answer) throws -> String {
        let location = try #require(answer.field("Location"))
        let query = try #require(location.split(separator: "?").last)
        return try #require(QueryItem.value(of: "referrer", inQuery: String(query)))
    }

    @Test("the button records the click from the request alone, and leads to Google's store with the token")
    func play() async throws {
        let service = try await service()
        let answer = await service.open("summer25", Visitors.android, query: "al_go=store&fbclid=1")
        #expect(answer.status == 302)
        #expect(answer.field("Cache-Control") == "no-store")
        let referrer = try referrer(answer)
        #expect(referrer.hasPrefix("al=") && referrer.hasSuffix("&utm_source=mail"))
        let facts = try #require(service.watch.click?.facts)
        #expect(
            facts.platform == .android && facts.rawSource == "mail" && facts.campaignKey?.text == "SUMMER"
        )
        #expect(facts.destination.text == "myapp://promo/item")
        #expect(service.watch.click?.fingerprints.isEmpty == true)
        #expect(service.watch.click?.evidence.canonicalText.flatMap { ClickBasis(suffixOf: $0) } == .request)
        #expect(try await service.totals()[.clicks] == 1)
        let launch = await service.resolve(#"{"referrer":"\#(referrer)"}"#)
        #expect(launch.text.contains(#""attributionMethod":"signed_token""#), "\(launch.text)")
        #expect(launch.flag("guaranteed") == true)
    }

    @Test("the button leads to Apple's store and to the operator's pages, which take no token")
    func others() async throws {
        let service = try await service(
            #","android_fallback":"https://shop.example/get","pass_parameters":["a"]"#
        )
        let apple = await service.open("summer25", query: "al_go=store")
        #expect(apple.field("Location") == "https://apps.apple.com/app/id1234567890")
        let page = await service.open("summer25", Visitors.android, query: "al_go=store&a=%22&b=1")
        #expect(page.field("Location") == "https://shop.example/get?a=%22")
        #expect(try await service.totals()[.clicks] == 2)
        // Without a store, the response is the page itself.
        #expect(await service.open("summer25", Visitors.windows, query: "al_go=store").status == 200)
    }

    @Test("the button records the variant that the page has shown")
    func variant() async throws {
        let service = try await service(
            #","variants":[{"name":"x","weight":1,"destination":"/x"},{"name":"y","weight":1,"destination":"/y"}]"#
        )
        for name in ["x", "y"] {
            service.clock.advance(seconds: 60)
            await service.open("summer25", query: "al_go=store&al_variant=\(name)")
            #expect(service.watch.click?.facts.variant == name)
            #expect(service.watch.click?.facts.destination.text == "myapp://\(name)")
        }
    }

    @Test(
        "the button records no click for robots, programs, previews, prefetching browsers, and invisible frames",
        arguments: [
            ["User-Agent": Visitors.preview], ["User-Agent": "curl/8.5.0"], ["Sec-Purpose": "prefetch"],
            ["Sec-Purpose": "prefetch;prerender"], ["X-Moz": "prefetch"], ["Purpose": "prefetch"],
            ["Sec-Fetch-Mode": "no-cors"], ["Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"],
            ["Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "embed"],
        ]
    )
    func robots(fields: [String: String]) async throws {
        let service = try await service()
        let answer = await service.open("summer25", Visitors.android, query: "al_go=store", fields: fields)
        #expect([200, 302].contains(answer.status))
        #expect(answer.field("Location")?.contains("referrer") != true)
        #expect(service.watch.click == nil)
        #expect(try await service.counted(.robots) == 0)
        let person = ["Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"]
        await service.open("summer25", Visitors.android, query: "al_go=store", fields: person)
        #expect(service.watch.click != nil)
    }

    @Test("the button leads to the store without recording a click if the address has clicked too often")
    func limited() async throws {
        let service = try await service(rateLimits: RateLimits([.clicks], "1/s:1"))
        let moment = MonotonicTime.now()
        for isFirst in [true, false] {
            let fields = ["User-Agent": Visitors.android, "Host": "go.shop.example"]
            let query = "al_go=store"
            let answer = await service.send(.get, "/summer25", query: query, fields: fields, at: moment)
            #expect(answer.status == 302)
            #expect(answer.field("Location")?.contains("referrer") == isFirst)
        }
        #expect(try await service.totals()[.clicks] == 1)
    }

    @Test("the button of a link without remaining clicks gets 410")
    func usedUp() async throws {
        let service = try await service(#","maximum_clicks":1"#)
        #expect(await service.open("summer25", query: "al_go=store").status == 302)
        service.clock.advance(seconds: 60)
        #expect(await service.open("summer25", query: "al_go=store").status == 410)
    }

    @Test("if visitors tap at once while a link has one click left, all but one get 410", .blocking)
    func usedUpMeanwhile() async throws {
        let service = try await service(#","maximum_clicks":1"#)
        let release = service.holdWriter()
        let statuses = await withTaskGroup(of: Int.self) { group in
            for visitor in ["A", "B", "C"] {
                group.addTask {
                    await service.open("summer25", "\(Visitors.iPhone) \(visitor)", query: "al_go=store")
                        .status
                }
            }
            // The same loop handles these requests, so the three taps wait for the writer afterwards.
            for _ in 0..<10 { await service.open("summer25") }
            release.signal()
            return await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses.sorted() == [302, 410, 410])
    }

    @Test(
        "if the link is archived during a tap, the tap's error and log line say so",
        .blocking,
        .enabled(
            if: (try? Backend.chosen()) == .sqlite,
            "On PostgreSQL, a transaction reads the link's end before it writes, so the tap precedes the change."
        )
    )
    func archivedMeanwhile() async throws {
        let service = try await TestService(LinkScenario.shop)
        let link = try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        let release = service.holdWriter()
        // The change waits for the writer before the tap does.
        async let archived = service.admin(.post, "/links/\(link)/archive")
        let isChangeWaiting = await Polling.eventually { service.queueLength == 2 }
        async let tap = service.open("a", query: "al_go=store", fields: ["Accept": "*/*"])
        let isTapWaiting = await Polling.eventually { service.queueLength == 3 }
        release.signal()
        #expect(isChangeWaiting && isTapWaiting)
        #expect(await archived.status == 200)
        let answer = await tap
        #expect(answer.isRefusal(410, "LINK_ENDED"))
        #expect(answer.member("message")?.contains("was archived") == true)
        #expect(service.logLines().contains { $0.contains(#""status":410"#) && $0.contains(#""archived""#) })
    }

    @Test("the button passes the link's own parameters to the store in preference to the tap's")
    func utm() async throws {
        let service = try await service(#","pass_parameters":["utm_source","utm_medium","a"]"#)
        let query = "al_go=store&utm_source=x&utm_medium=y&a=z"
        let referrer = try referrer(await service.open("summer25", Visitors.android, query: query))
        #expect(referrer.hasSuffix("&utm_source=mail&utm_medium=y"))
    }

    @Test("the button leads a visitor with Sec-GPC to the store without a token, and counts the click")
    func store() async throws {
        let service = try await TestService(LinkScenario.shop)
        try await service.makeLink(#"{"slug":"a","destination":"myapp://x"}"#)
        let answer = await service.open("a", Visitors.android, query: "al_go=store", fields: ["Sec-GPC": "1"])
        #expect(answer.field("Location") == "https://play.google.com/store/apps/details?id=com.example.shop")
        #expect(service.watch.click?.evidence.canonicalText == "android; basis=counted")
        #expect(try await service.totals()[.clicks] == 1)
    }
}
