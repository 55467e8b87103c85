import Attribution
import Support
import Testing

extension BrowserJourneys {
    @Suite("From the page to the first launch")
    struct Phones {
        @Test(
            "the page posts the phone's values and continues; the app's hash finds the click",
            arguments: Journey.all
        )
        func journey(_ journey: Journey) throws {
            let stage = try LinkStage.current
            let link = try stage.link(journey.name)
            var visitor = journey.visitor
            // The page must get the response before it continues: an intent URL has the click's token, and a page that
            // continues ends the request whose response this test reads.
            visitor.script += BrowserVisitor.endlessTimers
            let tab = try link.visit(by: visitor)
            defer { tab.close() }
            try tab.open(link.url)
            let click = try tab.click()
            #expect(click.status == 201)
            try expectPage(journey, tab, click)
            let stored = try link.clicks().map(\.signals)
            #expect(stored == [journey.signals])

            let launch = try stage.launch(on: journey.phone, hashing: journey.form)
            #expect(launch.isMatch, "\(launch.text)")
            #expect(launch.string("campaignKey") == journey.name)
            #expect(launch.string("url")?.hasPrefix("shopapp://promo/\(journey.name)") == true)
            #expect(launch.string("attributionMethod") == "fingerprint", "the address is local")
            #expect(tab.complaints.isEmpty)
            #expect(tab.clickCount == 1)
        }

        private func expectPage(_ journey: Journey, _ tab: BrowserTab, _ click: BrowserTab.ToldClick) throws {
            switch journey.next {
            case .appStore: _ = try tab.leaving(to: LinkStage.appStore)
            case .intent:
                let intent = try #require(try tab.leaving(to: "intent://promo/\(journey.name)").url)
                #expect(intent.contains(try #require(click.token)))
            case .wait:
                try tab.awaitEndlessTimers()
                #expect(tab.destinations.isEmpty)
            }
            #expect(try tab.buttons() == journey.buttons)
            #expect(try tab.value(of: "document.documentElement.lang") == journey.pageLanguage)
            let direction = journey.isRightToLeft ? "rtl" : "ltr"
            #expect(try tab.value(of: "getComputedStyle(document.body).direction") == direction)
        }

        @Test("Chrome sends the model with the request for the page, so the script need not send it")
        func criticalHints() throws {
            let stage = try LinkStage.current
            let link = try stage.link("hints")
            var visitor = try Journey.named("chrome").moved(to: "Asia/Dubai").visitor
            visitor.script = "NavigatorUAData.prototype.getHighEntropyValues = () => new Promise(() => {});"
            let tab = try link.visit(by: visitor)
            defer { tab.close() }
            try tab.open(link.url)
            let click = try tab.click()
            let signals = try #require(click.body["signals"] as? [String: Any])
            #expect(signals["uaModel"] == nil && signals["timezone"] as? String == "Asia/Dubai")
            // After Critical-CH, Chrome sends the request again before it shows the page.
            let visits = tab.events("Network.requestWillBeSent").filter { $0.url == link.url }
            #expect(visits.count == 2)
            #expect(
                try link.clicks().map(\.signals) == [
                    "android; model=SM-A546E; os=14.0.0; screen=384x832; scale=2.8125; timezone=Asia/Dubai; languages=hi,en"
                ]
            )
        }
    }
}
