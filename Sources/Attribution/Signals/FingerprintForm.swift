/// Which components a client hashes into its fingerprint, and in which spelling.
///
/// The raw value is the word in the database.
public enum FingerprintForm: String, CaseIterable, Sendable {
    /// iOS SDK 1.7.0–1.7.1: model, OS version, portrait screen in points, time zone, language.
    case a = "A"

    /// The components in the order in which they are hashed, joined by `|`.
    ///
    /// A new form is a case and a row.
    public var components: [SignalComponent] {
        switch self {
        case .a: [.model, .osVersion, .screen, .timezone, .language]
        }
    }

    /// What a client with these properties hashes; nil when a component is missing.
    public func text(of signals: CanonicalSignals) -> String? {
        var parts: [String] = []
        for component in components {
            guard let value = component.value(in: signals) else { return nil }
            parts.append(value)
        }
        return parts.joined(separator: "|")
    }

    /// The components that are not known.
    public func missing(in signals: CanonicalSignals) -> [SignalComponent] {
        components.filter { $0.value(in: signals) == nil }
    }
}
