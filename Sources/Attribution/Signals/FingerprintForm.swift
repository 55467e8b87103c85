/// Which components a client hashes into its fingerprint.
///
/// The raw value is the word in the database. Which form a client uses cannot be told from its version: iOS
/// releases 1.8.4 to 1.8.6 all call themselves 1.8.3, 1.6.0 to 1.7.1 call themselves 1.6.0, so that a click is
/// found under every form. A new form is a case and a row in ``components`` and `isUsed(on:)`.
public enum FingerprintForm: String, CaseIterable, Sendable {
    /// The first version of the contract; iOS SDK 1.7.0–1.7.1.
    case a = "A"
    /// iOS SDK 1.8.4–1.8.5.
    case b = "B"
    /// iOS SDK 1.8.6–1.8.7 and the Android SDK.
    case c = "C"
    /// iOS SDK 1.8.8 and later.
    case d = "D"

    /// The components in the order in which they are hashed, joined by `|`.
    public var components: [SignalComponent] {
        switch self {
        case .a: [.model, .osVersion, .screen, .timezone, .language]
        case .b: [.model, .osVersion, .width, .timezone, .language]
        case .c: [.model, .width, .timezone, .language]
        case .d: [.model, .timezone, .language]
        }
    }

    /// Whether a fingerprint of the form tells what the component tells, be it in other words: a screen's points say
    /// how many pixels it has across, and its pixels how many points.
    func holds(_ component: SignalComponent) -> Bool {
        switch component {
        case .screen, .width: components.contains(.screen) || components.contains(.width)
        default: components.contains(component)
        }
    }

    /// Whether clients of the platform use it; a click of no known platform may be of any of them.
    func isUsed(on platform: Platform) -> Bool {
        switch self {
        case .a, .c: true
        case .b, .d: platform == .ios
        }
    }
}
