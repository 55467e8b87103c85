public import Attribution
import Support

/// A simulated phone, with the values that its operating system reports.
public struct Device: Hashable, Sendable {
    public var platform: Platform
    public var model: String
    public var os: OSVersion
    /// The width of the screen, in points for an iPhone, in pixels for an Android phone.
    public var width: Int
    public var height: Int
    public var scale: Int
    public var zone: String
    public var language: String
    /// The set of components that the app's SDK hashes: `A`…`D`.
    public var form: Character

    /// Returns the text that a client with this form hashes; `os` replaces the device's version unless it is nil.
    public func text(form: Character, os: OSVersion? = nil) -> String {
        let version = (os ?? self.os).text(for: platform)
        let pixels = width * scale
        return switch form {
        case "A": "\(model)|\(version)|\(width)x\(height)|\(zone)|\(language)"
        case "B": "\(model)|\(version)|\(pixels)|\(zone)|\(language)"
        case "C": "\(model)|\(pixels)|\(zone)|\(language)"
        default: "\(model)|\(zone)|\(language)"
        }
    }

    /// The forms of fingerprints that clients on this platform send.
    public var forms: [Character] { platform == .ios ? ["A", "B", "C", "D"] : ["C"] }
}

/// Draws the phones of a world: few kinds of iPhones, and very many kinds of Android phones.
struct Phones {
    private static let screens = [
        (390, 844, 3, 0.24), (393, 852, 3, 0.20), (375, 812, 3, 0.14), (414, 896, 2, 0.12),
        (430, 932, 3, 0.08), (428, 926, 3, 0.06), (375, 667, 2, 0.05), (402, 874, 3, 0.04),
        (440, 956, 3, 0.03), (414, 896, 3, 0.03), (360, 780, 3, 0.01),
    ]
    static let releases: [(OSVersion, Double)] = [
        (OSVersion(major: 26, minor: 1), 0.26), (OSVersion(major: 26, minor: 0, patch: 1), 0.09),
        (OSVersion(major: 26, minor: 0), 0.04), (OSVersion(major: 18, minor: 7, patch: 1), 0.10),
        (OSVersion(major: 18, minor: 7), 0.05), (OSVersion(major: 18, minor: 6, patch: 2), 0.13),
        (OSVersion(major: 18, minor: 6), 0.04), (OSVersion(major: 18, minor: 5), 0.07),
        (OSVersion(major: 18, minor: 3, patch: 2), 0.05), (OSVersion(major: 17, minor: 7), 0.05),
        (OSVersion(major: 17, minor: 6, patch: 1), 0.05), (OSVersion(major: 16, minor: 7, patch: 10), 0.04),
        (OSVersion(major: 15, minor: 8, patch: 3), 0.03),
    ]
    private static let androids: [(Int, Double)] = [(15, 0.3), (14, 0.27), (13, 0.2), (12, 0.12), (11, 0.11)]
    private static let widths = [1080, 1080, 1080, 720, 1440, 1200, 1220, 1080, 720, 1264]
    private static let forms: [(Character, Double)] = [("A", 0.08), ("B", 0.12), ("C", 0.25), ("D", 0.55)]

    static func any(in world: World, _ random: inout SeededGenerator) -> Device {
        let place = world.locales.entries[random.index(weights: world.locales.entries.map(\.share))]
        guard random.chance(world.iosShare) else { return android(place, &random) }
        let screen = screens[random.index(weights: screens.map(\.3))]
        return Device(
            platform: .ios,
            model: random.chance(0.97) ? "iPhone" : "iPad",
            os: releases[random.index(weights: releases.map(\.1))].0,
            width: screen.0,
            height: screen.1,
            scale: screen.2,
            zone: place.zone,
            language: place.language,
            form: forms[random.index(weights: forms.map(\.1))].0
        )
    }

    private static func android(
        _ place: (zone: String, language: String, share: Double),
        _ random: inout SeededGenerator
    ) -> Device {
        // There are 400 kinds; the lower the number of a kind, the more phones are of this kind.
        let kind = random.skewed(below: 400)
        return Device(
            platform: .android,
            model: "SM-A\(100 + kind)",
            os: OSVersion(major: androids[random.index(weights: androids.map(\.1))].0),
            width: widths[kind % widths.count],
            height: 2400,
            scale: 1,
            zone: place.zone,
            language: place.language,
            form: "C"
        )
    }
}
