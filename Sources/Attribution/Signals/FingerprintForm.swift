internal import Crypto

/// The SHA-256 that a client sends instead of its device's values: 32 bytes as four words.
public struct Fingerprint: Hashable, Sendable {
    public let words: (UInt64, UInt64, UInt64, UInt64)

    public init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

    public static func == (left: Fingerprint, right: Fingerprint) -> Bool { left.words == right.words }
    public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

extension Fingerprint {
    /// Creates the SHA-256 of the UTF-8 bytes of `text`, as clients compute it.
    public init(of text: String) { self.init(words: SHA256.digest(of: Array(text.utf8)).words) }

    /// Returns nil unless there are exactly 64 hexadecimal digits, with letters of either case.
    public init?(hex: String) { self.init(hexDigits: Array(hex.utf8).span) }

    /// Reads the bytes of a request; nil unless they are exactly 64 hexadecimal digits, with letters of either case.
    public init?(hexDigits: Span<UInt8>) {
        guard hexDigits.count == 64, let first = Self.word(hexDigits, at: 0),
            let second = Self.word(hexDigits, at: 16), let third = Self.word(hexDigits, at: 32),
            let fourth = Self.word(hexDigits, at: 48)
        else { return nil }
        self.init(words: (first, second, third, fourth))
    }

    /// Returns whether a text contains at least as many consecutive hexadecimal digits as a fingerprint has.
    public static func mayOccur(in text: String) -> Bool {
        text.utf8.split { Hexadecimal.value(of: $0) == nil }.contains { $0.count >= 64 }
    }

    /// 64 lower-case digits.
    public var hex: String {
        var text: [UInt8] = []
        text.reserveCapacity(64)
        for word in [words.0, words.1, words.2, words.3] { Hexadecimal.append(word, to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    private static func word(_ digits: Span<UInt8>, at start: Int) -> UInt64? {
        guard let high = Hexadecimal.value(ofEight: digits, at: start),
            let low = Hexadecimal.value(ofEight: digits, at: start + 8)
        else { return nil }
        return UInt64(high) << 32 | UInt64(low)
    }
}

/// The components that a client hashes into its fingerprint.
///
/// The raw value is the word in the database, one ASCII letter. Each click is indexed under every form of its
/// platform, because the version that a client reports does not reveal its form: the iOS releases 1.8.4 to
/// 1.8.6 all report 1.8.3, and 1.6.0 to 1.7.1 report 1.6.0.
///
/// A new form is a case with its ``components`` and `isUsed(on:)` here. It also needs the following parts, without
/// which `FingerprintFormTests`, `TrialTests` or `APIDescriptionTests` fail:
/// - its word in `openapi.json`;
/// - a `release` row in `Server/Trial/Data/trials.tsv`, for a release that sends the form;
/// - a vector for the "iPhone 13" in `Tests/AttributionTests/Vectors/fingerprints.json`;
/// - a branch in `Tests/AttributionTests/Signals/SimulatedDevice.swift`.
///
/// The letter needs no migration.
///
/// Every form contains the model, the time zone and the language. Every form of Android also contains the width or the
/// screen, either of which determines the other (``determines(_:)``). A form without one of these components needs that
/// component in `CanonicalSignals.evidence(data:)` and `SignalHashes.components`. For a new kind of component, change
/// `SignalHashes`, `SignalLikelihood`, and the arrays of six components in `FormedFingerprint`.
///
/// The articles on matching and the API list the forms; README, Words and the article on matching state their number.
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

    /// Returns whether equal fingerprints of the form mean equal values of the component.
    ///
    /// A form with the screen counts as determining the width too, and the other way round: with few exceptions,
    /// devices with equal screens in points have equal widths in pixels.
    public func determines(_ component: SignalComponent) -> Bool {
        switch component {
        case .screen, .width: components.contains(.screen) || components.contains(.width)
        default: components.contains(component)
        }
    }

    /// Returns the form that has the fewest components among those that clients of the platform use; among equals, the
    /// first case.
    ///
    /// If a launch sends values, the fingerprint of this form finds its clicks.
    public static func smallest(on platform: Platform) -> FingerprintForm {
        // Every platform uses form C.
        allCases.filter { $0.isUsed(on: platform) }.min { $0.components.count < $1.components.count } ?? .c
    }

    /// Returns whether clients of the platform use the form; an unknown platform may have any client.
    func isUsed(on platform: Platform) -> Bool {
        switch self {
        case .a, .c: true
        case .b, .d: platform == .ios
        }
    }
}

/// One property of a device that goes into fingerprints.
///
/// The raw value is the word in error messages.
public enum SignalComponent: String, CaseIterable, Sendable {
    case model
    case osVersion
    /// Both sides in points.
    case screen
    /// The shorter side in pixels.
    case width
    case timezone
    case language

    /// The component's index among all cases.
    var position: Int {
        switch self {
        case .model: 0
        case .osVersion: 1
        case .screen: 2
        case .width: 3
        case .timezone: 4
        case .language: 5
        }
    }

    /// The fields of a click's `signals` that contain the component.
    public var fields: [String] {
        switch self {
        case .model: ["model"]
        case .osVersion: ["osVersion"]
        case .screen: ["screenWidth", "screenHeight"]
        case .width: ["screenWidth", "screenHeight", "pixelRatio"]
        case .timezone: ["timezone"]
        case .language: ["language"]
        }
    }
}

/// The input of a fingerprint: a form, and a value for each of its components.
public struct FingerprintInput: Hashable, Sendable {
    public let form: FingerprintForm
    /// The values in the order of the form's components.
    public let values: [String]

    /// Returns nil unless there is a value for each of the form's components.
    public init?(form: FingerprintForm, values: [String]) {
        guard values.count == form.components.count else { return nil }
        self.init(form, values)
    }

    init(_ form: FingerprintForm, _ values: [String]) {
        self.form = form
        self.values = values
    }

    public var text: String { values.joined(separator: "|") }
    public var fingerprint: Fingerprint { Fingerprint(of: text) }

    /// Returns the value of a component; nil if the form does not contain it.
    public func value(of component: SignalComponent) -> String? {
        form.components.firstIndex(of: component).map { values[$0] }
    }

    /// Returns the components in which two inputs of one form differ; empty for inputs of different forms.
    public func differences(from other: FingerprintInput) -> [SignalComponent] {
        guard form == other.form else { return [] }
        return form.components.indices.filter { values[$0] != other.values[$0] }.map { form.components[$0] }
    }
}

extension CanonicalSignals {
    /// Returns an input for each form of the platform whose values are all known.
    ///
    /// The input contains the first spelling of each value.
    public func inputs(
        localization: AppLocalization = .unknown,
        data: DeviceData = .embedded
    ) -> [FingerprintInput] {
        let spellings = SignalSpellings(self, localization, data)
        return FingerprintForm.allCases.compactMap { form in
            guard form.isUsed(on: platform) else { return nil }
            let values = form.components.compactMap { component in
                spellings.positions(of: component).first.map { spellings.choices[$0].text }
            }
            return FingerprintInput(form: form, values: values)
        }
    }
}
