import Attribution
import Testing

@Suite("Fingerprint form A")
struct FingerprintFormTests {
    @Test("gives the input and the hash of every iOS device of the shared vectors")
    func vectors() throws {
        let devices = try Vectors.read("fingerprints", as: Vectors.Fingerprints.self).devices
        let formA = devices.filter { $0.forms["A"] != nil }
        #expect(formA.count == 8)
        for device in formA {
            let expected = try #require(device.forms["A"])
            let signals = CanonicalSignals(
                platform: .ios,
                model: device.model,
                osVersion: device.osVersion.flatMap { OSVersion($0) },
                screen: ScreenSize(device.widthPoints, device.heightPoints),
                timezone: device.timezone,
                language: device.language
            )
            #expect(FingerprintForm.a.text(of: signals) == expected.input, "\(device)")
            #expect(signals.fingerprints.first?.fingerprint.hex == expected.sha256, "\(device)")
            #expect(signals.missing.isEmpty)
        }
    }

    @Test("makes the same of what a browser on the device says")
    func fromBrowser() {
        let signals = DeviceSignals(
            model: "iPhone",
            osVersion: "17.2",
            screenWidth: 844,
            screenHeight: 390.4,
            pixelRatio: 3,
            timezone: "Europe/Istanbul",
            language: "tr-TR",
            languages: ["tr-TR", "en"],
            touchPoints: 5
        )
        let canonical = CanonicalSignals(signals, userAgent: "")
        #expect(FingerprintForm.a.text(of: canonical) == "iPhone|17.2|390x844|Europe/Istanbul|tr")
        #expect(
            canonical.fingerprints.map(\.fingerprint.hex) == [
                "0e91842a14dae57f0f7645e51008851fbc871ff8d26374c658812009e4735c4c"
            ]
        )
        #expect(canonical.fingerprints.map(\.weight) == [1])
        #expect(canonical.fingerprints.map(\.form) == [.a])
    }

    @Test("names what is missing when it cannot be made")
    func missing() {
        let nothing = CanonicalSignals(DeviceSignals(), userAgent: "")
        #expect(nothing.fingerprints.isEmpty)
        #expect(nothing.missing == [.model, .osVersion, .screen, .timezone, .language])
        #expect(
            nothing.missing.flatMap(\.fields) == [
                "model", "osVersion", "screenWidth", "screenHeight", "timezone", "language",
            ]
        )

        var most = CanonicalSignals(
            platform: .ios,
            model: "iPhone",
            osVersion: OSVersion(major: 17, minor: 2)
        )
        most.timezone = "Europe/Istanbul"
        #expect(most.missing == [.screen, .language])
        #expect(FingerprintForm.a.text(of: most) == nil)
        most.screen = ScreenSize(390, 844)
        most.language = "tr"
        #expect(most.missing.isEmpty)
        #expect(most.fingerprints.count == 1)
    }

    @Test("is made under the time zone's own name first, and under its canonical one")
    func timeZoneSpellings() {
        let signals = CanonicalSignals(
            platform: .ios,
            model: "iPhone",
            osVersion: OSVersion(major: 17),
            screen: ScreenSize(390, 844),
            timezone: "Asia/Calcutta",
            language: "hi"
        )
        let expected = ["iPhone|17.0|390x844|Asia/Calcutta|hi", "iPhone|17.0|390x844|Asia/Kolkata|hi"]
        #expect(signals.fingerprints.map(\.fingerprint) == expected.map(Fingerprint.init(of:)))
        #expect(signals.fingerprints.map(\.weight) == [0.5, 0.5])
    }
}
