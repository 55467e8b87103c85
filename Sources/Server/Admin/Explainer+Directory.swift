public import Attribution

extension ClickExplanation {
    /// Creates the explanation with the settings of the click's app.
    public init(_ material: ClickExplanationInput, in directory: Directory, at now: Timestamp) {
        let policy = directory.policy(of: material.app) ?? MatchPolicy()
        self.init(material, usesFingerprints: policy.usesFingerprints, at: now)
    }
}

extension Explainer {
    /// Creates an explainer with the settings of a directory's apps.
    public init(keys: [ServerKey], directory: Directory, data: DeviceData) {
        let localizations = directory.apps.map { ($0.id, $0.settings.localization(data.languages)) }
        self.init(
            keys: keys,
            data: data,
            localizations: Dictionary(localizations) { first, _ in first },
            signals: { CanonicalSignals(line: $0) }
        )
    }
}
