extension BrowserProfile {
    static let iOS = safari + otherBrowsers + inApp

    private static let safari = [
        BrowserProfile(
            name: "safari-ios-26",
            title: "Safari, iPhone 16 Pro, iOS 26.4.1: the token is frozen, Version/ tells",
            source: "shalanah/inapp-spy src/tests/mobile.ts",
            agent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 "
                + "(KHTML, like Gecko) Version/26.4 Mobile/15E148 Safari/604.1",
            device: "iphone-16-pro",
            osVersion: "26.4.1",
            screen: (402, 874),
            pixelRatio: 3
        ),
        BrowserProfile(
            name: "safari-ios-26.0",
            title: "Safari, iPhone 15 Pro, iOS 26.0.1: another frozen token",
            source: "ua-parser/uap-java issue 96",
            agent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 "
                + "(KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1",
            device: "iphone-15-pro",
            osVersion: "26.0.1",
            screen: (393, 852),
            pixelRatio: 3
        ),
        BrowserProfile(
            name: "safari-ios-18",
            title: "Safari, iPhone SE, iOS 18.1",
            source: "shalanah/inapp-spy src/tests/mobile.ts",
            agent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 "
                + "(KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
            device: "iphone-se",
            osVersion: "18.1",
            screen: (375, 667),
            pixelRatio: 2
        ),
        BrowserProfile(
            name: "safari-ios-17",
            title: "Safari, iPhone 13, iOS 17.5.1",
            source: "microlinkhq/top-user-agents src/mobile.json",
            agent: "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 "
                + "(KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
            device: "iphone-13",
            osVersion: "17.5.1",
            screen: (390, 844),
            pixelRatio: 3
        ),
        BrowserProfile(
            name: "safari-ipad",
            title: "Safari, iPad Air, iPadOS 18.5, in desktop dress: it calls itself a Macintosh",
            source: "vaadin/framework pull request 12659",
            agent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 "
                + "(KHTML, like Gecko) Version/18.5 Safari/605.1.15",
            device: "ipad-air",
            osVersion: "18.5",
            screen: (820, 1180),
            pixelRatio: 2
        ),
    ]

    private static let otherBrowsers = [
        BrowserProfile(
            name: "chrome-ios",
            title: "Chrome, iPhone 13, iOS 17.5.1: the agent hides the patch",
            source: "microlinkhq/top-user-agents src/mobile.json",
            agent: "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 "
                + "(KHTML, like Gecko) CriOS/126.0.6478.153 Mobile/15E148 Safari/604.1",
            device: "iphone-13",
            osVersion: "17.5.1",
            screen: (390, 844),
            pixelRatio: 3
        ),
        BrowserProfile(
            name: "firefox-ios",
            title: "Firefox, iPhone SE, iOS 18.1.1, in Kyiv: browser and app name the zone differently",
            source: "shalanah/inapp-spy src/tests/mobile.ts",
            agent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 "
                + "(KHTML, like Gecko) FxiOS/130.1  Mobile/15E148 Safari/605.1.15",
            device: "iphone-se",
            osVersion: "18.1.1",
            screen: (375, 667),
            pixelRatio: 2,
            person: .kyiv
        ),
    ]

    private static let inApp = [
        BrowserProfile(
            name: "instagram-ios",
            title: "Instagram's own browser, iPhone 14 Pro Max, iOS 18.5",
            source: "shalanah/inapp-spy src/tests/mobile.ts",
            agent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 "
                + "(KHTML, like Gecko) Mobile/22F76 Instagram 393.1.0.36.70 (iPhone15,3; iOS 18_5; en_US; en; "
                + "scale=3.00; 1290x2796; IABMV/1; 776538208) Safari/604.1)",
            device: "iphone-14-pro-max",
            osVersion: "18.5",
            screen: (430, 932),
            pixelRatio: 3,
            person: .newYork
        ),
        BrowserProfile(
            name: "facebook-ios",
            title: "Facebook's own browser, iPhone SE, iOS 18.1",
            source: "shalanah/inapp-spy src/tests/mobile.ts",
            agent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 "
                + "(KHTML, like Gecko) Mobile/22B83 [FBAN/FBIOS;FBAV/488.0.0.68.101;FBBV/658219612;"
                + "FBDV/iPhone12,8;FBMD/iPhone;FBSN/iOS;FBSV/18.1;FBSS/2;FBID/phone;FBLC/en_US;FBOP/5;FBRV/0;"
                + "IABMV/1]",
            device: "iphone-se",
            osVersion: "18.1",
            screen: (375, 667),
            pixelRatio: 2,
            person: .newYork
        ),
        BrowserProfile(
            name: "tiktok-ios",
            title: "TikTok's own browser, iPhone 13, iOS 17.3.1",
            source: "shalanah/inapp-spy src/tests/mobile.ts",
            agent: "Mozilla/5.0 (iPhone; CPU iPhone OS 17_3_1 like Mac OS X) AppleWebKit/605.1.15 "
                + "(KHTML, like Gecko) Mobile/15E148 BytedanceWebview/d8a21c6 musical_ly_33.2.1 JsSdk/2.0 "
                + "NetType/WIFI Channel/App Store ByteLocale/en Region/US "
                + "FalconTag/BDB55B46-0286-4504-847E-C8300CB9F79D",
            device: "iphone-13",
            osVersion: "17.3.1",
            screen: (390, 844),
            pixelRatio: 3,
            person: .newYork
        ),
        BrowserProfile(
            name: "whatsapp-ios",
            title: "A page opened within WhatsApp, iPhone 15 Pro, iOS 26.0.1",
            source: "shalanah/inapp-spy src/tests/mobile.ts",
            agent: "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0_1 like Mac OS X) AppleWebKit/605.1.15 "
                + "(KHTML, like Gecko) Version/26.0.1 Mobile/15E148 Safari/604.1 [WAiOS/2.25.31]",
            device: "iphone-15-pro",
            osVersion: "26.0.1",
            screen: (393, 852),
            pixelRatio: 3
        ),
    ]
}
