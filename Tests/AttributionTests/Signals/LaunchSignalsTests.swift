import Attribution
import Testing

@Suite("Signals of a launch")
struct LaunchSignalsTests {
    private static let phone = TestValues.iPhone
    private static let texts = [
        "iPhone|Europe/Istanbul|tr", "iPhone|1170|Europe/Istanbul|tr", "iPhone|17.2|1170|Europe/Istanbul|tr",
        "iPhone|17.2|390x844|Europe/Istanbul|tr",
    ]

    @Test("are the four fingerprints of an iPhone's clients, the broadest first, and the screen's values")
    func iPhone() {
        let signals = LaunchSignals(CanonicalSignals(Self.phone), given: nil)
        #expect(signals.fingerprints == Self.texts.map { Fingerprint(of: $0) })
        #expect(signals.remainingValues.map(\.component) == [.width, .screen])
        #expect(signals.remainingValues.map(\.text) == ["1170", "390x844"])
        #expect(signals.release == OSRelease(platform: .ios, major: 17, minor: 2))
    }

    @Test("are only the fingerprint of an Android phone, which contains the width")
    func android() {
        let phone = NativeSignals(
            platform: .android,
            model: "Pixel 9",
            osVersion: "15",
            screenWidth: 1080,
            screenHeight: 2424,
            timezone: "Europe/Istanbul",
            language: "tr"
        )
        let signals = LaunchSignals(CanonicalSignals(phone), given: nil)
        #expect(signals.fingerprints == [Fingerprint(of: "Pixel 9|1080|Europe/Istanbul|tr")])
        #expect(signals.remainingValues.isEmpty)
        #expect(CanonicalSignals(phone).evidence().isEmpty)
        #expect(signals.release == OSRelease(platform: .android, major: 15))
    }

    @Test("find a click in the same time zone, whatever names the browser and the app use")
    func timeZoneNames() throws {
        var groups = try Vectors.read("timezones", as: Vectors.TimeZones.self).classes.map {
            [$0.key] + $0.value
        }
        groups += [
            ["GMT+3", "+03:00", "Etc/GMT-3", "UTC+3", "UTC+03:00", "GMT+0300"],
            ["Etc/GMT", "GMT", "Zulu", "UTC"],
            ["GMT+05:30", "UTC+05:30", "+0530"], ["Etc/GMT+5", "-05:00", "GMT-5"], ["Mars/Base"],
        ]
        let zones = DeviceData.embedded.timeZones
        func signals(_ zone: String) -> CanonicalSignals {
            CanonicalSignals(
                platform: .ios,
                model: "iPhone",
                timezone: zones.canonical(zone),
                givenTimezone: zone,
                languages: ["tr"]
            )
        }
        for names in groups {
            for browser in names {
                let click = Set(signals(browser).fingerprints(localization: .unknown).map(\.fingerprint))
                for app in names {
                    let launch = LaunchSignals(signals(app), given: nil).fingerprints
                    #expect(
                        launch.contains(where: click.contains),
                        "\(browser) in the browser, \(app) in the app"
                    )
                }
            }
        }
    }

    @Test("include the client's fingerprint last, once")
    func givenAsWell() {
        let canonical = CanonicalSignals(Self.phone)
        let own = Fingerprint(of: "something else")
        #expect(LaunchSignals(canonical, given: own).fingerprints.last == own)
        #expect(LaunchSignals(canonical, given: own).fingerprints.count == 5)
        let known = Fingerprint(of: Self.texts[3])
        #expect(LaunchSignals(canonical, given: known).fingerprints == Self.texts.map { Fingerprint(of: $0) })
        let empty = LaunchSignals(CanonicalSignals(platform: .ios), given: own)
        #expect(empty.fingerprints == [own] && empty.remainingValues.isEmpty && empty.release == nil)
    }

    @Test(
        "include, in addition to a known hash, only components that the hash does not contain",
        // A screen in points determines the pixels.
        arguments: [(0, ["1170", "390x844"]), (1, []), (2, []), (3, [])]
    )
    func besideAHash(index: Int, beside: [String]) {
        let given = Fingerprint(of: Self.texts[index])
        let signals = LaunchSignals(CanonicalSignals(Self.phone), given: given, isWeighedByGiven: true)
        #expect(signals.fingerprints == [given])
        #expect(signals.remainingValues.map(\.text) == beside)
        let other = Fingerprint(of: "x")
        let unknown = LaunchSignals(CanonicalSignals(Self.phone), given: other, isWeighedByGiven: true)
        #expect(unknown.remainingValues.isEmpty)
    }

    @Test("include the screen in points, but no width if two widths are possible")
    func uncertainWidth() {
        // The values of an iPhone 14 under Display Zoom; its panel has 1170 pixels.
        var zoomed = Self.phone
        (zoomed.screenWidth, zoomed.screenHeight) = (320, 693)
        #expect(CanonicalSignals(zoomed).inputs().count == 4)
        #expect(CanonicalSignals(zoomed).evidence().map(\.text) == ["320x693"])
        var withoutScale = Self.phone
        withoutScale.scale = nil
        #expect(CanonicalSignals(withoutScale).evidence().map(\.text) == ["390x844"])
    }

    @Test(
        "have the language by which the app's clicks are found",
        arguments: [
            // If the server knows no languages of the app, clicks are found by the browser's first language.
            ([], nil, "en", ["tr-TR", "en"], "tr"), ([], nil, "en", [], "en"),
            ([], ["en"], nil, ["tr"], "tr"),
            // If the server knows the app's languages, clicks are found by the language that the system selects from these.
            (["en", "de"], nil, "en", ["tr", "de"], "en"), (["en", "de"], nil, nil, ["tr", "de"], "de"),
            (["en", "de"], ["fr"], nil, ["tr", "fr"], "fr"), (["en"], nil, nil, [], nil),
        ] as [([String], [String]?, String?, [String], String?)]
    )
    func language(set: [String], reported: [String]?, own: String?, preferred: [String], expected: String?) {
        let table = DeviceData.embedded.languages
        let localization =
            set.isEmpty
            ? .unknown : AppLocalization(localizations: set, developmentLanguage: nil, languages: table)
        let signals = NativeSignals(language: own, languages: preferred)
            .withLanguageOfClicks(localization, reported: reported, languages: table)
        #expect(signals.language == expected)
    }
}
