extension BrowserProfile {
    static let android = androidBrowsers + androidViews

    /// What Chrome sends to every site, and what only to one that asked with `Accept-CH`.
    private static func hints(
        model: String? = nil,
        platformVersion: String? = nil
    ) -> [(name: String, value: String)] {
        [("Sec-CH-UA-Mobile", "?1"), ("Sec-CH-UA-Platform", "\"Android\"")]
            + (model.map { [("Sec-CH-UA-Model", "\"\($0)\"")] } ?? [])
            + (platformVersion.map { [("Sec-CH-UA-Platform-Version", "\"\($0)\"")] } ?? [])
    }

    /// Chrome's reduced agent, which is the same on every phone.
    private static let chrome =
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
        + "Chrome/126.0.0.0 Mobile Safari/537.36"

    private static let androidBrowsers = [
        BrowserProfile(
            name: "chrome-android",
            title: "Chrome, Galaxy A54, Android 14, in India: the page's script asks for the model",
            source: "microlinkhq/top-user-agents src/mobile.json",
            agent: chrome,
            device: "galaxy-a54",
            osVersion: "14",
            screen: (384, 832),
            pixelRatio: 2.8125,
            scriptHints: ("SM-A546E", "14.0.0"),
            fieldHints: hints(),
            person: .kolkata
        ),
        BrowserProfile(
            name: "chrome-android-hints",
            title: "Chrome, Galaxy A54, Android 14, on a site that asked for the model with Accept-CH",
            source: "microlinkhq/top-user-agents src/mobile.json",
            agent: chrome,
            device: "galaxy-a54",
            osVersion: "14",
            screen: (384, 832),
            pixelRatio: 2.8125,
            fieldHints: hints(model: "SM-A546E", platformVersion: "14.0.0")
        ),
        BrowserProfile(
            name: "samsung-internet",
            title: "Samsung Internet 25, Galaxy S23, Android 14",
            source: "microlinkhq/top-user-agents src/mobile.json",
            agent: "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
                + "SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36",
            device: "galaxy-s23",
            osVersion: "14",
            screen: (360, 780),
            pixelRatio: 3,
            scriptHints: ("SM-S911B", "14.0.0"),
            fieldHints: hints()
        ),
        BrowserProfile(
            name: "samsung-internet-11",
            title: "Samsung Internet 11, Galaxy A21s, Android 10: the model is in the agent",
            source: "faisalman/ua-parser-js test/data/ua/device/samsung.json",
            agent: "Mozilla/5.0 (Linux; Android 10; SAMSUNG SM-A217F) AppleWebKit/537.36 "
                + "(KHTML, like Gecko) SamsungBrowser/11.0 Chrome/75.0.3770.143 Mobile Safari/537.36",
            device: "galaxy-a21s",
            osVersion: "10",
            screen: (412, 915),
            pixelRatio: 1.75
        ),
        BrowserProfile(
            name: "firefox-android",
            title: "Firefox, Pixel 8: it tells the model to nobody, so that only a token can find its click",
            source: "naver/egjs-agent issue 16",
            agent: "Mozilla/5.0 (Android 4.4; Mobile; rv:41.0) Gecko/41.0 Firefox/41.0",
            device: "pixel-8",
            osVersion: "14",
            screen: (412, 915),
            pixelRatio: 2.625
        ),
    ]

    private static let androidViews = [
        BrowserProfile(
            name: "webview-android",
            title: "An app's web view, Redmi Note 8 Pro, Android 11, in Israel: Android says iw for Hebrew",
            source: "microlinkhq/top-user-agents src/mobile.json",
            agent: "Mozilla/5.0 (Linux; Android 11; Redmi Note 8 Pro Build/RP1A.200720.011; wv) "
                + "AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/126.0.6478.134 Mobile Safari/537.36",
            device: "redmi-note-8-pro",
            osVersion: "11",
            screen: (393, 851),
            pixelRatio: 2.75,
            person: .jerusalem
        ),
        BrowserProfile(
            name: "instagram-android",
            title: "Instagram's own browser, Pixel 8, Android 14",
            source: "shalanah/inapp-spy src/tests/mobile.ts",
            agent: "Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/AP2A.240905.003; wv) AppleWebKit/537.36 "
                + "(KHTML, like Gecko) Version/4.0 Chrome/130.0.6723.58 Mobile Safari/537.36 Instagram "
                + "355.1.0.44.103 Android (34/14; 420dpi; 1080x2205; Google/google; Pixel 8; shiba; shiba; "
                + "en_US; 658190016)",
            device: "pixel-8",
            osVersion: "14",
            screen: (412, 915),
            pixelRatio: 2.625,
            person: .newYork
        ),
        BrowserProfile(
            name: "facebook-android",
            title: "Facebook's own browser, Pixel 8, Android 14",
            source: "shalanah/inapp-spy src/tests/mobile.ts",
            agent: "Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/AP2A.240905.003; wv) AppleWebKit/537.36 "
                + "(KHTML, like Gecko) Version/4.0 Chrome/130.0.6723.83 Mobile Safari/537.36 "
                + "[FB_IAB/FB4A;FBAV/488.0.0.62.79;IABMV/1;]",
            device: "pixel-8",
            osVersion: "14",
            screen: (412, 915),
            pixelRatio: 2.625
        ),
        BrowserProfile(
            name: "tiktok-android",
            title: "TikTok's own browser, Pixel 7 Pro, Android 15",
            source: "faisalman/ua-parser-js test/data/ua/device/google.json",
            agent:
                "Mozilla/5.0 (Linux; Android 15; Pixel 7 Pro Build/AP4A.250205.002; wv) AppleWebKit/537.36 "
                + "(KHTML, like Gecko) Version/4.0 Chrome/133.0.6943.121 Mobile Safari/537.36 "
                + "musical_ly_2023808030 BytedanceWebview/d8a21c6",
            device: "pixel-7-pro",
            osVersion: "15",
            screen: (412, 892),
            pixelRatio: 3.5
        ),
    ]

    /// Programs that fetch pages and run their scripts, or for which a customer's own page posts a click.
    ///
    /// Everything but the agent is the phone's own: nothing else may be what keeps the click from matching.
    static let robots = [
        BrowserProfile(
            name: "preview-robot",
            title: "The preview of a link in Apple's Messages, on an iPhone 13",
            source: "monperrus/crawler-user-agents crawler-user-agents.json",
            agent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) "
                + "Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0",
            device: "iphone-13",
            osVersion: "17.5.1",
            screen: (390, 844),
            pixelRatio: 3,
            scriptOverrides: ("iPhone", "17.5.1"),
            isRobot: true
        ),
        BrowserProfile(
            name: "googlebot",
            title: "Google's crawler for phones, which runs scripts and calls itself a Nexus 5X",
            source: "developers.google.com/search/docs/crawling-indexing/google-common-crawlers",
            agent: "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 "
                + "(KHTML, like Gecko) Chrome/126.0.6478.153 Mobile Safari/537.36 "
                + "(compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
            device: "nexus-5x",
            osVersion: "6.0.1",
            screen: (412, 732),
            pixelRatio: 2.625,
            person: .newYork,
            isRobot: true
        ),
    ]
}
