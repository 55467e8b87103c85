import Attribution
import Testing

@Suite("Fingerprint forms")
struct FingerprintFormTests {
    private func signals(_ device: Vectors.Fingerprints.Device) -> CanonicalSignals {
        let platform = Platform(rawValue: device.platform) ?? .unknown
        return CanonicalSignals(
            NativeSignals(
                platform: platform,
                model: device.model,
                osVersion: device.osVersion,
                screenWidth: platform == .ios ? device.widthPoints : device.widthPixels,
                screenHeight: platform == .ios ? device.heightPoints : device.heightPixels,
                scale: device.scale,
                timezone: device.timezone,
                language: device.language
            )
        )
    }

    @Test("have the hashes of the test vectors for every form and device")
    func vectors() throws {
        let devices = try Vectors.read("fingerprints", as: Vectors.Fingerprints.self).devices
        #expect(devices.count == 12)
        for device in devices {
            let made = signals(device).fingerprints()
            for (form, expected) in device.forms {
                let found = made.filter { $0.form.rawValue == form && $0.fingerprint.hex == expected.sha256 }
                #expect(found.count == 1, "\(device), form \(form)")
            }
        }
    }

    @Test(
        "each have a vector, and matching compares the components that a form lacks",
        arguments: FingerprintForm.allCases
    )
    func complete(form: FingerprintForm) throws {
        let devices = try Vectors.read("fingerprints", as: Vectors.Fingerprints.self).devices
        #expect(devices.contains { $0.forms[form.rawValue] != nil }, "Vectors/fingerprints.json lacks it")
        for component in SignalComponent.allCases where !form.determines(component) {
            let isCompared = component == .osVersion || SignalHashes.components.contains(component)
            #expect(isCompared, "SignalHashes.components lacks \(component)")
        }
    }

    @Test("have the inputs of the test vectors for the device's own values")
    func inputs() throws {
        for device in try Vectors.read("fingerprints", as: Vectors.Fingerprints.self).devices
        where device.platform == "ios" {
            let inputs = signals(device).inputs()
            for (form, expected) in device.forms {
                let input = try #require(inputs.first { $0.form.rawValue == form })
                #expect(input.text == expected.input)
                #expect(input.fingerprint.hex == expected.sha256)
            }
        }
    }

    @Test("are made from a browser's values, starting with the values as given")
    func fromBrowser() throws {
        let page = DeviceSignals(
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
        let devices = try Vectors.read("fingerprints", as: Vectors.Fingerprints.self).devices
        let vector = try #require(devices.first { $0.device == "iPhone 13" })
        let made = CanonicalSignals(page, userAgent: "").fingerprints()
        for form in FingerprintForm.allCases {
            let first = try #require(made.first { $0.form == form })
            #expect(first.fingerprint.hex == vector.forms[form.rawValue]?.sha256)
        }
        // The patch number is unknown, so forms A and B may contain 17.2.1 as well.
        #expect(made.map(\.form) == [.a, .a, .b, .b, .c, .d])
        #expect(made.filter { $0.form == .a }.map(\.osVersion?.patch) == [0, 1])
        #expect(abs(made.filter { $0.form == .a }.reduce(0) { $0 + $1.weight } - 1) < 1e-9)
        #expect(made.suffix(2).map(\.weight) == [1, 1])
        #expect(made.suffix(2).allSatisfy { $0.osVersion == OSVersion(major: 17, minor: 2) })
    }

    @Test("name the missing components if no fingerprint can be made")
    func missing() {
        let nothing = CanonicalSignals(DeviceSignals(), userAgent: "", platform: .ios)
        #expect(nothing.fingerprints().isEmpty)
        #expect(nothing.missing() == [.model, .timezone, .language])
        let unknown = CanonicalSignals(DeviceSignals(), userAgent: "")
        #expect(unknown.missing() == [.model, .width, .timezone, .language])
        let fields = ["model", "screenWidth", "screenHeight", "pixelRatio", "timezone", "language"]
        #expect(unknown.missing().flatMap(\.fields) == fields)
        var most = CanonicalSignals(platform: .ios, model: "iPhone", timezone: "Europe/Istanbul")
        #expect(most.missing() == [.language])
        most.languages = ["tr"]
        #expect(most.missing().isEmpty)
        #expect(most.fingerprints().map(\.form) == [.d])
    }

    @Test("B and D are made for iOS only, A and C for every device")
    func platforms() {
        let android = CanonicalSignals(
            DeviceSignals(
                screenWidth: 412,
                screenHeight: 915,
                pixelRatio: 2.625,
                timezone: "Europe/Istanbul",
                language: "tr",
                uaModel: "SM-A546E",
                uaPlatformVersion: "14.0.0"
            ),
            userAgent: "Mozilla/5.0 (Linux; Android 10; K) Chrome/143.0.0.0 Mobile Safari/537.36"
        )
        #expect(android.fingerprints().map(\.form) == [.a, .c])
        #expect(android.inputs().map(\.text).last == "SM-A546E|1080|Europe/Istanbul|tr")
    }
}
