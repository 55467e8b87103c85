import Attribution
import Support
import Testing

extension BrowserJourneys {
    @Suite("Without a script")
    struct Scriptless {
        private func visitor(_ name: String) throws -> BrowserVisitor {
            var visitor = try Journey.named(name).visitor
            visitor.runsScript = false
            return visitor
        }

        @Test("an iPhone's store button records the click from the request alone, and opens the store")
        func iPhone() throws {
            let link = try LinkStage.current.link("plainios")
            let tab = try link.visit(by: try visitor("safari"))
            defer { tab.close() }
            try tab.open(link.url + "?utm_source=instagram")
            #expect(try tab.buttons() == "store,open")
            #expect(try link.clicks().isEmpty)
            try tab.tap("store")
            _ = try tab.leaving(to: LinkStage.appStore)
            let click = StagedLink.Click(
                signals: "ios; model=iPhone; os=17.5.1; languages=tr,en; basis=request",
                source: "instagram",
                fingerprintCount: 0,
                isRobot: false
            )
            #expect(try link.clicks() == [click])
            #expect(tab.clickCount == 0)
        }

        @Test("an Android's store button passes the click's token to Google's store: the match is certain")
        func android() throws {
            let stage = try LinkStage.current
            let link = try stage.link("plainandroid")
            let tab = try link.visit(by: try visitor("chrome"))
            defer { tab.close() }
            try tab.open(link.url)
            try tab.tap("store")
            let store = try #require(try tab.leaving(to: LinkStage.playStore).url)
            let click = StagedLink.Click(
                signals: "android; model=SM-A546E; os=14.0.0; languages=hi,en; basis=request",
                source: "direct",
                fingerprintCount: 0,
                isRobot: false
            )
            #expect(try link.clicks() == [click])
            let query = String(try #require(store.split(separator: "?").last))
            let referrer = try #require(QueryItem.value(of: "referrer", inQuery: query))
            let reply = try stage.connect().check(
                fingerprint(1),
                key: stage.installation.keys.app,
                fields: ["X-Install-Referrer": referrer, "X-Device-Platform": "android"]
            )
            #expect(reply.isMatch && reply.json["guaranteed"] as? Bool == true, "\(reply.text)")
            #expect(reply.string("campaignKey") == "plainandroid")
        }
    }
}
