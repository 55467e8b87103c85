public import Attribution

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
