/// A version of iOS or Android: numbers from major to patch, without zeros at the end.
public struct OSVersion: Hashable, Sendable {
    public let major: Int
    public let minor: Int
    /// What follows the minor number; 0 when nothing does, or when it is not known.
    public let patch: Int

    public init(major: Int, minor: Int = 0, patch: Int = 0) {
        self.major = major
        self.minor = minor
        self.patch = patch
    }

    /// Reads `17.2.1`, `17_2_1`, `17` or `14.0.0`; nil for anything else, and for numbers over 999.
    public init?(_ text: some StringProtocol) {
        self.init(bytes: text.utf8)
    }

    /// As for a text, from its bytes.
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

    /// As the system itself spells it: iOS always names the minor number (`17.0`), Android no zeros at the
    /// end (`14`); neither a patch of zero.
    public func text(for platform: Platform) -> String {
        if patch > 0 { return "\(major).\(minor).\(patch)" }
        return minor > 0 || platform == .ios ? "\(major).\(minor)" : "\(major)"
    }

    /// ``text(for:)`` without the patch: what statistics count by.
    public func majorMinorText(for platform: Platform) -> String {
        majorMinor.text(for: platform)
    }

    /// Without the patch.
    var majorMinor: OSVersion { OSVersion(major: major, minor: minor) }
}

extension OSVersion: Comparable {
    public static func < (left: OSVersion, right: OSVersion) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }
}
