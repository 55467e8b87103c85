import Attribution
import Testing

@Suite("Groups of the alarm on match rates")
struct DriftGroupTests {
    @Test(
        "contain the SDK's version, and no other part of the header",
        arguments: [
            ("paylisher-ios/1.8.9", "1.8.9"), ("paylisher-android/2.0", "2.0.0"), ("1.7", "1.7.0"),
            ("a/b/1.2.3-beta.4", "1.2.3"), ("sdk/1.2.3.4", "1.2.3"), ("sdk/3 (build 7)", "3.0.0"),
            ("sdk/1.", "1.0.0"), ("sdk/", nil), ("sdk", nil), ("", nil), ("sdk/0.9", nil), ("sdk/1234", nil),
            ("sdk/1..2", nil), ("sdk/-1", nil), ("/\u{0}1", nil),
            (String(repeating: "x", count: 200) + "/1.8.9", nil),
        ]
    )
    func sdkVersion(header: String, text: String?) { #expect(SDKVersion(header: header)?.text == text) }

    @Test("distinguish an exact minor version from a minimum, for launches")
    func launches() {
        func name(_ agent: String, _ platform: Platform = .ios) -> String {
            DriftGroup(
                launchOn: platform,
                release: OSRelease(launchAgent: agent),
                sdk: SDKVersion(header: "paylisher-ios/1.8.9")
            ).name
        }
        #expect(name("App/1 CFNetwork/1568.1 Darwin/24.1.0") == "ios/18.1/1.8.9")
        #expect(name("App/1 CFNetwork/1568.1 Darwin/24.6.0") == "ios/18.6+/1.8.9")
        #expect(name("Dalvik/2.1.0 (Linux; U; Android 14; SM-S911B)", .android) == "android/14/1.8.9")
        #expect(name("okhttp/4.9", .unknown) == "?/?/1.8.9")
    }

    @Test("can be read from their names")
    func names() {
        let groups = [
            DriftGroup(clickOn: .ios, osVersion: "26.1", browser: .googleApp),
            DriftGroup(clickOn: .unknown, osVersion: nil, browser: .unknown),
            DriftGroup(.launch, platform: .value("ios"), osVersion: .others, client: .others),
            .whole(.launch),
        ]
        for group in groups { #expect(DriftGroup(group.side, name: group.name) == group) }
        #expect(DriftGroup(.launch, name: "ios/26.1") == nil)
        #expect(DriftGroup(.launch, name: "") == nil)
    }

    @Test(
        "have an unknown system version if its text is too long or contains forbidden characters",
        arguments: ["26.1/x", "*", "=", "?", "", "26 1", "ş", String(repeating: "1", count: 25)]
    )
    func foreignParts(text: String) {
        #expect(DriftGroup(clickOn: .ios, osVersion: text, browser: .safari).osVersion == .unknown)
    }
}

@Suite("Browser families")
struct BrowserFamilyTests {
    private static let phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15"
    private static let android = "Mozilla/5.0 (Linux; Android 14; Pixel 8"

    @Test(
        "are recognised by the name of the app, or else of the browser",
        arguments: [
            (phone + " (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1", BrowserFamily.safari),
            (phone + " (KHTML, like Gecko) CriOS/126.0.6478.153 Mobile/15E148 Safari/604.1", .chrome),
            (phone + " (KHTML, like Gecko) FxiOS/102.2  Mobile/15E148 Safari/605.1.15", .firefox),
            (phone + " (KHTML, like Gecko) GSA/334.0.674067880 Mobile/15E148 Safari/604.1", .googleApp),
            (phone + " (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1 OPT/5.0.7", .opera),
            (phone + " Mobile/22B83 Instagram 354.0.0.29.90 (iPhone12,8; iOS 18_1; en_US)", .instagram),
            (phone + " Mobile/15E148 [FBAN/FBIOS;FBAV/482.2.0.68.110]", .facebook),
            (phone + " Mobile/15E148 [FBAN/MessengerForiOS;FBAV/482.2.0.68.110]", .messenger),
            (phone + " Mobile/15E148", .webView), (phone + " Mobile/14D27 Twitter for iPhone", .twitter),
            (android + ") AppleWebKit/537.36 Chrome/126.0.0.0 Mobile Safari/537.36", .chrome),
            (android + ") AppleWebKit/537.36 SamsungBrowser/12.0 Chrome/79.0 Safari/537.36", .samsung),
            (android + "; wv) AppleWebKit/537.36 Version/4.0 Chrome/130.0 Mobile Safari/537.36", .webView),
            (android + "; wv) AppleWebKit/537.36 Chrome/131.0 Mobile Instagram 300", .instagram),
            (android + "; wv) Chrome/100.0 musical_ly_2022803040 ByteLocale/tr-TR", .tiktok),
            (android + ") Chrome/86.0 YaBrowser/26.6.0.304.00 Mobile Safari/537.36", .yandex),
            ("curl/8.0", .other), ("", .unknown),
        ]
    )
    func families(agent: String, family: BrowserFamily) { #expect(BrowserFamily(userAgent: agent) == family) }

    @Test("cover 95 % of the recorded user agents of phone browsers")
    func seen() {
        let browsers = SeenAgentsTests.agents.filter {
            $0.kind != "app" && ($0.platform == .ios || $0.platform == .android)
        }
        let unnamed = browsers.filter { BrowserFamily(userAgent: $0.text) == .other }
        #expect(unnamed.count <= browsers.count / 20, "\(unnamed)")
    }
}
