import Attribution
import Testing

/// User agents of visitors, as browsers and apps send them.
enum SeenVisitors {
    static let iPhone =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"
    static let iPad =
        "Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"
    static let mac =
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15"
    static let chromeOnMac =
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"
    static let windows =
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"
    static let android =
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36"
    static let harmony =
        "Mozilla/5.0 (Phone; OpenHarmony 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/114.0.0.0 Safari/537.36 ArkWeb/4.1.6.1 Mobile"
    static let olderHarmony =
        "Mozilla/5.0 (Linux; Android 10; HarmonyOS; BAH3-W09; HMSCore 6.14.0.322) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/114.0.5735.196 HuaweiBrowser/15.0.4.312 Mobile Safari/537.36"
    static let huaweiBrowser =
        "Mozilla/5.0 (Linux; Android 9; ELE-L29; HMSCore 6.1.0.305) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/88.0.4324.93 HuaweiBrowser/11.1.5.304 Mobile Safari/537.36"

    private static let iosView =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    private static let androidView =
        "Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/AP2A.240905.003; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/130.0.6723.58 Mobile Safari/537.36 "

    static let instagramOnIOS =
        iosView
        + "Mobile/22B83 Instagram 354.0.0.29.90 (iPhone12,8; iOS 18_1; en_US; en; scale=2.00; 750x1334; 654111336; IABMV/1)"
    static let facebookOnIOS =
        iosView
        + "Mobile/22B83 [FBAN/FBIOS;FBAV/488.0.0.68.101;FBBV/658219612;FBDV/iPhone12,8;FBMD/iPhone;FBSN/iOS;FBSV/18.1;FBSS/2;FBID/phone;FBLC/en_US]"
    static let messengerOnIOS =
        iosView + "Mobile/14D27 [FBAN/MessengerForiOS;FBAV/117.0.0.36.70;FBDV/iPhone7,2;FBSV/18.1;FBSS/2]"
    static let tikTokOnIOS =
        iosView
        + "Mobile/15E148 BytedanceWebview/d8a21c6 musical_ly_33.2.1 JsSdk/2.0 NetType/WIFI Channel/App Store ByteLocale/en Region/US"
    static let xOnIOS = iosView + "Mobile/15A372 Twitter for iPhone/7.52"
    static let linkedInOnIOS = iosView + "Mobile/15E148 [LinkedInApp]/9.30.1753"
    static let lineOnIOS = iosView + "Mobile/14D27 Safari Line/7.3.2"
    static let weChatOnIOS = iosView + "Mobile/14D27 MicroMessenger/6.5.8 NetType/WIFI Language/zh_CN"
    static let snapchatOnIOS =
        iosView + "Version/17.3.1 Mobile/15E148 Snapchat/12.72.0.39 (like Safari/8617.2.4.10.8, panda)"
    static let googleOnIOS = iosView + "GSA/334.0.674067880 Mobile/15E148 Safari/604.1"
    /// Gmail shows links in the system's own view, whose agent is Safari's.
    static let gmailOnIOS = iosView + "Version/18.1 Mobile/15E148 Safari/604.1"

    static let instagramOnAndroid =
        androidView + "Instagram 355.1.0.44.103 Android (34/14; 420dpi; 1080x2205; Google/google; Pixel 8)"
    static let facebookOnAndroid = androidView + "[FB_IAB/FB4A;FBAV/488.0.0.68.101;]"
    static let threadsOnAndroid =
        androidView + "Barcelona 355.0.0.39.109 Android (34/14; 420dpi; 1080x2205; Google/google; Pixel 8)"
    static let tikTokOnAndroid =
        androidView + "musical_ly_2023303040 JsSdk/1.0 NetType/WIFI Channel/googleplay AppName/musical_ly"
    static let xOnAndroid = androidView + "TwitterAndroid"
    static let linkedInOnAndroid = androidView + "[LinkedInApp]"
    static let lineOnAndroid = androidView + "Line/14.18.1/IAB"
    static let weChatOnAndroid = androidView + "MicroMessenger/6.5.7.1041 NetType/WIFI Language/zh_TW"
    static let snapchatOnAndroid = androidView + "Snapchat/12.72.0.39"
    /// Gmail opens the system's browser, whose agent is Chrome's.
    static let gmailOnAndroid = android
    static let viewOnAndroid = androidView
}

@Suite("Visitors of a link")
struct LinkVisitorTests {
    @Test(
        "use a phone, a tablet or a computer according to their user agent, and a Mac may be an iPad",
        arguments: [
            (SeenVisitors.iPhone, .iPhone, .ios), (SeenVisitors.iPad, .iPad, .ios),
            (SeenVisitors.mac, .macOrIPad, .other), (SeenVisitors.chromeOnMac, .macOrIPad, .other),
            (SeenVisitors.windows, .desktop, .other), (SeenVisitors.android, .android, .android),
            (SeenVisitors.harmony, .harmony, .android), (SeenVisitors.olderHarmony, .harmony, .android),
            (SeenVisitors.huaweiBrowser, .android, .android), (SeenVisitors.instagramOnIOS, .iPhone, .ios),
            (SeenVisitors.instagramOnAndroid, .android, .android), ("", .desktop, .other),
            ("curl/8.5.0", .desktop, .other),
            ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", .desktop, .other),
        ] as [(String, LinkVisitor.Device, Platform)]
    )
    func device(agent: String, device: LinkVisitor.Device, platform: Platform) {
        let visitor = LinkVisitor(VisitHeaders(userAgent: agent))
        #expect(visitor.device == device)
        #expect(visitor.platform == platform)
    }

    @Test(
        "use a computer if client hints name a computer's system, and an Android device if hints name Android"
    )
    func hints() {
        func device(_ agent: String, _ platform: String) -> LinkVisitor.Device {
            var headers = VisitHeaders(userAgent: agent)
            headers.hints.platform = platform
            return LinkVisitor(headers).device
        }
        #expect(device(SeenVisitors.chromeOnMac, "macOS") == .desktop)
        #expect(device("Mozilla/5.0 (X11; Linux x86_64) Chrome/126.0.0.0", "Android") == .android)
        #expect(device(SeenVisitors.windows, "Windows") == .desktop)
    }

    @Test(
        "open apps and leave an in-app browser in the ways that work there",
        arguments: [
            (SeenVisitors.instagramOnIOS, .byTap, .safari), (SeenVisitors.facebookOnIOS, .byTap, .safari),
            (SeenVisitors.messengerOnIOS, .never, .safari), (SeenVisitors.tikTokOnIOS, .never, .safari),
            (SeenVisitors.xOnIOS, .byTap, .safari), (SeenVisitors.linkedInOnIOS, .byTap, .safari),
            (SeenVisitors.lineOnIOS, .byTap, .parameter), (SeenVisitors.weChatOnIOS, .never, nil),
            (SeenVisitors.snapchatOnIOS, .never, nil), (SeenVisitors.googleOnIOS, .byTap, .safari),
            (SeenVisitors.instagramOnAndroid, .byItself, .intent),
            (SeenVisitors.facebookOnAndroid, .byItself, .intent),
            (SeenVisitors.threadsOnAndroid, .never, nil), (SeenVisitors.tikTokOnAndroid, .never, nil),
            (SeenVisitors.xOnAndroid, .byTap, .intent), (SeenVisitors.linkedInOnAndroid, .byTap, .intent),
            (SeenVisitors.lineOnAndroid, .byItself, .parameter), (SeenVisitors.weChatOnAndroid, .never, nil),
            (SeenVisitors.snapchatOnAndroid, .byTap, .intent), (SeenVisitors.viewOnAndroid, .byTap, .intent),
        ] as [(String, InAppBrowser.Opening, InAppBrowser.WayOut?)]
    )
    func inApp(agent: String, opening: InAppBrowser.Opening, wayOut: InAppBrowser.WayOut?) throws {
        let visitor = LinkVisitor(VisitHeaders(userAgent: agent))
        let browser = try #require(InAppBrowser(visitor.browser, on: visitor.device))
        #expect(browser.opensApps == opening)
        #expect(browser.wayOut == wayOut)
    }

    @Test(
        "who use the system's browser or Gmail are in no in-app browser",
        arguments: [
            SeenVisitors.iPhone, SeenVisitors.android, SeenVisitors.gmailOnIOS, SeenVisitors.gmailOnAndroid,
            SeenVisitors.windows, SeenVisitors.huaweiBrowser,
        ]
    )
    func system(agent: String) {
        let visitor = LinkVisitor(VisitHeaders(userAgent: agent))
        #expect(InAppBrowser(visitor.browser, on: visitor.device) == nil)
    }

    @Test("keep the page's address when they leave an in-app browser")
    func waysOut() {
        let page = "https://go.shop.example/summer25"
        #expect(InAppBrowser.WayOut.safari.url(of: page) == "x-safari-https://go.shop.example/summer25")
        let intent = "intent://go.shop.example/summer25?a=1#Intent;scheme=https;end"
        #expect(InAppBrowser.WayOut.intent.url(of: page + "?a=1") == intent)
        #expect(InAppBrowser.WayOut.parameter.url(of: page) == page + "?openExternalBrowser=1")
        #expect(InAppBrowser.WayOut.parameter.url(of: page + "?a=1") == page + "?a=1&openExternalBrowser=1")
    }
}
