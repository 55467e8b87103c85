/// The components that a client hashes into its fingerprint.
///
/// The raw value is the word in the database. A client's version does not reveal its form: iOS releases 1.8.4 to 1.8.6 all
/// call themselves 1.8.3, and 1.6.0 to 1.7.1 call themselves 1.6.0. So each click is indexed under every form.
///
/// A new form is a case with its ``components`` and `isUsed(on:)`, an `SDKRelease` that sends it, a vector in the tests, and
/// the word in `openapi.json`; `FingerprintFormTests` names what is missing.
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

    /// Whether equal fingerprints of the form mean equal values of the component, which may be hashed as another: a
    /// screen's points decide its width in pixels, and its pixels decide its points.
    public func determines(_ component: SignalComponent) -> Bool {
        switch component {
        case .screen, .width: components.contains(.screen) || components.contains(.width)
        default: components.contains(component)
        }
    }

    /// Whether clients of the platform use the form; a click of unknown platform may come from any of them.
    func isUsed(on platform: Platform) -> Bool {
        switch self {
        case .a, .c: true
        case .b, .d: platform == .ios
        }
    }
}
