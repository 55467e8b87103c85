/// What a fingerprint is made of: a form, and a value for each of its components.
public struct FingerprintInput: Hashable, Sendable {
    public let form: FingerprintForm
    /// In the order of the form's components.
    public let values: [String]

    /// Nil unless there is a value for each of the form's components.
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

    /// Nil for a component that the form has not.
    public func value(of component: SignalComponent) -> String? {
        form.components.firstIndex(of: component).map { values[$0] }
    }

    /// The components in which two inputs of one form differ; empty for inputs of different forms.
    public func differences(from other: FingerprintInput) -> [SignalComponent] {
        guard form == other.form else { return [] }
        return form.components.indices.filter { values[$0] != other.values[$0] }.map { form.components[$0] }
    }
}

extension CanonicalSignals {
    /// For every form for which enough is known, what a device with these values as they came hashes.
    public func inputs(
        localization: AppLocalization = .unknown,
        data: DeviceData = .embedded
    ) -> [FingerprintInput] {
        let spellings = SignalSpellings(self, localization, data)
        return FingerprintForm.allCases.compactMap { form in
            guard form.isUsed(on: platform) else { return nil }
            let values = form.components.compactMap { component in
                spellings.place(of: component).first.map { spellings.choices[$0].text }
            }
            return FingerprintInput(form: form, values: values)
        }
    }
}
