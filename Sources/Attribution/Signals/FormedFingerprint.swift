internal import Crypto

/// A fingerprint computed from signals.
public struct FormedFingerprint: Hashable, Sendable {
    public let form: FingerprintForm
    public let fingerprint: Fingerprint
    /// The probability that a client with this form on the device sends this fingerprint, 0…1.
    public let weight: Double
    /// The system's version on a device that sends the fingerprint; nil if it is unknown.
    public let osVersion: OSVersion?
}

extension CanonicalSignals {
    /// The largest number of fingerprints of one click.
    public static let maximumFingerprints = 60

    /// Returns the fingerprints that clients on this device may send, in every form whose values are known.
    ///
    /// They are ordered by form; the first fingerprint of a form has the first spelling of each component. No two
    /// fingerprints are equal. The weights of a form add up to about 1: to less if rare combinations are omitted, and
    /// to at most 1.3 if an app may get one of two languages.
    ///
    /// - Parameters:
    ///   - localization: the languages that the app comes in.
    ///   - data: the tables of time zones, languages, releases and screens.
    /// - Returns: at most ``maximumFingerprints``; the least likely are omitted.
    public func fingerprints(
        localization: AppLocalization = .unknown,
        data: DeviceData = .embedded
    ) -> [FormedFingerprint] { texts(localization, data).fingerprints(atMost: Self.maximumFingerprints) }

    /// Returns the inputs of ``fingerprints(localization:data:)``, in the same order, for display.
    public func fingerprintInputs(
        localization: AppLocalization = .unknown,
        data: DeviceData = .embedded
    ) -> [FingerprintInput] { texts(localization, data).inputs(atMost: Self.maximumFingerprints) }

    /// Returns the spellings of a component that apps on the device may hash.
    ///
    /// The first one is used in the first fingerprint of each form. Empty for an unknown component.
    public func spellings(
        of component: SignalComponent,
        localization: AppLocalization = .unknown,
        data: DeviceData = .embedded
    ) -> [Spelling] {
        let spellings = SignalSpellings(self, localization, data)
        return spellings.positions(of: component).map { place in
            Spelling(spellings.choices[place].text, weight: spellings.choices[place].weight)
        }
    }

    private func texts(_ localization: AppLocalization, _ data: DeviceData) -> FingerprintTexts {
        var texts = FingerprintTexts(SignalSpellings(self, localization, data), osVersion: osVersion)
        for form in FingerprintForm.allCases where form.isUsed(on: platform) { texts.append(form) }
        return texts
    }

    /// Returns the unknown components of the form with the fewest unknown ones; empty if all components of
    /// some form are known.
    public func missing(data: DeviceData = .embedded) -> [SignalComponent] {
        let spellings = SignalSpellings(self, .unknown, data)
        return FingerprintForm.allCases.filter { $0.isUsed(on: platform) }
            .map { $0.components.filter { !spellings.isKnown($0) } }
            .min { $0.count < $1.count } ?? []
    }
}

/// The texts that clients on one device may hash: all combinations of the spellings of a form's components.
///
/// The texts are appended to one buffer, and only the likely ones are hashed.
struct FingerprintTexts {
    private struct Row {
        let form: FingerprintForm
        let text: Range<Int>
        let weight: Double
        let osVersion: OSVersion?
    }

    private let spellings: SignalSpellings
    /// The version for forms that do not contain it.
    private let osVersion: OSVersion?
    private var bytes: [UInt8] = []
    private var rows: [Row] = []

    /// The smallest weight of a combination that is added: the lower of two limits.
    ///
    /// A form's first combination is always added.
    private struct Worth {
        /// The limit as a probability.
        let weight: Double
        /// The limit as a share of the weight of the form's most likely combination.
        let shareOfLikeliest: Double

        static let standard = Worth(weight: 0.02, shareOfLikeliest: 0.1)
        /// The limits for forms that contain the system's version; browsers hide a part of the version.
        ///
        /// Rare releases combined with old names of time zones would give many texts that hardly ever match.
        static let ofReleases = Worth(weight: 0.12, shareOfLikeliest: 0.4)
        /// If the most likely combination has at least this weight, ``ofReleases`` applies.
        ///
        /// Otherwise all combinations are rare, because little is known.
        static let knownReleases = 0.2

        static func of(_ form: FingerprintForm, likeliest: Double) -> Double {
            let isKnown = likeliest >= knownReleases && form.components.contains(.osVersion)
            let worth = isKnown ? ofReleases : standard
            return min(worth.weight, likeliest * worth.shareOfLikeliest)
        }
    }

    init(_ spellings: SignalSpellings, osVersion: OSVersion?) {
        self.spellings = spellings
        self.osVersion = osVersion
        bytes.reserveCapacity(512)
        rows.reserveCapacity(8)
    }

    /// Adds the combinations of a form, unless one of its components is unknown.
    ///
    /// The first combination is made of the first choices; from then on, the last component changes fastest.
    mutating func append(_ form: FingerprintForm) {
        let components = form.components
        // The choice of each component, as an index into all choices; no form has more than six components.
        var chosen = InlineArray<6, Int>(repeating: 0)
        var likeliest = 1.0
        for (index, component) in components.enumerated() {
            let place = spellings.positions(of: component)
            guard !place.isEmpty else { return }
            chosen[index] = place.lowerBound
            var best = 0.0
            for choice in place { best = max(best, spellings.choices[choice].weight) }
            likeliest *= best
        }
        let minimum = Worth.of(form, likeliest: likeliest)
        let start = rows.count
        while true {
            let isFirst = rows.count == start
            append(form, chosen, components.count, unlessBelow: isFirst ? 0 : minimum)
            var index = components.count - 1
            while index >= 0 {
                let place = spellings.positions(of: components[index])
                chosen[index] += 1
                if chosen[index] < place.upperBound { break }
                chosen[index] = place.lowerBound
                index -= 1
            }
            guard index >= 0 else { return }
        }
    }

    private mutating func append(
        _ form: FingerprintForm,
        _ chosen: InlineArray<6, Int>,
        _ count: Int,
        unlessBelow minimum: Double
    ) {
        let choices = spellings.choices
        var weight = 1.0
        for index in 0..<count { weight *= choices[chosen[index]].weight }
        guard weight >= minimum else { return }
        let start = bytes.count
        var osVersion = osVersion
        for index in 0..<count {
            if index > 0 { bytes.append(UInt8(ascii: "|")) }
            bytes.append(contentsOf: choices[chosen[index]].text.utf8)
            osVersion = choices[chosen[index]].osVersion ?? osVersion
        }
        rows.append(Row(form: form, text: start..<bytes.count, weight: weight, osVersion: osVersion))
    }

    /// Returns the hashes of the most likely texts, at most `count`, in the order in which they were added.
    ///
    /// No two hashes are equal: a component's spellings differ, none contains the separator `|`, and forms with the
    /// same number of components have one component of a different format.
    func fingerprints(atMost count: Int) -> [FormedFingerprint] {
        var formed: [FormedFingerprint] = []
        formed.reserveCapacity(rows.count)
        for row in kept(count) {
            let hash = Fingerprint(words: SHA256.digest(of: bytes.span.extracting(row.text)).words)
            formed.append(
                .init(form: row.form, fingerprint: hash, weight: row.weight, osVersion: row.osVersion)
            )
        }
        return formed
    }

    /// Returns the inputs of ``fingerprints(atMost:)``.
    func inputs(atMost count: Int) -> [FingerprintInput] {
        kept(count).map { row in
            // No component contains the separator.
            let values = bytes[row.text].split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
            return FingerprintInput(row.form, values.map { String(decoding: $0, as: UTF8.self) })
        }
    }

    /// Returns at most `count` rows: the most likely one of every form, then the second of every form, and so on.
    ///
    /// This order keeps many rows of one form from displacing the rows of other forms.
    private func kept(_ count: Int) -> [Row] {
        guard rows.count > count else { return rows }
        let likeliest = rows.indices.sorted { (rows[$0].weight, $1) > (rows[$1].weight, $0) }
        var ranks: [FingerprintForm: Int] = [:]
        let ranked = likeliest.enumerated().map { place, index in
            let rank = ranks[rows[index].form, default: 0]
            ranks[rows[index].form] = rank + 1
            return (rank: rank, place: place, index: index)
        }
        let turns = ranked.sorted { ($0.rank, $0.place) < ($1.rank, $1.place) }
        return turns.prefix(count).map(\.index).sorted().map { rows[$0] }
    }
}

/// The values that apps on one device may hash for every component, with their probabilities.
struct SignalSpellings {
    struct Choice {
        let text: String
        let weight: Double
        /// The system's version that the value represents; nil for values of other components.
        let osVersion: OSVersion?
    }

    /// The choices of all components, one component after the other.
    let choices: [Choice]
    /// The range of each component's choices, by ``SignalComponent/position``; empty for an unknown component.
    private let places: InlineArray<6, Range<Int>>

    /// The probability that an app gets the person's most preferred language although the app lacks it.
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
        // Android gives every app the person's language, even an app that lacks this language.
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
    /// with their shares, and the canonical one with the remaining share, if any remains.
    static func all(of canonical: String, others: [Spelling]) -> [Spelling] {
        let rest = others.reduce(1) { $0 - $1.weight }
        let own = rest > 0 ? [Spelling(canonical, weight: rest)] : []
        return (own + others).sorted { ($0.weight, $1.text) > ($1.weight, $0.text) }
    }
}
