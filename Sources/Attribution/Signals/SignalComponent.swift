/// One property of a device that goes into fingerprints.
///
/// The raw value is the word in error messages.
public enum SignalComponent: String, CaseIterable, Sendable {
    case model
    case osVersion
    case screen
    case timezone
    case language

    func value(in signals: CanonicalSignals) -> String? {
        switch self {
        case .model: signals.model
        case .osVersion: signals.osVersion?.text(for: signals.platform)
        case .screen: signals.screen?.text
        case .timezone: signals.timezone
        case .language: signals.language
        }
    }

    /// The fields of a click's `signals` that it is read from.
    public var fields: [String] {
        switch self {
        case .model: ["model"]
        case .osVersion: ["osVersion"]
        case .screen: ["screenWidth", "screenHeight"]
        case .timezone: ["timezone"]
        case .language: ["language"]
        }
    }
}
