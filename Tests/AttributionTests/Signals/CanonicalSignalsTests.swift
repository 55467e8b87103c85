import Attribution
import Testing

@Suite("Canonical signals")
struct CanonicalSignalsTests {
    private static let safari17 =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.2 Mobile/15E148 Safari/604.1"
    private static let safari26 =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.3 Mobile/15E148 Safari/604.1"
    private static let desktopDress =
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15"
    private static let webView =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"
    private static let reducedChrome =
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Mobile Safari/537.36"

    private static let android10 =
        "Mozilla/5.0 (Linux; Android 10; SM-A505F) Chrome/143.0.0.0 Mobile Safari/537.36"

    @Test("agree with the test vectors for user agents and scripts' values")
    func userAgentVectors() throws {
        let vectors = try Vectors.read("canonical", as: Vectors.Canonical.self).userAgent
        #expect(vectors.count == 9)
        for vector in vectors {
            let signals = DeviceSignals(
                touchPoints: vector.touchPoints,
                uaModel: vector.uaData?.model,
                uaPlatformVersion: vector.uaData?.platformVersion
            )
            let canonical = CanonicalSignals(signals, userAgent: vector.userAgent)
            #expect(canonical.model == vector.expect.model, "\(vector.userAgent)")
            let version = canonical.osVersion?.text(for: canonical.platform)
            #expect(version == vector.expect.osVersion, "\(vector.userAgent)")
        }
    }

    @Test("agree with the test vectors for versions")
    func versionVectors() throws {
        let pairs = try Vectors.read("canonical", as: Vectors.Canonical.self).osVersion
        #expect(pairs.count == 6)
        for pair in pairs {
            let platform = try #require(pair.platform.flatMap(Platform.init(rawValue:)))
            #expect(OSVersion(pair.web)?.text(for: platform) == pair.native)
            #expect(OSVersion(pair.native)?.text(for: platform) == pair.native)
        }
    }

    @Test(
        "have the model that the script reports, else the user agent's",
        arguments: [
            (DeviceSignals(model: "iPhone"), "", "iPhone", .ios),
            (DeviceSignals(model: "iPhone15,2"), "", "iPhone", .ios),
            (DeviceSignals(model: " iPad "), "", "iPad", .ios),
            (DeviceSignals(model: "iPod touch"), "", "iPod touch", .ios),
            (DeviceSignals(model: "iPod"), "", "iPod touch", .ios),
            (DeviceSignals(), safari17, "iPhone", .ios), (DeviceSignals(model: ""), safari17, "iPhone", .ios),
            (DeviceSignals(model: "MacIntel", touchPoints: 5), desktopDress, "iPad", .ios),
            (DeviceSignals(touchPoints: 5), desktopDress, "iPad", .ios),
            (
                DeviceSignals(screenWidth: 820, screenHeight: 1180, touchPoints: 5), desktopDress, "iPad",
                .ios
            ),
            (
                DeviceSignals(screenWidth: 956, screenHeight: 440, touchPoints: 5), desktopDress, "iPhone",
                .ios
            ),
            (
                DeviceSignals(model: "MacIntel", screenWidth: 390, screenHeight: 844, touchPoints: 5),
                desktopDress, "iPhone", .ios
            ),
            (DeviceSignals(touchPoints: 1), desktopDress, nil, .other),
            (DeviceSignals(), desktopDress, nil, .other), (DeviceSignals(), reducedChrome, nil, .android),
            (DeviceSignals(model: "K"), reducedChrome, nil, .android),
            (DeviceSignals(uaModel: ""), reducedChrome, nil, .android),
            (DeviceSignals(uaModel: "SM-A546E"), reducedChrome, "SM-A546E", .android),
            (DeviceSignals(model: "SAMSUNG SM-A546E Build/UP1A"), reducedChrome, "SM-A546E", .android),
            (DeviceSignals(model: "Pixel 9"), "", "Pixel 9", .unknown), (DeviceSignals(), "", nil, .unknown),
            (DeviceSignals(model: String(repeating: "x", count: 101)), reducedChrome, nil, .android),
            // The bar separates components: with one in its model, a device could imitate another.
            (DeviceSignals(model: "A|1080"), reducedChrome, nil, .android),
            (DeviceSignals(uaModel: "A\u{7}"), reducedChrome, nil, .android),
        ] as [(DeviceSignals, String, String?, Platform)]
    )
    func model(_ signals: DeviceSignals, userAgent: String, model: String?, platform: Platform) {
        let canonical = CanonicalSignals(signals, userAgent: userAgent)
        #expect(canonical.model == model)
        #expect(canonical.platform == platform)
    }

    @Test(
        "have the platform that the caller names only if no signal shows a platform",
        arguments: [
            (DeviceSignals(model: "Pixel 9"), "", .android, .android),
            (DeviceSignals(), safari17, .android, .ios), (DeviceSignals(), reducedChrome, .ios, .android),
        ] as [(DeviceSignals, String, Platform, Platform)]
    )
    func namedPlatform(_ signals: DeviceSignals, userAgent: String, named: Platform, expected: Platform) {
        #expect(CanonicalSignals(signals, userAgent: userAgent, platform: named).platform == expected)
    }

    @Test(
        "have the system version that the script reports, unless Safari or Chrome froze it",
        arguments: [
            (DeviceSignals(osVersion: "17_2"), safari17, "17.2"),
            (DeviceSignals(osVersion: "17.2.0"), safari17, "17.2"),
            (DeviceSignals(osVersion: "17.2.1"), safari17, "17.2.1"),
            (DeviceSignals(osVersion: "17"), safari17, "17.0"), (DeviceSignals(), safari17, "17.2"),
            (DeviceSignals(osVersion: "rubbish"), safari17, "17.2"),
            (DeviceSignals(osVersion: "18.7"), safari26, "26.3"),
            (DeviceSignals(osVersion: "18_6"), safari26, "26.3"),
            (DeviceSignals(osVersion: "26.3.1"), safari26, "26.3.1"),
            (DeviceSignals(model: "iPhone", osVersion: "18.7"), "", "18.7"),
            (DeviceSignals(uaPlatformVersion: "14.0.0"), reducedChrome, "14"),
            (DeviceSignals(osVersion: "10"), reducedChrome, nil),
            (DeviceSignals(osVersion: "13"), reducedChrome, "13"),
            (DeviceSignals(osVersion: "26.3"), safari26, "26.3"),
            (DeviceSignals(osVersion: "17.4"), safari26, "26.3"),
            (DeviceSignals(osVersion: "10"), android10, "10"), (DeviceSignals(), reducedChrome, nil),
            (DeviceSignals(osVersion: "10", uaPlatformVersion: "8.1.0"), reducedChrome, "8.1"),
        ] as [(DeviceSignals, String, String?)]
    )
    func osVersion(_ signals: DeviceSignals, userAgent: String, expected: String?) {
        let canonical = CanonicalSignals(signals, userAgent: userAgent)
        #expect(canonical.osVersion?.text(for: canonical.platform) == expected)
    }

    @Test(
        "have an upright screen in whole points",
        arguments: [
            (390, 844, "390x844"), (844, 390, "390x844"), (390.9, 844.2, "390x844"), (1, 1, "1x1"),
            (0, 844, nil), (-390, 844, nil), (.nan, 844, nil), (.infinity, 844, nil), (390, 1e300, nil),
            (nil, 844, nil), (390, nil, nil),
        ] as [(Double?, Double?, String?)]
    )
    func screen(width: Double?, height: Double?, expected: String?) {
        let signals = DeviceSignals(screenWidth: width, screenHeight: height)
        #expect(CanonicalSignals(signals, userAgent: "").screen?.text == expected)
    }

    @Test(
        "have the first language, without region and in its current spelling",
        arguments: [
            (DeviceSignals(language: "tr-TR"), "tr"), (DeviceSignals(language: "TR"), "tr"),
            (DeviceSignals(languages: ["de-DE", "en"]), "de"),
            (DeviceSignals(language: "en", languages: ["de"]), "en"), (DeviceSignals(language: "iw"), "he"),
            (DeviceSignals(language: "in_ID"), "id"), (DeviceSignals(language: "tl"), "fil"),
            (DeviceSignals(language: "eng"), "en"), (DeviceSignals(language: "en_US.UTF-8"), "en"),
            (DeviceSignals(language: "de@euro"), "de"), (DeviceSignals(language: "yue-HK"), "yue"),
            (DeviceSignals(language: ""), nil), (DeviceSignals(language: "x"), nil),
            (DeviceSignals(language: "türkçe"), nil), (DeviceSignals(language: "|"), nil),
            (DeviceSignals(), nil),
        ] as [(DeviceSignals, String?)]
    )
    func language(_ signals: DeviceSignals, expected: String?) {
        #expect(CanonicalSignals(signals, userAgent: "").language == expected)
    }

    @Test("have a time zone's canonical and given names, unless the given name is malformed")
    func timezone() {
        func signals(_ name: String?) -> CanonicalSignals {
            CanonicalSignals(DeviceSignals(timezone: name), userAgent: "")
        }
        #expect(signals(" Asia/Calcutta ").timezone == "Asia/Kolkata")
        #expect(signals(" Asia/Calcutta ").givenTimezone == "Asia/Calcutta")
        for name in ["", "  ", String(repeating: "x", count: 65), "Europe|Paris", "Etc/Unknown", "türkiye"] {
            #expect(signals(name).timezone == nil, "\(name)")
            #expect(signals(name).givenTimezone == nil, "\(name)")
        }
    }

    @Test("have a version that is exact, without patch number, frozen, or unknown")
    func osReading() {
        func reading(_ version: String?, _ userAgent: String) -> OSVersionReading {
            CanonicalSignals(DeviceSignals(model: "iPhone", osVersion: version), userAgent: userAgent).system
        }
        let known = OSVersion(major: 17, minor: 2)
        let new = OSVersion(major: 26, minor: 3)
        #expect(reading("17.2", Self.safari17) == .exact(known))
        #expect(reading("17.2", "") == .minor(known))
        #expect(reading("17.2.1", "") == .exact(OSVersion(major: 17, minor: 2, patch: 1)))
        #expect(reading("26.3", Self.safari26) == .minor(new))
        #expect(reading(nil, Self.webView) == .frozen(OSVersion(major: 18, minor: 7)))
        #expect(reading("18.7", Self.webView) == .frozen(OSVersion(major: 18, minor: 7)))
        #expect(reading(nil, "") == .unknown)
    }

    @Test("take missing values from the user agent of an in-app browser")
    func appTokens() {
        let instagram =
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Mobile/22F76 Instagram 393.1.0.36.70 (iPhone15,3; iOS 18_5; tr_TR; tr; scale=3.00; 1290x2796; IABMV/1; 776538208) Safari/604.1"
        let ios = CanonicalSignals(DeviceSignals(), userAgent: instagram)
        #expect(ios.screen == ScreenSize(430, 932))
        #expect(ios.scale == 3)
        #expect(ios.languages == ["tr"])

        let own = CanonicalSignals(
            DeviceSignals(screenWidth: 390, screenHeight: 844, pixelRatio: 2, language: "de"),
            userAgent: instagram
        )
        #expect(own.screen == ScreenSize(390, 844))
        #expect(own.scale == 2)
        #expect(own.languages == ["de"])

        let android =
            "Mozilla/5.0 (Linux; Android 11; Mi A3 Build/RKQ1; wv) Chrome/131.0 Instagram 355.0 Android (30/11; 320dpi; 720x1411; Xiaomi; Mi A3; laurel_sprout; qcom; pt_BR; 657300861)"
        #expect(CanonicalSignals(DeviceSignals(), userAgent: android).panelWidth == 720)
        #expect(CanonicalSignals(DeviceSignals(), userAgent: android).languages == ["pt"])
        let facebook =
            "[FBAN/FB4A;FBDM/{density=3.0,width=1080,height=1776};FBLC/fr_CA;FBDV/Nexus 5;FBSV/4.4.3]"
        #expect(CanonicalSignals(DeviceSignals(), userAgent: facebook).panelWidth == 1080)
        #expect(CanonicalSignals(DeviceSignals(), userAgent: facebook).languages == ["fr"])
    }

    @Test("take missing values from client hints and Accept-Language")
    func headers() {
        let headers = VisitHeaders(
            userAgent: Self.reducedChrome,
            hints: ClientHints(#""Android""#, "?1", #""SM-A546E""#, #""14.0.0""#),
            acceptLanguage: "tr-TR,tr;q=0.9,en-US;q=0.8"
        )
        func signals(_ script: DeviceSignals) -> CanonicalSignals {
            CanonicalSignals(script, headers, platform: .unknown, data: .embedded)
        }
        #expect(signals(DeviceSignals()).model == "SM-A546E")
        #expect(signals(DeviceSignals()).osVersion == OSVersion(major: 14))
        #expect(signals(DeviceSignals()).languages == ["tr", "en"])
        let complete = signals(DeviceSignals(language: "de", uaModel: "Pixel 9", uaPlatformVersion: "16.0.0"))
        #expect(complete.model == "Pixel 9")
        #expect(complete.osVersion == OSVersion(major: 16))
        #expect(complete.languages == ["de"])
    }

    @Test("agree between an app and a browser on the same device")
    func native() {
        let app = CanonicalSignals(
            NativeSignals(
                platform: .ios,
                model: "iPhone",
                machine: "iPhone14,5",
                osVersion: "17.2",
                screenWidth: 390,
                screenHeight: 844,
                scale: 3,
                timezone: "Turkey",
                language: "tr",
                languages: ["tr-TR", "en-TR"]
            )
        )
        let page = CanonicalSignals(
            DeviceSignals(
                screenWidth: 390,
                screenHeight: 844,
                pixelRatio: 3,
                timezone: "Europe/Istanbul",
                language: "tr-TR",
                languages: ["tr-TR", "en"]
            ),
            userAgent: Self.safari17
        )
        #expect(app.model == page.model)
        #expect(app.system == page.system)
        #expect(app.screen == page.screen)
        #expect(app.scale == page.scale)
        #expect(app.timezone == page.timezone)
        #expect(app.languages == page.languages)

        let android = CanonicalSignals(
            NativeSignals(platform: .android, model: "SM-A546B", screenWidth: 1080, screenHeight: 2340)
        )
        #expect(android.model == "SM-A546B")
        #expect(android.panelWidth == 1080)
        #expect(android.screen == nil)
    }
}
