/// The values of a launch's device as matching uses them: the fingerprints that find its click, and the
/// values that the fingerprints do not contain.
public struct LaunchSignals: Equatable, Sendable {
    /// A value that the fingerprint does not contain, spelled as clicks spell it.
    public struct Value: Hashable, Sendable {
        public let component: SignalComponent
        public let text: String
    }

    /// The fingerprints of the values, the one with the fewest components first.
    ///
    /// The ``remainingValues`` distinguish the clicks that the first fingerprint finds. A fingerprint that the client
    /// computed itself comes last, unless it is among the others. If only this fingerprint may find clicks, the list
    /// contains nothing else.
    public let fingerprints: [Fingerprint]
    /// The values that the first fingerprint does not determine; empty if its form is unknown.
    ///
    /// A value in the fingerprint must not count again: it would make every click with this fingerprint too likely.
    public let remainingValues: [Value]
    public let release: OSRelease?

    /// - Parameters:
    ///   - canonical: the device's values as an app sends them.
    ///   - given: the fingerprint that the client sent.
    ///   - isWeighedByGiven: whether only `given` may find clicks, as for clients that send a hash and values.
    ///   - data: the tables of time zones, languages, releases and screens.
    public init(
        _ canonical: CanonicalSignals,
        given: Fingerprint?,
        isWeighedByGiven: Bool = false,
        data: DeviceData = .embedded
    ) {
        var canonical = canonical
        // An app may send a rare name of its time zone. No click is stored under a rare name; every click is stored
        // under the zone's most likely name.
        if !isWeighedByGiven {
            canonical.givenTimezone = canonical.givenTimezone.flatMap { data.timeZones.likeliest($0) }
        }
        let smallest = FingerprintForm.smallest(on: canonical.platform)
        let made = canonical.inputs(data: data).reversed().sorted {
            ($0.form == smallest ? 0 : $0.values.count) < ($1.form == smallest ? 0 : $1.values.count)
        }
        .map { (form: $0.form, hash: $0.fingerprint) }
        let form: FingerprintForm?
        if isWeighedByGiven {
            fingerprints = given.map { [$0] } ?? []
            form = made.first { $0.hash == given }?.form
        } else {
            let own = made.map(\.hash)
            fingerprints = own + (given.map { own.contains($0) ? [] : [$0] } ?? [])
            form = made.first?.form
        }
        remainingValues = canonical.values(notDeterminedBy: form, data: data)
        release = OSRelease(canonical.system, on: canonical.platform)
    }
}

extension CanonicalSignals {
    /// Returns the values of ``evidence(data:)`` that a fingerprint of the form does not determine; empty
    /// without a form.
    func values(notDeterminedBy form: FingerprintForm?, data: DeviceData) -> [LaunchSignals.Value] {
        guard let form else { return [] }
        return evidence(data: data).filter { !form.determines($0.component) }
    }

    /// Returns the values that can distinguish devices with one fingerprint.
    ///
    /// These are the screen's width in pixels, if there is only one possibility, and its size in points. The
    /// version of the system is compared as ``OSRelease``, and every form contains the other components. For
    /// platforms other than iOS the list is empty: each of their forms contains the width or the whole screen.
    public func evidence(data: DeviceData = .embedded) -> [LaunchSignals.Value] {
        guard platform == .ios else { return [] }
        var values: [LaunchSignals.Value] = []
        if let width = certainWidth(data) {
            values.append(LaunchSignals.Value(component: .width, text: String(width)))
        }
        if let screen { values.append(LaunchSignals.Value(component: .screen, text: screen.text)) }
        return values
    }

    private func certainWidth(_ data: DeviceData) -> Int? {
        if let panelWidth { return panelWidth }
        guard let screen, scale != nil else { return nil }
        let widths = data.screens.iosWidths(of: screen, scale: scale)
        return widths.count == 1 ? widths[0].pixels : nil
    }
}

extension NativeSignals {
    /// Returns the signals with the language by which clicks of the app are found.
    ///
    /// Browsers send the person's most preferred language; apps send the language that the system chose for them. If
    /// the app's languages are set on the server, clicks are found by the chosen language, and otherwise by the
    /// preferred one. For an app that sends no language, the server computes the system's choice.
    ///
    /// - Parameters:
    ///   - set: the app's languages as set on the server.
    ///   - reported: the languages that the app reports to have.
    ///   - table: the known codes.
    /// - Returns: the signals with that language and no other change.
    public func withLanguageOfClicks(
        _ set: AppLocalization,
        reported: [String]?,
        languages table: LanguageTable
    ) -> NativeSignals {
        var signals = self
        let preferred = (languages ?? []).compactMap { table.canonical($0) }
        guard set != .unknown else {
            signals.language = preferred.first ?? language
            return signals
        }
        guard language == nil else { return signals }
        let own = reported.map {
            AppLocalization(localizations: $0, developmentLanguage: nil, languages: table)
        }
        signals.language = (own ?? set).negotiated(preferred) ?? preferred.first
        return signals
    }
}

extension OSRelease {
    /// Creates the release from the known part of a version; nil for an unknown or a frozen version.
    public init?(_ reading: OSVersionReading, on platform: Platform) {
        switch reading {
        case .unknown, .frozen: return nil
        case .major(let major): self.init(platform: platform, major: major)
        case .minor(let version), .exact(let version): self.init(version, on: platform)
        }
    }
}
