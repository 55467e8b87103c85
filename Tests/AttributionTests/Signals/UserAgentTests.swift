import Attribution
import Testing

@Suite("User agents")
struct UserAgentTests {
    private static func iPhoneAgent(_ os: String, _ rest: String) -> String {
        "Mozilla/5.0 (iPhone; CPU iPhone OS \(os) like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \(rest)"
    }

    private static let mac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)"

    private static func androidAgent(
        _ device: String,
        _ rest: String = "Chrome/143.0.7499.34 Mobile Safari/537.36"
    ) -> String { "Mozilla/5.0 (Linux; \(device)) AppleWebKit/537.36 (KHTML, like Gecko) \(rest)" }

    @Test(
        "of iOS have the version of their most reliable part, or no version",
        arguments: [
            // Safari before and after its OS token froze.
            (iPhoneAgent("17_2", "Version/17.2 Mobile/15E148 Safari/604.1"), "17.2"),
            (iPhoneAgent("16_4_1", "Version/16.4 Mobile/15E148 Safari/604.1"), "16.4.1"),
            (iPhoneAgent("18_6", "Version/26.0 Mobile/15E148 Safari/604.1"), "26.0"),
            (iPhoneAgent("18_7", "Version/26.3 Mobile/15E148 Safari/604.1"), "26.3"),
            (iPhoneAgent("18_7", "Version/18.7 Mobile/15E148 Safari/604.1"), "18.7"),
            (iPhoneAgent("18_6", "Version/18.6 Mobile/15E148 Safari/604.1"), "18.6"),
            // A web view, whose token may be frozen.
            (iPhoneAgent("18_7", "Mobile/15E148"), nil), (iPhoneAgent("18_6", "Mobile/15E148"), nil),
            (iPhoneAgent("18_5", "Mobile/15E148"), "18.5"),
            (iPhoneAgent("18_6_2", "Mobile/15E148"), "18.6.2"),
            (iPhoneAgent("17_0", "Mobile/15E148"), "17.0"),
            // The build of the system decides, if it is a known one.
            (iPhoneAgent("18_7", "Mobile/23B85"), "26.1"), (iPhoneAgent("18_7", "Mobile/23A341"), "26.0"),
            (iPhoneAgent("17_2_1", "Mobile/21C66"), "17.2.1"),
            (iPhoneAgent("17_2", "Mobile/22H20"), "18.7"), (iPhoneAgent("15_0", "Mobile/19A346"), "15.0"),
            (iPhoneAgent("16_5", "Mobile/20F66"), "16.5"),
            (iPhoneAgent("17_2", "Mobile/24A1"), "17.2"), (iPhoneAgent("17_2", "Mobile/21Z1"), "17.2"),
            (iPhoneAgent("17_2", "Mobile/2"), "17.2"),
            // Other browsers have the true version in the token.
            (iPhoneAgent("26_1_0", "CriOS/143.0.7499.92 Mobile/15E148 Safari/604.1"), "26.1"),
            (iPhoneAgent("18_7", "FxiOS/140.0 Mobile/15E148 Safari/605.1.15"), "18.7"),
            (iPhoneAgent("17_5_1", "EdgiOS/120.0 Version/17.0 Mobile/15E148 Safari/605.1.15"), "17.5.1"),
            (iPhoneAgent("18_7", "GSA/390.0 Mobile/15E148 Safari/604.1"), "18.7"),
            // Apps state the version.
            (
                iPhoneAgent(
                    "18_7",
                    "Mobile/15E148 [FBAN/FBIOS;FBDV/iPhone15,2;FBMD/iPhone;FBSN/iOS;FBSV/26.2;FBSS/3]"
                ), "26.2"
            ),
            (iPhoneAgent("26_2_1", "Mobile/23C55 [FBAN/FBIOS;FBSV/26.2]"), "26.2.1"),
            (
                iPhoneAgent(
                    "18_7",
                    "Mobile/15E148 Instagram 400.0 (iPhone13,3; iOS 26_1; tr_TR; tr; scale=3.00; 1170x2532; 1)"
                ), "26.1"
            ),
            (iPhoneAgent("18_7", "Version/26.1 Mobile/15E148 [FBSV/26.2]"), "26.2"),
            (iPhoneAgent("", "Mobile/15E148"), nil),
        ] as [(String, String?)]
    )
    func iosVersion(_ text: String, expected: String?) {
        let agent = UserAgent(text)
        #expect(agent.platform == .ios)
        #expect(agent.model == "iPhone")
        #expect(agent.osVersion?.text(for: .ios) == expected)
    }

    @Test(
        "of Apple devices have the system's name of the model",
        arguments: [
            (
                "Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Mobile/15E148 Safari/604.1",
                nil, "iPad", "17.5", .ios
            ),
            (
                "Mozilla/5.0 (iPod touch; CPU iPhone OS 15_8_2 like Mac OS X) Version/15.6 Mobile/15E148 Safari/604.1",
                nil, "iPod touch", "15.8.2", .ios
            ),
            (mac + " Version/26.1 Safari/605.1.15", 5, "iPad", "26.1", .ios),
            (mac + " AppleWebKit/605.1.15", 5, "iPad", nil, .ios),
            (mac + " Version/18.5 Safari/605.1.15", 0, nil, nil, .other),
            (mac + " Version/18.5 Safari/605.1.15", 1, nil, nil, .other),
            (mac + " Version/18.5 Safari/605.1.15", nil, nil, nil, .other),
            ("Shop/42 CFNetwork/1568.100.1 Darwin/24.0.0", nil, nil, "18.0", .ios),
            ("Shop/42 CFNetwork/3826.600.41 Darwin/24.6.0", nil, nil, nil, .ios),
            ("Shop/42 CFNetwork/3860.300.31 Darwin/25.2.0", nil, nil, "26.2", .ios),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_13_5) CriOS/85 Version/11.1.1 Safari/605.1.15", 5,
                "iPad", nil, .ios
            ),
            (mac + " Mobile/15E148 [FBAN/FBIOS;FBDV/iPad13,4;FBSV/17.5]", nil, "iPad", "17.5", .ios),
            (mac + " Mobile/15E148 [FBAN/FBIOS;FBDV/iPhone16,1;FBSV/17.5]", nil, "iPhone", "17.5", .ios),
            (mac + " Mobile/15E148 [FBAN/FBIOS;FBDV/iPhone16,1;FBSV/17.5]", 5, "iPhone", "17.5", .ios),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 16_0 like Mac OS X) Instagram 300.0 (iPad11,3; iOS 16_0; en_US)",
                5, "iPad", "16.0", .ios
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/143.0.0.0 Safari/537.36", 10, nil, nil,
                .other
            ),
            ("curl/8.5.0", nil, nil, nil, .other), ("", nil, nil, nil, .unknown),
            ("  ", nil, nil, nil, .unknown),
        ] as [(String, Int?, String?, String?, Platform)]
    )
    func appleModel(_ text: String, touchPoints: Int?, model: String?, osVersion: String?, platform: Platform)
    {
        let agent = UserAgent(text, touchPoints: touchPoints)
        #expect(agent.platform == platform)
        #expect(agent.model == model)
        #expect(agent.osVersion?.text(for: .ios) == osVersion)
    }

    @Test(
        "of Android have model and version, except agents that hide these",
        arguments: [
            (
                androidAgent(
                    "Android 13; SM-S918B Build/TP1A.220624.014; wv",
                    "Version/4.0 Chrome/143.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/540.0;]"
                ), "SM-S918B", "13"
            ),
            (
                androidAgent(
                    "Android 13; SAMSUNG SM-G991B",
                    "SamsungBrowser/20.0 Chrome/106.0 Mobile Safari/537.36"
                ), "SM-G991B", "13"
            ),
            (androidAgent("Android 10; K"), nil, nil),
            (androidAgent("Android 10; SM-A505F"), "SM-A505F", "10"),
            (androidAgent("U; Android 9; tr-tr; Redmi Note 7 Build/PKQ1.180904.001"), "Redmi Note 7", "9"),
            (androidAgent("U; Android 8.1.0; en; M2101K6G"), "M2101K6G", "8.1"),
            (androidAgent("Android 7.1.1; Moto G (5S"), "Moto G (5S", "7.1.1"),
            ("Mozilla/5.0 (Android 14; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0", nil, "14"),
            ("Dalvik/2.1.0 (Linux; U; Android 14; SM-A546E Build/UP1A.231005.007)", "SM-A546E", "14"),
            (
                androidAgent(
                    "Android 16; Pixel 9 Build/BP2A; wv",
                    "Chrome/143.0 Instagram 400.0.0 Android (36/16; 420dpi; 1080x2424; Google; Pixel 9; tokay; tokay; tr_TR; 1)"
                ), "Pixel 9", "16"
            ),
            (
                "Instagram 400.0.0 Android (34/14; 450dpi; 1080x2340; samsung; SM-A546E; a54x; s5e8835; tr_TR; 1)",
                "SM-A546E", "14"
            ),
            ("[FBAN/FB4A;FBAV/540.0;FBDV/SM-A546E;FBSV/14;FBLC/tr_TR] Android", "SM-A546E", "14"),
            (androidAgent("Android 12; HarmonyOS; NOH-NX9"), "NOH-NX9", "12"),
            (androidAgent("Android"), nil, nil), (androidAgent("Android 14"), nil, "14"),
            ("okhttp/4.12 Android", nil, nil),
        ] as [(String, String?, String?)]
    )
    func android(_ text: String, model: String?, osVersion: String?) {
        let agent = UserAgent(text)
        #expect(agent.platform == .android)
        #expect(agent.model == model)
        #expect(agent.osVersion?.text(for: .android) == osVersion)
    }

    @Test("of any length and content are read safely")
    func rubbish() {
        for text in [
            "(iPhone", "(iPhone; CPU iPhone OS ", "Android (", "Instagram  Android (;;;;/",
            String(repeating: "(iPhone", count: 100_000), "\u{0}\u{ffff}", "Android 99999999999999999999; K",
        ] { _ = UserAgent(text, touchPoints: .max) }
        #expect(UserAgent("Android 99999999999999999999; x").osVersion == nil)
    }
}
