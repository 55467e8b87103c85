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

    @Test("give the hash of every form of every device of the shared vectors, under that form")
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

    @Test("have a vector each; what one leaves out is compared", arguments: FingerprintForm.allCases)
    func complete(form: FingerprintForm) throws {
        let devices = try Vectors.read("fingerprints", as: Vectors.Fingerprints.self).devices
        #expect(devices.contains { $0.forms[form.rawValue] != nil }, "Vectors/fingerprints.json has none")
        for component in SignalComponent.allCases where !form.determines(component) {
            let isCompared = component == .osVersion || SignalHashes.components.contains(component)
            #expect(isCompared, "SignalHashes.components lacks \(component)")
        }
    }

    @Test("give the input of every form of the shared vectors from the values as the device has them")
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

    @Test("are made of what a browser on the device says, the hash of the values as they came first")
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
        let vector = try #require(
            Vectors.read("fingerprints", as: Vectors.Fingerprints.self).devices.first {
                $0.device == "iPhone 13"
            }
        )
        let made = CanonicalSignals(page, userAgent: "").fingerprints()
        for form in FingerprintForm.allCases {
            let first = try #require(made.first { $0.form == form })
            #expect(first.fingerprint.hex == vector.forms[form.rawValue]?.sha256)
        }
        // Nobody told the patch, so that forms A and B may hold 17.2.1 as well.
        #expect(made.map(\.form) == [.a, .a, .b, .b, .c, .d])
        #expect(made.filter { $0.form == .a }.map(\.osVersion?.patch) == [0, 1])
        #expect(abs(made.filter { $0.form == .a }.reduce(0) { $0 + $1.weight } - 1) < 1e-9)
        #expect(made.suffix(2).map(\.weight) == [1, 1])
        #expect(made.suffix(2).allSatisfy { $0.osVersion == OSVersion(major: 17, minor: 2) })
    }

    @Test("name what is missing when none can be made")
    func missing() {
        let nothing = CanonicalSignals(DeviceSignals(), userAgent: "", platform: .ios)
        #expect(nothing.fingerprints().isEmpty)
        #expect(nothing.missing() == [.model, .timezone, .language])
        let unknown = CanonicalSignals(DeviceSignals(), userAgent: "")
        #expect(unknown.missing() == [.model, .width, .timezone, .language])
        #expect(
            unknown.missing().flatMap(\.fields) == [
                "model", "screenWidth", "screenHeight", "pixelRatio", "timezone", "language",
            ]
        )
        var most = CanonicalSignals(platform: .ios, model: "iPhone", timezone: "Europe/Istanbul")
        #expect(most.missing() == [.language])
        most.languages = ["tr"]
        #expect(most.missing().isEmpty)
        #expect(most.fingerprints().map(\.form) == [.d])
    }

    @Test("B and D are made for iOS alone, A and C for any device")
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
