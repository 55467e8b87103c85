/// A fingerprint made from signals.
public struct FormedFingerprint: Hashable, Sendable {
    public let form: FingerprintForm
    public let fingerprint: Fingerprint
    /// How likely a client of this form on the device sends it, 0…1.
    public let weight: Double
    /// The version of the system that the device has if it sends this; nil where the fingerprint holds none and
    /// the signals do not tell.
    public let osVersion: OSVersion?

    public init(
        form: FingerprintForm,
        fingerprint: Fingerprint,
        weight: Double,
        osVersion: OSVersion? = nil
    ) {
        self.form = form
        self.fingerprint = fingerprint
        self.weight = weight
        self.osVersion = osVersion
    }
}

extension CanonicalSignals {
    /// The most fingerprints that one click is found by.
    public static let maximumFingerprints = 60

    /// The fingerprints that clients on this device may send, in every form for which enough is known.
    ///
    /// They come form by form; within a form, first the one of the values as they came. No two are equal. Those of a
    /// form add up to 1, or to a little more where an app may be told one of two languages.
    ///
    /// - Parameters:
    ///   - localization: the languages that the app comes in.
    ///   - data: names, codes, releases and panels.
    /// - Returns: ``maximumFingerprints`` at most, the least likely left out.
    public func fingerprints(
        localization: AppLocalization = .unknown,
        data: DeviceData = .embedded
    ) -> [FormedFingerprint] {
        texts(localization, data).fingerprints(atMost: Self.maximumFingerprints)
    }

    /// What each of ``fingerprints(localization:data:)`` is made of, in the same order: for showing it to somebody.
    public func fingerprintInputs(
        localization: AppLocalization = .unknown,
        data: DeviceData = .embedded
    ) -> [FingerprintInput] {
        texts(localization, data).inputs(atMost: Self.maximumFingerprints)
    }

    /// What apps on the device may hash for a component, first the value as it came; empty when it is not known.
    public func spellings(
        of component: SignalComponent,
        localization: AppLocalization = .unknown,
        data: DeviceData = .embedded
    ) -> [Spelling] {
        let spellings = SignalSpellings(self, localization, data)
        return spellings.place(of: component).map { place in
            Spelling(spellings.choices[place].text, weight: spellings.choices[place].weight)
        }
    }

    private func texts(_ localization: AppLocalization, _ data: DeviceData) -> FingerprintTexts {
        var texts = FingerprintTexts(SignalSpellings(self, localization, data), osVersion: osVersion)
        for form in FingerprintForm.allCases where form.isUsed(on: platform) {
            texts.append(form)
        }
        return texts
    }

    /// What is missing for the form that needs least more; empty when there is a fingerprint.
    public func missing(data: DeviceData = .embedded) -> [SignalComponent] {
        let spellings = SignalSpellings(self, .unknown, data)
        return FingerprintForm.allCases.filter { $0.isUsed(on: platform) }
            .map { $0.components.filter { !spellings.isKnown($0) } }
            .min { $0.count < $1.count } ?? []
    }
}
