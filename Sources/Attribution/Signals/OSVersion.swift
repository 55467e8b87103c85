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
        let parts = text.utf8.split(
            omittingEmptySubsequences: false,
            whereSeparator: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_") }
        )
        guard parts.count <= 4 else { return nil }
        var numbers: [Int] = []
        for part in parts {
            guard (1...3).contains(part.count), part.allSatisfy(\.isASCIIDigit) else { return nil }
            numbers.append(part.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) })
        }
        guard let major = numbers.first, major > 0 else { return nil }
        self.init(
            major: major,
            minor: numbers.count > 1 ? numbers[1] : 0,
            patch: numbers.count > 2 ? numbers[2] : 0
        )
    }

    /// As the system itself spells it: iOS always names the minor number (`17.0`), Android no zeros at the
    /// end (`14`); neither a patch of zero.
    public func text(for platform: Platform) -> String {
        if patch > 0 { return "\(major).\(minor).\(patch)" }
        return minor > 0 || platform == .ios ? "\(major).\(minor)" : "\(major)"
    }

    /// ``text(for:)`` without the patch: what statistics count by.
    public func majorMinorText(for platform: Platform) -> String {
        OSVersion(major: major, minor: minor).text(for: platform)
    }

    func agreesInMajorAndMinor(with other: OSVersion) -> Bool {
        major == other.major && minor == other.minor
    }
}
