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
    private static let reducedChrome =
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Mobile Safari/537.36"

    private static let android10 =
        "Mozilla/5.0 (Linux; Android 10; SM-A505F) Chrome/143.0.0.0 Mobile Safari/537.36"

    @Test("agree with the shared vectors for user agents with what their scripts told")
    func userAgentVectors() throws {
        for vector in try Vectors.read("canonical", as: Vectors.Canonical.self).userAgent {
            let signals = DeviceSignals(
                touchPoints: vector.touchPoints,
                uaModel: vector.uaData?.model,
                uaPlatformVersion: vector.uaData?.platformVersion
            )
            let canonical = CanonicalSignals(signals, userAgent: vector.userAgent)
            #expect(canonical.model == vector.expect.model, "\(vector.userAgent)")
            #expect(
                canonical.osVersion?.text(for: canonical.platform) == vector.expect.osVersion,
                "\(vector.userAgent)"
            )
        }
    }

    @Test("agree with the shared vectors for versions, languages and time zones")
    func pairVectors() throws {
        let vectors = try Vectors.read("canonical", as: Vectors.Canonical.self)
        for pair in vectors.osVersion {
            let platform = try #require(pair.platform.flatMap(Platform.init(rawValue:)))
            #expect(OSVersion(pair.web)?.text(for: platform) == pair.native)
            #expect(OSVersion(pair.native)?.text(for: platform) == pair.native)
        }
        for pair in vectors.language {
            #expect(LanguageCode.canonical(pair.web) != nil)
            #expect(LanguageCode.canonical(pair.web) == LanguageCode.canonical(pair.native), "\(pair)")
        }
        for pair in vectors.timezone {
            #expect(TimeZoneName.canonical(pair.web) == TimeZoneName.canonical(pair.native), "\(pair)")
        }
    }

    @Test(
        "take the model from the script, else from the agent",
        arguments: [
            (DeviceSignals(model: "iPhone"), "", "iPhone", .ios),
            (DeviceSignals(model: "iPhone15,2"), "", "iPhone", .ios),
            (DeviceSignals(model: " iPad "), "", "iPad", .ios),
            (DeviceSignals(model: "iPod touch"), "", "iPod touch", .ios),
            (DeviceSignals(model: "iPod"), "", "iPod touch", .ios),
            (DeviceSignals(), safari17, "iPhone", .ios),
            (DeviceSignals(model: ""), safari17, "iPhone", .ios),
            (DeviceSignals(model: "MacIntel", touchPoints: 5), desktopDress, "iPad", .ios),
            (DeviceSignals(touchPoints: 5), desktopDress, "iPad", .ios),
            (DeviceSignals(touchPoints: 1), desktopDress, nil, .other),
            (DeviceSignals(), desktopDress, nil, .other),
            (DeviceSignals(), reducedChrome, nil, .android),
            (DeviceSignals(model: "K"), reducedChrome, nil, .android),
            (DeviceSignals(uaModel: ""), reducedChrome, nil, .android),
            (DeviceSignals(uaModel: "SM-A546E"), reducedChrome, "SM-A546E", .android),
            (DeviceSignals(model: "SAMSUNG SM-A546E Build/UP1A"), reducedChrome, "SM-A546E", .android),
            (DeviceSignals(model: "Pixel 9"), "", "Pixel 9", .unknown), (DeviceSignals(), "", nil, .unknown),
            (DeviceSignals(model: String(repeating: "x", count: 101)), reducedChrome, nil, .android),
        ] as [(DeviceSignals, String, String?, Platform)]
    )
    func model(_ signals: DeviceSignals, userAgent: String, model: String?, platform: Platform) {
        let canonical = CanonicalSignals(signals, userAgent: userAgent)
        #expect(canonical.model == model)
        #expect(canonical.platform == platform)
    }

    @Test("take the platform that the caller names only where nothing else tells")
    func namedPlatform() {
        #expect(
            CanonicalSignals(DeviceSignals(model: "Pixel 9"), userAgent: "", platform: .android).platform
                == .android
        )
        #expect(
            CanonicalSignals(DeviceSignals(), userAgent: Self.safari17, platform: .android).platform == .ios
        )
        #expect(
            CanonicalSignals(DeviceSignals(), userAgent: Self.reducedChrome, platform: .ios).platform
                == .android
        )
    }

    @Test(
        "take the version from the script, unless it is one that Safari or Chrome froze",
        arguments: [
            (DeviceSignals(osVersion: "17_2"), safari17, "17.2"),
            (DeviceSignals(osVersion: "17.2.0"), safari17, "17.2"),
            (DeviceSignals(osVersion: "17.2.1"), safari17, "17.2.1"),
            (DeviceSignals(osVersion: "17"), safari17, "17.0"),
            (DeviceSignals(), safari17, "17.2"), (DeviceSignals(osVersion: "rubbish"), safari17, "17.2"),
            (DeviceSignals(osVersion: "18.7"), safari26, "26.3"),
            (DeviceSignals(osVersion: "18_6"), safari26, "26.3"),
            (DeviceSignals(osVersion: "26.3.1"), safari26, "26.3.1"),
            (DeviceSignals(model: "iPhone", osVersion: "18.7"), "", "18.7"),
            (DeviceSignals(uaPlatformVersion: "14.0.0"), reducedChrome, "14"),
            (DeviceSignals(osVersion: "10"), reducedChrome, nil),
            (DeviceSignals(osVersion: "13"), reducedChrome, "13"),
            (DeviceSignals(osVersion: "10"), android10, "10"), (DeviceSignals(), reducedChrome, nil),
            (DeviceSignals(osVersion: "10", uaPlatformVersion: "8.1.0"), reducedChrome, "8.1"),
        ] as [(DeviceSignals, String, String?)]
    )
    func osVersion(_ signals: DeviceSignals, userAgent: String, expected: String?) {
        let canonical = CanonicalSignals(signals, userAgent: userAgent)
        #expect(canonical.osVersion?.text(for: canonical.platform) == expected)
    }

    @Test(
        "hold a screen upright and in whole points",
        arguments: [
            (390, 844, "390x844"), (844, 390, "390x844"), (390.9, 844.2, "390x844"), (1, 1, "1x1"),
            (0, 844, nil),
            (-390, 844, nil), (.nan, 844, nil), (.infinity, 844, nil), (390, 1e300, nil), (nil, 844, nil),
            (390, nil, nil),
        ] as [(Double?, Double?, String?)]
    )
    func screen(width: Double?, height: Double?, expected: String?) {
        let canonical = CanonicalSignals(
            DeviceSignals(screenWidth: width, screenHeight: height),
            userAgent: ""
        )
        #expect(canonical.screen?.text == expected)
    }

    @Test(
        "take the first language, without region and in its present spelling",
        arguments: [
            (DeviceSignals(language: "tr-TR"), "tr"), (DeviceSignals(language: "TR"), "tr"),
            (DeviceSignals(languages: ["de-DE", "en"]), "de"),
            (DeviceSignals(language: "en", languages: ["de"]), "en"), (DeviceSignals(language: "iw"), "he"),
            (DeviceSignals(language: "in_ID"), "id"),
            (DeviceSignals(language: "tl"), "fil"), (DeviceSignals(language: "eng"), "en"),
            (DeviceSignals(language: "en_US.UTF-8"), "en"),
            (DeviceSignals(language: "de@euro"), "de"), (DeviceSignals(language: "yue-HK"), "yue"),
            (DeviceSignals(language: ""), nil),
            (DeviceSignals(language: "x"), nil), (DeviceSignals(language: "türkçe"), nil),
            (DeviceSignals(language: "|"), nil), (DeviceSignals(), nil),
        ] as [(DeviceSignals, String?)]
    )
    func language(_ signals: DeviceSignals, expected: String?) {
        #expect(CanonicalSignals(signals, userAgent: "").language == expected)
    }

    @Test("keep the time zone as it came, unless it is empty or too long")
    func timezone() {
        #expect(
            CanonicalSignals(DeviceSignals(timezone: " Asia/Calcutta "), userAgent: "").timezone
                == "Asia/Calcutta"
        )
        #expect(CanonicalSignals(DeviceSignals(timezone: ""), userAgent: "").timezone == nil)
        #expect(
            CanonicalSignals(DeviceSignals(timezone: String(repeating: "x", count: 65)), userAgent: "")
                .timezone == nil
        )
    }
}

@Suite("Time zone names")
struct TimeZoneNameTests {
    @Test("lead from every known name, in either case, to the canonical one")
    func vectors() throws {
        let classes = try Vectors.read("timezones", as: Vectors.TimeZones.self).classes
        #expect(classes.count == 96)
        for (canonical, names) in classes {
            for name in names {
                #expect(TimeZoneName.canonical(name) == canonical)
                #expect(TimeZoneName.canonical(name.lowercased()) == canonical)
                #expect(TimeZoneName.canonical(name.uppercased()) == canonical)
            }
        }
    }

    @Test(
        "give fixed offsets one spelling, and leave alone what they do not know",
        arguments: [
            ("GMT+3", "UTC+03:00"), ("UTC+3", "UTC+03:00"), ("+03:00", "UTC+03:00"), ("+0300", "UTC+03:00"),
            ("gmt+0330", "UTC+03:30"),
            ("-05:00", "UTC-05:00"), ("Etc/GMT-3", "UTC+03:00"), ("Etc/GMT+12", "UTC-12:00"),
            ("etc/gmt-14", "UTC+14:00"),
            ("+00:00", "UTC"), ("-00:00", "UTC"), ("GMT", "UTC"), ("Zulu", "UTC"),
            ("Europe/Paris", "Europe/Paris"), ("Mars/Base", "Mars/Base"), ("", ""), ("GMT+", "GMT+"),
            ("GMT+25", "GMT+25"),
            ("+03:60", "+03:60"), ("+3:00", "+3:00"), ("Etc/+03:00", "Etc/+03:00"), ("GMT3", "GMT3"),
            ("+123", "+123"),
        ]
    )
    func offsets(_ name: String, expected: String) {
        #expect(TimeZoneName.canonical(name) == expected)
    }
}
