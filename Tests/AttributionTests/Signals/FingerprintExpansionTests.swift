import Attribution
import Testing

@Suite("Fingerprints of a click")
struct FingerprintExpansionTests {
    private let data = DeviceData.embedded

    private func iPhone(
        system: OSVersionReading = .exact(OSVersion(major: 17, minor: 2)),
        screen: (Double, Double) = (390, 844),
        timezone: String = "Europe/Istanbul",
        languages: [String] = ["tr"]
    ) -> CanonicalSignals {
        CanonicalSignals(
            platform: .ios,
            model: "iPhone",
            system: system,
            screen: ScreenSize(screen.0, screen.1),
            scale: 3,
            timezone: data.timeZones.canonical(timezone),
            givenTimezone: timezone,
            languages: languages
        )
    }

    private func weights(
        _ signals: CanonicalSignals,
        _ form: FingerprintForm,
        _ localization: AppLocalization = .unknown
    ) -> [Fingerprint: Double] {
        let made = signals.fingerprints(localization: localization).filter { $0.form == form }
        return Dictionary(uniqueKeysWithValues: made.map { ($0.fingerprint, $0.weight) })
    }

    @Test(
        "include a time zone's canonical, old and American names, and the names of UTC",
        arguments: [
            ("Asia/Calcutta", ["Asia/Calcutta", "Asia/Kolkata"]),
            ("Asia/Kolkata", ["Asia/Calcutta", "Asia/Kolkata"]),
            ("Europe/Kyiv", ["Europe/Kyiv", "Europe/Kiev"]),
            ("America/New_York", ["America/New_York", "US/Eastern"]),
            ("Turkey", ["Turkey", "Europe/Istanbul"]), ("europe/istanbul", ["Europe/Istanbul"]),
            ("UTC", ["UTC", "GMT", "Etc/UTC"]), ("Etc/GMT-3", ["Etc/GMT-3", "GMT+03:00", "GMT+0300"]),
            ("+05:30", ["+05:30", "GMT+05:30", "GMT+0530"]), ("Mars/Base", ["Mars/Base"]),
        ]
    )
    func timeZones(_ given: String, names: [String]) {
        let made = weights(iPhone(timezone: given), .d)
        #expect(Set(made.keys) == Set(names.map { Fingerprint(of: "iPhone|\($0)|tr") }))
        #expect(abs(made.values.reduce(0, +) - 1) < 1e-9)
        let asItCame = given == "europe/istanbul" ? "Europe/Istanbul" : given
        #expect(iPhone(timezone: given).inputs().last?.value(of: .timezone) == asItCame)
    }

    @Test("include the language and its old code, which Android mostly uses")
    func oldCodes() throws {
        let ios = weights(iPhone(languages: ["he"]), .d)
        #expect(ios.count == 2)
        #expect(try #require(ios[Fingerprint(of: "iPhone|Europe/Istanbul|he")]) > 0.9)
        let android = CanonicalSignals(
            platform: .android,
            model: "M2101K6G",
            panelWidth: 1080,
            timezone: "Asia/Jakarta",
            languages: ["id"]
        )
        let made = weights(android, .c)
        #expect(try #require(made[Fingerprint(of: "M2101K6G|1080|Asia/Jakarta|in")]) > 0.5)
        #expect(made[Fingerprint(of: "M2101K6G|1080|Asia/Jakarta|id")] != nil)
    }

    @Test("include the language that iOS selects from the app's, and with less weight the preferred language")
    func negotiatedLanguage() {
        let table = data.languages
        let app = AppLocalization(localizations: ["tr", "en"], developmentLanguage: "en", languages: table)
        let german = iPhone(languages: ["de", "tr"])
        let (tr, de) = (
            Fingerprint(of: "iPhone|Europe/Istanbul|tr"), Fingerprint(of: "iPhone|Europe/Istanbul|de")
        )
        #expect(weights(german, .d, app) == [tr: 1, de: 0.3])
        #expect(german.fingerprints(localization: app).first { $0.form == .d }?.weight == 1)
        let en = Fingerprint(of: "iPhone|Europe/Istanbul|en")
        #expect(weights(iPhone(languages: ["en"]), .d, app) == [en: 1])
        var android = german
        android.platform = .android
        android.panelWidth = 1080
        #expect(weights(android, .c, app).count == 1)
    }

    @Test("include all releases that the known version allows, weighted by their shares")
    func releases() throws {
        let new = OSVersion(major: 26, minor: 2)
        let made = iPhone(system: .minor(new)).fingerprints().filter { $0.form == .a }
        #expect(made.map(\.osVersion) == [new, OSVersion(major: 26, minor: 2, patch: 1)])
        #expect(abs(made.reduce(0) { $0 + $1.weight } - 1) < 1e-9)

        let exact = iPhone().fingerprints().filter { $0.form == .b }
        #expect(exact.map(\.osVersion) == [OSVersion(major: 17, minor: 2)])

        let frozen = iPhone(system: .frozen(OSVersion(major: 18, minor: 7))).fingerprints()
        let versions = Set(frozen.filter { $0.form == .a }.compactMap(\.osVersion))
        #expect(versions.contains(OSVersion(major: 26, minor: 3, patch: 1)))
        #expect(!versions.contains(OSVersion(major: 26)))
        #expect(!versions.contains(OSVersion(major: 18, minor: 7, patch: 1)))
        #expect(versions.allSatisfy { $0.major == 26 || $0 == OSVersion(major: 18, minor: 7) })
        #expect(frozen.filter { $0.form == .d }.map(\.osVersion) == [nil])
        let early = iPhone(system: .frozen(OSVersion(major: 18, minor: 6))).fingerprints()
        let possible = Set(early.filter { $0.form == .a }.compactMap(\.osVersion))
        #expect(
            possible == [
                OSVersion(major: 18, minor: 6), OSVersion(major: 26), OSVersion(major: 26, patch: 1),
            ]
        )
        // A version newer than the data is the only possible one.
        let future = iPhone(system: .minor(OSVersion(major: 99, minor: 1))).fingerprints()
        #expect(future.first?.osVersion == OSVersion(major: 99, minor: 1))
        #expect(future.first?.weight == 1)
    }

    @Test("include both widths under Display Zoom")
    func displayZoom() {
        let made = weights(iPhone(screen: (320, 693)), .c)
        #expect(made[Fingerprint(of: "iPhone|960|Europe/Istanbul|tr")] != nil)
        #expect(made[Fingerprint(of: "iPhone|1170|Europe/Istanbul|tr")] != nil)
    }

    @Test("are at most sixty, all different, and always in the same order")
    func bounds() {
        let systems: [OSVersionReading] = [
            .unknown, .frozen(OSVersion(major: 18, minor: 7)), .major(18),
            .minor(OSVersion(major: 26, minor: 2)), .exact(OSVersion(major: 17, minor: 2)),
        ]
        let app = AppLocalization(localizations: ["iw"], developmentLanguage: nil, languages: data.languages)
        for system in systems {
            for screen in [(390.0, 844.0), (375, 812), (320, 693)] {
                for zone in [
                    "UTC", "America/New_York", "America/Indianapolis", "Etc/GMT+7", "Europe/Istanbul",
                ] {
                    for languages in [["he"], ["id", "he"], ["tr"], []] {
                        var signals = iPhone(system: system, screen: screen, timezone: zone)
                        signals.languages = languages
                        let made = signals.fingerprints(localization: app)
                        #expect(made.count <= CanonicalSignals.maximumFingerprints)
                        #expect(made.isEmpty == languages.isEmpty)
                        #expect(Set(made.map(\.fingerprint)).count == made.count)
                        #expect(made == signals.fingerprints(localization: app))
                        #expect(made.allSatisfy { $0.weight > 0 && $0.weight <= 1 })
                        #expect(made.map(\.form.rawValue) == made.map(\.form.rawValue).sorted())
                    }
                }
            }
        }
    }

    @Test("include every form, even if too little is known to include every fingerprint")
    func everyForm() throws {
        let rows = (0..<50).map { "ios-release\t26.\($0)\t1" }.joined(separator: "\n")
        let even = try DeviceData(replacing: Array(rows.utf8), file: "even.tsv")
        let signals = iPhone(system: .unknown, screen: (375, 812), timezone: "UTC", languages: ["he"])
        let made = signals.fingerprints(data: even)
        #expect(made.count == CanonicalSignals.maximumFingerprints)
        #expect(Set(made.map(\.form)) == Set(FingerprintForm.allCases))
        #expect(made == signals.fingerprints(data: even))
        let embedded = iPhone(system: .unknown).fingerprints()
        #expect(Set(embedded.filter { $0.form == .a }.compactMap(\.osVersion)).count >= 15)
    }

    @Test("are the hashes of the inputs, in the same order")
    func inputs() {
        for system in [OSVersionReading.unknown, .minor(OSVersion(major: 26, minor: 4))] {
            for timezone in ["Asia/Calcutta", "America/New_York"] {
                let device = iPhone(system: system, screen: (375, 812), timezone: timezone, languages: ["he"])
                let (made, inputs) = (device.fingerprints(), device.fingerprintInputs())
                #expect(made.map(\.fingerprint) == inputs.map(\.fingerprint))
                #expect(made.map(\.form) == inputs.map(\.form))
                #expect(!made.isEmpty)
            }
        }
    }

    @Test("contain a known component in each of its spellings; an unknown component has none")
    func spellings() {
        let device = iPhone(system: .unknown, timezone: "Asia/Calcutta", languages: ["he"])
        #expect(device.spellings(of: .model) == [Spelling("iPhone", weight: 1)])
        #expect(Set(device.spellings(of: .timezone).map(\.text)) == ["Asia/Calcutta", "Asia/Kolkata"])
        #expect(Set(device.spellings(of: .language).map(\.text)) == ["he", "iw"])
        #expect(device.spellings(of: .osVersion).count > 10)
        #expect(CanonicalSignals(platform: .ios).spellings(of: .model).isEmpty)
    }
}
