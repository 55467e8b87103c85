/// How much is known of a system's version.
public enum OSVersionReading: Hashable, Sendable {
    case unknown
    /// Safari and web views of iOS 26 print this in the place of their version, and nothing else tells.
    ///
    /// It may be the version all the same.
    case frozen(OSVersion)
    /// The major version; nothing of the minor.
    case major(Int)
    /// Major and minor version; nothing of the patch.
    case minor(OSVersion)
    /// To the patch, whose absence means zero.
    case exact(OSVersion)

    /// The version, where major and minor are known; its patch is 0 where that is not.
    public var version: OSVersion? {
        switch self {
        case .unknown, .frozen, .major: nil
        case .minor(let version), .exact(let version): version
        }
    }

    /// This statement, sharpened by a weaker one that agrees with it but also tells the patch.
    func sharpened(by weaker: OSVersionReading) -> OSVersionReading {
        guard case .minor(let known) = self, case .exact(let version) = weaker,
            version.majorMinor == known.majorMinor
        else { return self }
        return weaker
    }
}
