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

/// A fingerprint made from signals.
public struct FormedFingerprint: Hashable, Sendable {
    public let form: FingerprintForm
    public let fingerprint: Fingerprint
    /// How likely a client of this form sends it, 0…1.
    public let weight: Double

    public init(form: FingerprintForm, fingerprint: Fingerprint, weight: Double) {
        self.form = form
        self.fingerprint = fingerprint
        self.weight = weight
    }
}

extension CanonicalSignals {
    /// The fingerprints that clients on this device may send, in every form for which enough is known.
    public var fingerprints: [FormedFingerprint] {
        FingerprintForm.allCases.compactMap { form in
            form.text(of: self).map {
                FormedFingerprint(form: form, fingerprint: Fingerprint(of: $0), weight: 1)
            }
        }
    }

    /// What is missing for the form that needs least more; empty when there is a fingerprint.
    public var missing: [SignalComponent] {
        FingerprintForm.allCases.map { $0.missing(in: self) }.min(by: { $0.count < $1.count }) ?? []
    }
}
