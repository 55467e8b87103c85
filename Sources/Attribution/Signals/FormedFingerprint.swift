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
    ///
    /// The time zone counts under the name that came and under its canonical one: which of the two an app's
    /// system gives depends on its version. The first fingerprint is the one of the name that came.
    public var fingerprints: [FormedFingerprint] {
        let spellings = spellings
        return FingerprintForm.allCases.flatMap { form in
            spellings.compactMap { signals in
                form.text(of: signals).map {
                    let weight = 1 / Double(spellings.count)
                    return FormedFingerprint(form: form, fingerprint: Fingerprint(of: $0), weight: weight)
                }
            }
        }
    }

    /// What is missing for the form that needs least more; empty when there is a fingerprint.
    public var missing: [SignalComponent] {
        FingerprintForm.allCases.map { $0.missing(in: self) }.min(by: { $0.count < $1.count }) ?? []
    }

    private var spellings: [CanonicalSignals] {
        guard let timezone else { return [self] }
        var other = self
        other.timezone = TimeZoneName.canonical(timezone)
        return other == self ? [self] : [self, other]
    }
}
