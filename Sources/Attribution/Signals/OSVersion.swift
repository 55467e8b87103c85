/// A version of iOS or Android: major, minor and patch number.
public struct OSVersion: Hashable, Sendable {
    public let major: Int
    public let minor: Int
    /// The number after the minor one; 0 if it is missing or unknown.
    public let patch: Int

    public init(major: Int, minor: Int = 0, patch: Int = 0) {
        self.major = major
        self.minor = minor
        self.patch = patch
    }

    /// Reads `17.2.1`, `17_2_1`, `17` or `14.0.0`; nil for any other text, numbers over 999, and a major
    /// number of 0; ignores a fourth number.
    public init?(_ text: some StringProtocol) { self.init(bytes: text.utf8) }

    init?(bytes: some Sequence<UInt8>) {
        var numbers = (0, 0, 0)
        var part = 0
        var digits = 0
        for byte in bytes {
            if byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") {
                guard digits > 0, part < 3 else { return nil }
                part += 1
                digits = 0
                continue
            }
            guard byte.isASCIIDigit, digits < 3 else { return nil }
            digits += 1
            let digit = Int(byte - UInt8(ascii: "0"))
            switch part {
            case 0: numbers.0 = numbers.0 * 10 + digit
            case 1: numbers.1 = numbers.1 * 10 + digit
            case 2: numbers.2 = numbers.2 * 10 + digit
            default: break
            }
        }
        guard digits > 0, numbers.0 > 0 else { return nil }
        self.init(major: numbers.0, minor: numbers.1, patch: numbers.2)
    }

    /// Returns the version in the system's own spelling: iOS always includes the minor number (`17.0`),
    /// Android omits zeros at the end (`14`), and both omit a patch of zero.
    public func text(for platform: Platform) -> String {
        if patch > 0 { return "\(major).\(minor).\(patch)" }
        return minor > 0 || platform == .ios ? "\(major).\(minor)" : "\(major)"
    }

    /// Returns ``text(for:)`` without the patch, as statistics use it.
    public func majorMinorText(for platform: Platform) -> String { majorMinor.text(for: platform) }

    var majorMinor: OSVersion { OSVersion(major: major, minor: minor) }
}

extension OSVersion: Comparable {
    public static func < (left: OSVersion, right: OSVersion) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }
}

/// The known part of a system's version.
public enum OSVersionReading: Hashable, Sendable {
    case unknown
    /// The number that Safari and web views print instead of the version since iOS 26, if no other value
    /// shows the version; it may still be the true version.
    case frozen(OSVersion)
    /// The major version is known, the minor is not.
    case major(Int)
    /// Major and minor version are known, the patch is not.
    case minor(OSVersion)
    /// The whole version is known; a patch of 0 means that the version has none.
    case exact(OSVersion)

    /// The version if its major and minor numbers are known, with the patch 0 if the patch is unknown; else nil.
    public var version: OSVersion? {
        switch self {
        case .unknown, .frozen, .major: nil
        case .minor(let version), .exact(let version): version
        }
    }

    /// Returns `weaker` if it agrees with this reading and adds the patch, else this reading.
    func sharpened(by weaker: OSVersionReading) -> OSVersionReading {
        guard case .minor(let known) = self, case .exact(let version) = weaker,
            version.majorMinor == known.majorMinor
        else { return self }
        return weaker
    }
}
