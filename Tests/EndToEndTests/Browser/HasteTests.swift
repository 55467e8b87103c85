import Support
import Testing

extension BrowserJourneys {
    @Suite("A hurried visitor")
    struct PageDeadlines {
        private static let clicks = "\(LinkStage.origin)/v1/deferred-deeplink/click"
        /// A script that records the length of each timer.
        private static let timers = """
            window.timers = []; const set = window.setTimeout;
            window.setTimeout = function (action, time) { timers.push(time); return set(action, time); };
            """

        private func visitor(_ name: String, clicks: OutsidePage? = nil) throws -> BrowserVisitor {
            var visitor = try Journey.named(name).moved(to: "Pacific/Auckland").visitor
            visitor.pages[Self.clicks] = clicks
            return visitor
        }

        @Test(
            "the page continues 300 ms after it has posted the click, if there is no response",
            arguments: [("safari", LinkStage.appStore), ("chrome", "intent:")]
        )
        func unanswered(name: String, destination: String) throws {
            let link = try LinkStage.current.link("slow\(name)")
            var visitor = try visitor(name, clicks: .silence)
            visitor.script += Self.timers
            let tab = try link.visit(by: visitor)
            defer { tab.close() }
            try tab.open(link.url)
            let sent = try tab.clickRequest()
            let left = try tab.leaving(to: destination)
            #expect(sent.number < left.number)
            let answers = tab.events("Network.responseReceived").filter { $0.url == Self.clicks }
            #expect(answers.isEmpty)
            // The page sets its timers in any order; the longest waits 300 ms for the response.
            let timers = try tab.value(of: "timers.join()").split(separator: ",").compactMap { Int($0) }
            #expect(timers.contains(300) && timers.allSatisfy { $0 <= 300 }, "\(timers)")
            #expect(try tab.value(of: "document.getElementById('store').href").hasPrefix("https://"))
            #expect(tab.complaints.isEmpty)
        }

        @Test("if the click cannot be posted, the page continues, and every button avoids the server")
        func unreachable() throws {
            let link = try LinkStage.current.link("unreachable")
            let tab = try link.visit(by: try visitor("chrome", clicks: .unreachable))
            defer { tab.close() }
            try tab.open(link.url)
            let intent = try #require(try tab.leaving(to: "intent:").url)
            #expect(intent.contains("S.browser_fallback_url=https%3A%2F%2Fplay.google.com%2F"))
            #expect(!intent.contains("al=") && !intent.contains("referrer"))
            #expect(try tab.value(of: "document.getElementById('store').href") == LinkStage.playStore)
            #expect(try link.clicks().isEmpty)
        }

        @Test("a visit counts as a click even if it ends before the browser has revealed the phone's model")
        func leaves() throws {
            let link = try LinkStage.current.link("leaves")
            var visitor = try visitor("chrome")
            // The page never gets the model, and its timers never end.
            visitor.script = """
                NavigatorUAData.prototype.getHighEntropyValues = () => new Promise(() => {});
                window.setTimeout = () => 0;
                """
            let tab = try link.visit(by: visitor)
            defer { tab.close() }
            try tab.open(link.url)
            #expect(tab.clickCount == 0)
            // The test imitates leaving, because a page that is really left no longer appears as a phone.
            try tab.value(of: "window.dispatchEvent(new Event('pagehide')); ''")
            let request = try tab.clickRequest()
            #expect(request.string("type") == "Ping", "a Ping outlives the page")
            let isStored = try Polling.until { try link.clicks().count == 1 }
            #expect(isStored)
            let signals = try link.clicks().first?.signals
            #expect(signals?.hasPrefix("android; model=SM-A546E;") == true)
        }

        @Test("after a return from the store, the app's button is first, and a reload is the same visit")
        func returning() throws {
            let link = try LinkStage.current.link("returning")
            let tab = try link.visit(by: try visitor("safari"))
            defer { tab.close() }
            try tab.open(link.url)
            let click = try tab.click()
            _ = try tab.leaving(to: LinkStage.appStore)
            try tab.outwait()
            #expect(try tab.buttons() == "store,open")
            try tab.whileHidden {
                let buttons = try tab.buttons()
                #expect(buttons == "store,open")
            }
            #expect(try tab.buttons() == "open,store")

            try tab.call("Page.reload")
            let again = try tab.event("Network.responseReceived") { message in
                message.url == Self.clicks && message.value("response", "status") as? Int == 200
            }
            #expect(again.number > click.request.number)
            try tab.outwait()
            #expect(try tab.buttons() == "open,store")
            #expect(tab.clickCount == 2 && tab.destinations.count == 1, "the page opens nothing")
            #expect(try link.clicks().count == 1)
        }
    }
}
