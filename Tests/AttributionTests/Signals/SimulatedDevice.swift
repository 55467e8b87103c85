import Attribution
import Support

/// A device with a click and a first launch: its browser's values, and the text that its client hashes.
///
/// Browser and app spell values differently, as in reality, and independently of the tables under test.
struct SimulatedDevice {
    let page: DeviceSignals
    let userAgent: String
    let form: FingerprintForm
    /// The text that the client hashes.
    let hashed: String

    /// The visitors of an app, and the app's languages.
    enum Audience: CaseIterable, Sendable {
        /// Four of five visitors are in Turkey; the app speaks Turkish and English.
        case turkish
        /// The visitors are everywhere, mostly in time zones with two names; the app speaks most visitors' languages.
        case world

        var localizations: [String] {
            switch self {
            case .turkish: ["tr", "en"]
            case .world: ["tr", "en", "de", "es", "hi", "vi", "uk", "id"]
            }
        }

        fileprivate func place(_ random: inout SeededGenerator) -> Place? {
            let isHome = self == .turkish && Int.random(in: 0..<5, using: &random) > 0
            return isHome ? places.first : places.randomElement(using: &random)
        }
    }

    fileprivate struct Place {
        let zone: String
        /// The name of the time zone in older tables.
        let oldZone: String?
        let american: String?
        let language: String
        let region: String
    }

    private static let places = [
        Place(zone: "Europe/Istanbul", oldZone: nil, american: nil, language: "tr", region: "TR"),
        Place(zone: "Europe/Berlin", oldZone: nil, american: nil, language: "de", region: "DE"),
        Place(zone: "Asia/Kolkata", oldZone: "Asia/Calcutta", american: nil, language: "hi", region: "IN"),
        Place(zone: "Asia/Ho_Chi_Minh", oldZone: "Asia/Saigon", american: nil, language: "vi", region: "VN"),
        Place(zone: "Europe/Kyiv", oldZone: "Europe/Kiev", american: nil, language: "uk", region: "UA"),
        Place(
            zone: "America/Argentina/Buenos_Aires",
            oldZone: "America/Buenos_Aires",
            american: nil,
            language: "es",
            region: "AR"
        ),
        Place(zone: "America/New_York", oldZone: nil, american: "US/Eastern", language: "en", region: "US"),
        Place(zone: "Asia/Jakarta", oldZone: nil, american: nil, language: "id", region: "ID"),
        Place(zone: "Asia/Jerusalem", oldZone: nil, american: nil, language: "he", region: "IL"),
    ]

    private static let versions = [
        "16.7.10", "17.2.1", "17.5", "17.6.1", "18.1.1", "18.3.2", "18.5", "18.6.2", "18.7.1", "26.0.1",
        "26.1", "26.2", "26.2.1", "26.3", "26.3.1",
    ]

    private static let iPhones: [(width: Double, height: Double, scale: Double)] = [
        (390, 844, 3), (393, 852, 3), (430, 932, 3), (375, 812, 3), (414, 896, 2), (375, 667, 2),
        (402, 874, 3), (440, 956, 3), (390, 844, 3), (393, 852, 3), (428, 926, 3), (414, 896, 3),
    ]

    /// Returns a screen; 3 % of the screens use Display Zoom.
    private static func screen(_ random: inout SeededGenerator) -> (
        width: Double, height: Double, scale: Double
    )? {
        if Int.random(in: 0..<100, using: &random) < 3 { return (320, 693, 3) }
        return iPhones.randomElement(using: &random)
    }

    private static let androids: [(model: String, pixels: Int, ratios: [Double])] = [
        ("SM-A546E", 1080, [2.625, 2.8125, 3, 3.375]), ("SM-S928B", 1440, [3.5, 4]),
        ("M2101K6G", 1080, [2.75, 3]), ("Redmi 9A", 720, [1.75, 2]), ("2201117TG", 1220, [2.75, 3.1875]),
        ("Pixel 9 Pro Fold", 2076, [2.4375]), ("SM-F956B", 968, [2.625]),
    ]

    static func iPhone(_ audience: Audience, _ random: inout SeededGenerator) -> SimulatedDevice? {
        guard let place = audience.place(&random),
            let version = versions.randomElement(using: &random),
            let screen = screen(&random),
            let form = FingerprintForm.allCases.randomElement(using: &random)
        else { return nil }
        let preferred = [place.language, "en"]
        let language = preferred.first { audience.localizations.contains($0) } ?? "en"
        let width = String(Int(screen.width * screen.scale))
        let sides = "\(Int(screen.width))x\(Int(screen.height))"
        let zone = nativeZone(place, &random)
        let components: [String] =
            switch form {
            case .a: ["iPhone", version, sides, zone, language]
            case .b: ["iPhone", version, width, zone, language]
            case .c: ["iPhone", width, zone, language]
            case .d: ["iPhone", zone, language]
            }
        return SimulatedDevice(
            page: DeviceSignals(
                screenWidth: screen.width,
                screenHeight: screen.height,
                pixelRatio: screen.scale,
                timezone: browserZone(place, &random),
                language: "\(place.language)-\(place.region)",
                languages: ["\(place.language)-\(place.region)", "en-US"],
                touchPoints: 5
            ),
            userAgent: agent(version, &random),
            form: form,
            hashed: components.joined(separator: "|")
        )
    }

    static func android(_ audience: Audience, _ random: inout SeededGenerator) -> SimulatedDevice? {
        guard let place = audience.place(&random), let device = androids.randomElement(using: &random),
            let ratio = device.ratios.randomElement(using: &random)
        else { return nil }
        let old = ["he": "iw", "id": "in"][place.language]
        let language = Double.random(in: 0..<1, using: &random) < 0.8 ? old ?? place.language : place.language
        // Browsers round the points of a screen up.
        let points = (Double(device.pixels) / ratio).rounded(.up)
        return SimulatedDevice(
            page: DeviceSignals(
                screenWidth: points,
                screenHeight: points * 2,
                pixelRatio: ratio,
                timezone: browserZone(place, &random),
                language: "\(place.language)-\(place.region)",
                touchPoints: 5,
                uaModel: device.model,
                uaPlatformVersion: "14.0.0"
            ),
            userAgent:
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Mobile Safari/537.36",
            form: .c,
            hashed: [device.model, String(device.pixels), nativeZone(place, &random), language]
                .joined(separator: "|")
        )
    }

    private static func nativeZone(_ place: Place, _ random: inout SeededGenerator) -> String {
        let chance = Double.random(in: 0..<1, using: &random)
        if let old = place.oldZone, chance < 0.25 { return old }
        if let american = place.american, chance < 0.01 { return american }
        return place.zone
    }

    private static func browserZone(_ place: Place, _ random: inout SeededGenerator) -> String {
        guard let old = place.oldZone, Bool.random(using: &random) else { return place.zone }
        return old
    }

    /// Returns a user agent: mostly Safari's, else an app's with the version, Chrome's without patch, or a web view's.
    private static func agent(_ version: String, _ random: inout SeededGenerator) -> String {
        let parts = version.split(separator: ".").map(String.init)
        let isNew = parts[0] == "26"
        let frozen = version.hasPrefix("26.0") ? "18_6" : "18_7"
        let token = isNew ? frozen : parts.joined(separator: "_")
        let minor = "\(parts[0]).\(parts[1])"
        let start =
            "Mozilla/5.0 (iPhone; CPU iPhone OS \(token) like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
        switch Int.random(in: 0..<100, using: &random) {
        case ..<60: return "\(start) Version/\(minor) Mobile/15E148 Safari/604.1"
        case ..<75:
            return
                "\(start) Mobile/15E148 Instagram 400.0 (iPhone15,2; iOS \(parts.joined(separator: "_")); tr_TR; tr)"
        case ..<85:
            return "\(start) Mobile/15E148 [FBAN/FBIOS;FBDV/iPhone15,2;FBSV/\(version);FBSS/3;FBLC/tr_TR]"
        case ..<95:
            return
                "Mozilla/5.0 (iPhone; CPU iPhone OS \(parts[0])_\(parts[1])_0 like Mac OS X) CriOS/143.0 Mobile/15E148"
        default: return "\(start) Mobile/15E148"
        }
    }
}
