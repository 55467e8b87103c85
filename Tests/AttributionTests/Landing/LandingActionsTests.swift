import Attribution
import Testing

@Suite("Actions of a landing page")
struct LandingActionsTests {
    private static let appStore = "https://apps.apple.com/app/id1234567890"
    private static let playStore = "https://play.google.com/store/apps/details?id=com.example.shop"
    private static let gallery = "https://appgallery.huawei.com/app/C100"

    private static let app: AppLinks = {
        var links = AppLinks()
        links.apple.scheme = "myapp"
        links.apple.appStoreID = 1_234_567_890
        links.android.scheme = "myapp"
        links.android.package = "com.example.shop"
        return links
    }()

    private static func page(_ text: String) -> WebURL? { WebURL(stored: text) }

    private func handOver(
        _ agent: String,
        to target: String? = "myapp://promo/item?a=1",
        in app: AppLinks = LandingActionsTests.app,
        _ change: (inout Link.Settings) -> Void = { _ in }
    ) -> LandingActions {
        var settings = Link.Settings()
        change(&settings)
        return LandingActions(
            LinkVisitor(VisitHeaders(userAgent: agent)),
            of: settings,
            to: target.map { DeepLinkURL(stored: $0) },
            in: app
        )
    }

    @Test(
        "go to the store at once in an iPhone's or iPad's browser, where an installed app would have opened",
        arguments: [SeenVisitors.iPhone, SeenVisitors.iPad, SeenVisitors.gmailOnIOS]
    )
    func apple(agent: String) {
        let handOver = handOver(agent)
        #expect(handOver.next == .store)
        #expect(handOver.storeURL == Self.appStore)
        #expect(handOver.store == .appStore)
        #expect(handOver.openURL == "myapp://promo/item?a=1")
        #expect(handOver.playPackage == nil && handOver.intentURL == nil && !handOver.showsCode)
    }

    @Test("open the app on Android, which falls back to the store by itself")
    func android() {
        let handOver = handOver(SeenVisitors.android)
        #expect(handOver.next == .open)
        #expect(handOver.storeURL == Self.playStore)
        #expect(handOver.store == .googlePlay)
        #expect(handOver.playPackage == "com.example.shop")
        let intent = "scheme=myapp;package=com.example.shop;S.browser_fallback_url={fallback};end"
        #expect(handOver.intentURL == "intent://promo/item?a=1#Intent;\(intent)")
    }

    @Test("keep a link's fragment in an intent, and name no package unless the app has one")
    func intents() {
        var nameless = Self.app
        nameless.android.package = nil
        let web = handOver(SeenVisitors.android, to: "https://shop.example/a?b#c;d", in: nameless)
        let intent = "#Intent;scheme=https;S.browser_fallback_url={fallback};end"
        #expect(web.intentURL == "intent://shop.example/a?b#c;d" + intent)
        let without = handOver(SeenVisitors.android, in: nameless)
        #expect(without.storeURL == nil && without.store == nil && without.playPackage == nil)
        #expect(handOver(SeenVisitors.android, to: nil).next == .store)
        #expect(handOver(SeenVisitors.iPhone, in: AppLinks()).next == .wait)
    }

    @Test(
        "wait for a tap in an in-app browser, unless the browser opens apps by itself",
        arguments: [
            (SeenVisitors.instagramOnIOS, .wait), (SeenVisitors.facebookOnIOS, .wait),
            (SeenVisitors.tikTokOnIOS, .wait), (SeenVisitors.weChatOnIOS, .wait),
            (SeenVisitors.instagramOnAndroid, .open), (SeenVisitors.facebookOnAndroid, .open),
            (SeenVisitors.lineOnAndroid, .open), (SeenVisitors.tikTokOnAndroid, .wait),
            (SeenVisitors.weChatOnAndroid, .wait), (SeenVisitors.viewOnAndroid, .wait),
        ] as [(String, LandingActions.NextStep)]
    )
    func inApp(agent: String, next: LandingActions.NextStep) {
        let handOver = handOver(agent)
        #expect(handOver.next == next)
        #expect(handOver.inApp != nil)
        #expect(handOver.storeURL != nil)
    }

    @Test("wait for a tap if the pasteboard carries the token, but not if Google's store does")
    func pasteboard() {
        #expect(handOver(SeenVisitors.iPhone) { $0.usesPasteboard = true }.next == .wait)
        #expect(handOver(SeenVisitors.android) { $0.usesPasteboard = true }.next == .open)
        let other = handOver(SeenVisitors.android) {
            $0.usesPasteboard = true
            $0.fallbacks.android = Self.page("https://shop.example/get")
        }
        #expect(other.next == .wait)
    }

    @Test("prefer the link's fallback to the app's, and both fallbacks to the store")
    func fallbacks() {
        var app = Self.app
        app.fallbacks.ios = Self.page("https://shop.example/ios")
        app.fallbacks.android = Self.page("https://shop.example/android")
        app.fallbacks.huawei = Self.page(Self.gallery)
        #expect(handOver(SeenVisitors.iPhone, in: app).storeURL == "https://shop.example/ios")
        #expect(handOver(SeenVisitors.iPhone, in: app).store == .page)
        let android = handOver(SeenVisitors.android, in: app)
        #expect(android.storeURL == "https://shop.example/android")
        #expect(android.playPackage == nil)
        for agent in [SeenVisitors.harmony, SeenVisitors.olderHarmony, SeenVisitors.huaweiBrowser] {
            let huawei = handOver(agent, in: app)
            #expect(huawei.storeURL == Self.gallery)
            #expect(huawei.store == .other)
        }
        let own = handOver(SeenVisitors.iPhone, in: app) {
            $0.fallbacks.ios = Self.page("https://shop.example/own")
        }
        #expect(own.storeURL == "https://shop.example/own")
        #expect(handOver(SeenVisitors.huaweiBrowser).storeURL == Self.playStore)
        let store = handOver(SeenVisitors.iPhone) { $0.fallbacks.ios = Self.page(Self.appStore + "?ct=x") }
        #expect(store.store == .appStore)
    }

    @Test("show a QR code on a computer, or lead to the desktop page if there is one")
    func desktop() {
        let code = handOver(SeenVisitors.windows)
        #expect(code.showsCode && code.next == .wait)
        #expect(code.openURL == nil && code.storeURL == nil && code.tabletStoreURL == nil)
        let page = handOver(SeenVisitors.windows) {
            $0.fallbacks.desktop = Self.page("https://shop.example/")
        }
        #expect(!page.showsCode && page.next == .store)
        #expect(page.storeURL == "https://shop.example/" && page.store == .page)
    }

    @Test(
        "for a Mac's agent include a computer's and a tablet's, because the page's script decides which it is"
    )
    func macOrIPad() {
        let code = handOver(SeenVisitors.mac)
        #expect(code.showsCode && code.next == .wait)
        #expect(code.openURL == "myapp://promo/item?a=1")
        #expect(code.tabletStoreURL == Self.appStore)
        let page = handOver(SeenVisitors.mac) { $0.fallbacks.desktop = Self.page("https://shop.example/") }
        #expect(page.storeURL == "https://shop.example/" && page.tabletStoreURL == Self.appStore)
        #expect(page.next == .store)
    }
}
