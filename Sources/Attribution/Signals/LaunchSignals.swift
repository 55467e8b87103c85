/// What the values of a launch's device are worth: by which fingerprints its click is found, and what they do not hold.
public struct LaunchSignals: Equatable, Sendable {
    /// A value beside the fingerprint, spelled as clicks spell it.
    public struct Value: Hashable, Sendable {
        public let component: SignalComponent
        public let text: String
    }

    /// Those made from the values as they came, the one that holds least first.
    ///
    /// Clicks that it finds are told apart by the rest, which may have changed since. A fingerprint that the client made
    /// itself comes last.
    public let fingerprints: [Fingerprint]
    /// What the first fingerprint, or the only one, does not hold.
    ///
    /// Counting what a fingerprint holds once more would make every click with it likelier than it is.
    public let beside: [Value]
    public let release: OSRelease?

    /// - Parameters:
    ///   - canonical: the device's values as an app tells them.
    ///   - given: what the client itself sent.
    ///   - isWeighedByGiven: whether the given fingerprint alone finds clicks, as that of a client which sends a hash
    ///     and some values beside it.
    ///   - data: names, codes, releases and panels.
    public init(
        _ canonical: CanonicalSignals,
        given: Fingerprint?,
        isWeighedByGiven: Bool = false,
        data: DeviceData = .embedded
    ) {
        let made = canonical.inputs(data: data).reversed().sorted {
            $0.form.components.count < $1.form.components.count
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
        beside = canonical.valuesBeside(form, data: data)
        release = OSRelease(canonical.system, on: canonical.platform)
    }
}

extension CanonicalSignals {
    /// The values that a fingerprint of the form does not hold, and that are told for certain; none where the form is
    /// not known.
    func valuesBeside(_ form: FingerprintForm?, data: DeviceData) -> [LaunchSignals.Value] {
        guard let form else { return [] }
        return evidence(data: data).filter { !form.determines($0.component) }
    }

    /// The values by which devices with one fingerprint can be told apart.
    ///
    /// It is the screen alone: the width of the panel, where it can be but one, and the points, for where it can be
    /// several. The version of the system is compared as ``OSRelease``, and every form holds the rest. Those that
    /// Androids use hold the width as well: of them nothing is left.
    public func evidence(data: DeviceData = .embedded) -> [LaunchSignals.Value] {
        guard platform == .ios else { return [] }
        var values: [LaunchSignals.Value] = []
        if let width = certainWidth(data) {
            values.append(LaunchSignals.Value(component: .width, text: String(width)))
        }
        if let screen {
            values.append(LaunchSignals.Value(component: .screen, text: screen.text))
        }
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
    /// With the language by which the app's clicks are found.
    ///
    /// Browsers tell the language that the person wants most, apps the one of their own that the system chose. Where
    /// the app's languages are set on the server, clicks are found by that; where they are not, by the person's first.
    /// An app that tells none of its own is given what the system would have chosen.
    ///
    /// - Parameters:
    ///   - set: what the server knows of the app's languages.
    ///   - told: the languages that the app says it comes in.
    ///   - table: the known codes.
    /// - Returns: the same otherwise.
    public func withLanguageOfClicks(
        _ set: AppLocalization,
        told: [String]?,
        languages table: LanguageTable
    ) -> NativeSignals {
        var signals = self
        let preferred = (languages ?? []).compactMap { table.canonical($0) }
        guard set != .unknown else {
            signals.language = preferred.first ?? language
            return signals
        }
        guard language == nil else { return signals }
        let own = told.map {
            AppLocalization(localizations: $0, developmentLanguage: nil, languages: table)
        }
        signals.language = (own ?? set).negotiated(preferred) ?? preferred.first
        return signals
    }
}

extension OSRelease {
    /// What a version that is known in part tells; nil where nothing is.
    public init?(_ reading: OSVersionReading, on platform: Platform) {
        switch reading {
        case .unknown, .frozen: return nil
        case .major(let major): self.init(platform: platform, major: major)
        case .minor(let version), .exact(let version): self.init(version, on: platform)
        }
    }
}
