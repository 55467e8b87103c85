/// The values that apps on one device may hash for every component, with their probabilities.
struct SignalSpellings {
    /// One value of a component.
    struct Choice {
        let text: String
        let weight: Double
        /// The version that the value means; nil for values of other components.
        let osVersion: OSVersion?
    }

    /// The choices of all components, one component after the other.
    let choices: [Choice]
    /// The range of each component's choices, by ``SignalComponent/position``; empty if it is unknown.
    private let places: InlineArray<6, Range<Int>>

    /// The probability that an app gets the person's most preferred language although it does not come in it.
    private static let rawLanguageWeight = 0.3

    init(_ signals: CanonicalSignals, _ localization: AppLocalization, _ data: DeviceData) {
        var choices: [Choice] = []
        choices.reserveCapacity(12)
        var places = InlineArray<6, Range<Int>>(repeating: 0..<0)
        for component in SignalComponent.allCases {
            let start = choices.count
            switch component {
            case .model: Self.add(signals.model, to: &choices)
            case .osVersion: Self.addReleases(signals, data, to: &choices)
            case .screen: Self.add(signals.screen?.text, to: &choices)
            case .width: Self.addWidths(signals, data, to: &choices)
            case .timezone:
                if let given = signals.givenTimezone {
                    Self.add(data.timeZones.spellings(given: given), to: &choices)
                }
            case .language: Self.addLanguages(signals, localization, data, to: &choices)
            }
            places[component.position] = start..<choices.count
        }
        self.choices = choices
        self.places = places
    }

    /// Returns the range of the component's choices in ``choices``.
    func positions(of component: SignalComponent) -> Range<Int> { places[component.position] }

    func isKnown(_ component: SignalComponent) -> Bool { !positions(of: component).isEmpty }

    private static func add(_ text: String?, to choices: inout [Choice]) {
        if let text { choices.append(Choice(text: text, weight: 1, osVersion: nil)) }
    }

    private static func add(_ spellings: [Spelling], times share: Double = 1, to choices: inout [Choice]) {
        for spelling in spellings {
            choices.append(Choice(text: spelling.text, weight: spelling.weight * share, osVersion: nil))
        }
    }

    private static func addReleases(
        _ signals: CanonicalSignals,
        _ data: DeviceData,
        to choices: inout [Choice]
    ) {
        let reported = signals.osVersion
        guard signals.platform == .ios else {
            if let reported {
                let text = reported.text(for: signals.platform)
                choices.append(Choice(text: text, weight: 1, osVersion: reported))
            }
            return
        }
        let start = choices.count
        for release in data.releases.candidates(for: signals.system) {
            choices.append(Choice(text: release.text, weight: release.share, osVersion: release.version))
            // The reported value comes first, because it determines the click's main fingerprint.
            if release.version == reported { choices.swapAt(start, choices.count - 1) }
        }
    }

    private static func addWidths(
        _ signals: CanonicalSignals,
        _ data: DeviceData,
        to choices: inout [Choice]
    ) {
        if let width = signals.panelWidth {
            add(String(width), to: &choices)
        } else if let screen = signals.screen {
            let widths =
                signals.platform == .ios
                ? data.screens.iosWidths(of: screen, scale: signals.scale)
                : data.screens.androidWidths(points: screen.width, pixelRatio: signals.scale)
            for width in widths {
                choices.append(Choice(text: String(width.pixels), weight: width.weight, osVersion: nil))
            }
        }
    }

    private static func addLanguages(
        _ signals: CanonicalSignals,
        _ localization: AppLocalization,
        _ data: DeviceData,
        to choices: inout [Choice]
    ) {
        guard let raw = signals.language else { return }
        let own = data.languages.spellings(of: raw, on: signals.platform)
        // Android gives apps the person's language, even if they do not come in it.
        guard signals.platform == .ios, let negotiated = localization.negotiated(signals.languages),
            negotiated != raw
        else {
            add(own, to: &choices)
            return
        }
        add(data.languages.spellings(of: negotiated, on: .ios), to: &choices)
        add(own, times: rawLanguageWeight, to: &choices)
    }
}

/// One of the values that a device with known signals may hash for a component.
public struct Spelling: Hashable, Sendable {
    public let text: String
    /// The probability that the device hashes this one, 0…1.
    public let weight: Double

    public init(_ text: String, weight: Double) {
        self.text = text
        self.weight = weight
    }

    /// Returns the spellings that systems give to apps for a canonical value, most likely first: `others`
    /// with their shares, and the canonical one with the remaining share.
    static func all(of canonical: String, others: [Spelling]) -> [Spelling] {
        let rest = others.reduce(1) { $0 - $1.weight }
        let own = rest > 0 ? [Spelling(canonical, weight: rest)] : []
        return (own + others).sorted { ($0.weight, $1.text) > ($1.weight, $0.text) }
    }
}
