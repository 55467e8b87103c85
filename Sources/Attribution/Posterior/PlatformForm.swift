/// What the share of clicks that become launches is learnt by: the platform, and the form of the fingerprint through
/// which a launch found the click.
///
/// A click is indexed under the fingerprints of every form, and its device sends one of them.
public struct PlatformForm: Hashable, Sendable {
    public let platform: Platform
    /// Nil for a fingerprint that came ready-made.
    public let form: FingerprintForm?

    public init(platform: Platform, form: FingerprintForm?) {
        self.platform = platform
        self.form = form
    }

    /// The lane of a ``code``; nil for one that is none.
    public init?(code: UInt64) {
        guard let platform = Platform.allCases.first(where: { UInt64($0.code) == code >> 8 }) else {
            return nil
        }
        let letter = UInt8(truncatingIfNeeded: code)
        self.init(
            platform: platform,
            form: FingerprintForm.allCases.first { $0.rawValue.utf8.first == letter }
        )
    }

    /// The lane as a part of a counter's key: the same for ever, whatever forms are added.
    public var code: UInt64 {
        UInt64(platform.code) << 8 | UInt64(form?.rawValue.utf8.first ?? 0)
    }
}

extension Platform {
    /// The platform as a part of counters' keys.
    var code: UInt8 {
        switch self {
        case .ios: 1
        case .android: 2
        case .other: 3
        case .unknown: 4
        }
    }
}
