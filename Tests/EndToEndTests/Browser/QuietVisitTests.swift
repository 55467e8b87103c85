import Attribution
import Support
import Testing

extension BrowserJourneys {
    @Suite("Visits that are no clicks, or clicks without the phone's values")
    struct Quiet {
        private static let blog = "https://blog.example/"

        private func chrome(_ pages: [String: String] = [:]) throws -> BrowserVisitor {
            var visitor = try Journey.named("chrome").visitor
            for (url, text) in pages { visitor.pages[url] = .file(type: "text/html", text: text) }
            return visitor
        }

        @Test("a browser that prefetches, loads the link as a picture, or requests its head makes no click")
        func lookingAhead() throws {
            let link = try LinkStage.current.link("ahead")
            let store = "\(link.url)?al_go=store"
            let page = """
                <!doctype html><link rel="prefetch" href="\(link.url)?a=1"><link rel="prefetch" href="\(store)&a=2">
                <img src="\(store)&a=3"><img src="\(link.url)?a=4">
                """
            let tab = try link.visit(by: try chrome([Self.blog: page]))
            defer { tab.close() }
            try tab.open(Self.blog)
            for number in 1...4 {
                let request = try tab.event("Network.requestWillBeSent") {
                    $0.url?.hasSuffix("a=\(number)") == true
                }
                // The response is a page, or a redirect to a store that cannot be reached.
                _ = try tab.event(where: { message in
                    ["Network.loadingFinished", "Network.loadingFailed", "Network.responseReceived"]
                        .contains(message.name)
                        && message.string("requestId") == request.string("requestId")
                })
            }
            let purposes = tab.events("Network.requestWillBeSentExtraInfo")
                .compactMap { $0.string("headers", "Sec-Purpose") }
            #expect(purposes.contains("prefetch"))
            try tab.value(
                of: "fetch('\(store)&a=5', { method: 'HEAD', mode: 'no-cors' }).then(() => '', () => '')"
            )
            #expect(try link.clicks().isEmpty)
            #expect(try link.counted("clicks") == 0)
            #expect(try link.counted("robots") == 0)
        }

        @Test("a prerendered page posts its click when it becomes visible, and opens nothing before")
        func prerendered() throws {
            let link = try LinkStage.current.link("prerender")
            let rules = #"{"prerender":[{"urls":["/prerender"],"eagerness":"immediate"}]}"#
            let front = "<!doctype html><script type=\"speculationrules\">\(rules)</script>"
            var visitor = try chrome(["\(LinkStage.origin)/front": front])
            // Under DevTools, Chromium fetches the page and does not prerender it: the test imitates the rest.
            visitor.script = """
                var isAhead = true;
                Object.defineProperty(Document.prototype, 'prerendering', { get: () => isAhead });
                function show() { isAhead = false; document.dispatchEvent(new Event('prerenderingchange')); }
                """
            let tab = try link.visit(by: visitor)
            defer { tab.close() }
            try tab.open("\(LinkStage.origin)/front")
            let ahead = try tab.event("Network.requestWillBeSent") { $0.url == link.url }
            let fields = try tab.event("Network.requestWillBeSentExtraInfo") {
                $0.string("requestId") == ahead.string("requestId")
            }
            #expect(fields.string("headers", "Sec-Purpose") == "prefetch;prerender")
            try tab.open(link.url)
            try tab.outwait()
            #expect(tab.clickCount == 0 && tab.destinations.isEmpty)
            try tab.value(of: "show()")
            #expect(try tab.click().status == 201)
            _ = try tab.leaving(to: "intent:")
            #expect(try link.clicks().count == 1)
        }

        @Test("a visitor who opts out of tracking is counted, and no value of the phone is sent or stored")
        func privacyControl() throws {
            let stage = try LinkStage.current
            let link = try stage.link("gpc")
            let journey = try Journey.named("chrome").moved(to: "Asia/Almaty")
            var visitor = journey.visitor
            visitor.fields = ["Sec-GPC": "1"]
            visitor.script =
                "Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { get: () => true });"
            let tab = try link.visit(by: visitor)
            defer { tab.close() }
            try tab.open(link.url)
            let click = try tab.click()
            #expect(click.status == 201 && click.token == nil)
            #expect(Set(click.body.keys) == ["idempotency_key", "link", "consent"])
            let intent = try #require(try tab.leaving(to: "intent:").url)
            #expect(!intent.contains("al=") && !intent.contains("referrer"))
            let counted = StagedLink.Click(
                signals: "android; basis=counted",
                source: "direct",
                fingerprintCount: 0,
                isRobot: false
            )
            #expect(try link.clicks() == [counted])
            #expect(try link.counted("clicks") == 1)
            #expect(try stage.launch(on: journey.phone, hashing: .c).isNoMatch)
        }

        @Test("a page on another host posts its click by the collecting script, and the launch finds it")
        func elsewhere() throws {
            let stage = try LinkStage.current
            let link = try stage.link("elsewhere")
            let page = """
                <!doctype html><p id="answer-text"></p><script src="\(LinkStage.origin)/v1/collector.js"></script><script>
                afterlink.click({ link: 'elsewhere', metadata: { page: 'blog' } }).then(function (answer) {
                document.getElementById('answer-text').textContent = answer ? answer.token : 'nothing'; });</script>
                """
            let tooLong = String(repeating: "x", count: 513)
            let journey = try Journey.named("safari").moved(to: "Asia/Baku")
            var visitor = journey.visitor
            visitor.pages[Self.blog] = .file(type: "text/html", text: page)
            let tab = try link.visit(by: visitor)
            defer { tab.close() }
            try tab.open(Self.blog + "?utm_source=x&gclid=A%2Fb%2Bc&tblci=a+b&fbclid=%ff&dclid=\(tooLong)")
            let click = try tab.click()
            #expect(click.status == 201 && click.token != nil)
            #expect(click.body["click_ids"] as? [String: String] == ["gclid": "A/b+c", "tblci": "a+b"])
            #expect(tab.complaints.isEmpty)
            let preflights = tab.events("Network.requestWillBeSent").filter {
                $0.string("request", "method") == "OPTIONS"
            }
            #expect(preflights.isEmpty, "the browser sends no preflight")
            let launch = try stage.launch(on: journey.phone, hashing: .d)
            #expect(launch.isMatch && launch.string("campaignKey") == "elsewhere", "\(launch.text)")
            #expect((launch.json["metadata"] as? [String: Any])?["page"] as? String == "blog")
        }
    }
}
