public import Attribution

extension ClickExplanation {
    /// Knows how the click's app is set.
    public init(_ material: ClickExplanationInput, in directory: Directory, at now: Timestamp) {
        let policy = directory.policy(of: material.app) ?? MatchPolicy()
        self.init(material, usesFingerprints: policy.usesFingerprints, at: now)
    }
}

extension Explainer {
    /// Knows how the apps of a directory are set.
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
