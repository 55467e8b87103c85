internal import Attribution

/// Settings that count when a database is made, given for one that was made before.
enum InitialSettings {
    /// Looks for those that are not as the database has it.
    ///
    /// - Parameters:
    ///   - origins: the settings that were given, and where.
    ///   - configuration: their values.
    ///   - directory: the apps and keys that there are.
    /// - Returns: a sentence on each, and the command that changes it there.
    static func withoutEffect(
        _ origins: [ConfigurationReader.Origin],
        _ configuration: Configuration,
        _ directory: Directory
    ) -> [(text: String, advice: String)] {
        guard let first = directory.apps.min(by: { $0.createdAt < $1.createdAt }) else { return [] }
        return origins.filter { $0.setting.section == .firstStart }.compactMap { origin in
            let advice = advice(origin.setting.name, configuration, directory, first)
            return advice.map {
                ("\(origin.place) has no effect: it counts for a new database, and this one was there", $0)
            }
        }
    }

    /// Returns the command to run instead; nil if the database already agrees.
    private static func advice(
        _ setting: String,
        _ configuration: Configuration,
        _ directory: Directory,
        _ first: App
    ) -> String? {
        let change = "change it with `afterlink apps set --app \(first.id.text)"
        switch setting {
        case "app-name":
            let isThere = directory.apps.contains { $0.settings.name == configuration.appName }
            return isThere ? nil : "\(change) --name \(ShellWord.quoted(configuration.appName))`"
        case "destination":
            let wanted = Set(configuration.destinations)
            guard !directory.apps.contains(where: { Set($0.settings.destinations) == wanted }) else {
                return nil
            }
            let options = configuration.destinations.map { "--destination \(ShellWord.quoted($0))" }
            return "\(change) \(options.joined(separator: " "))`"
        case "initial-app-key": return advice(.app, configuration.initialAppKey, directory)
        case "initial-admin-key": return advice(.admin, configuration.initialAdminKey, directory)
        default: return nil
        }
    }

    private static func advice(_ kind: KeyKind, _ text: KeyText?, _ directory: Directory) -> String? {
        let isThere = directory.keys.contains { key in
            key.kind == kind && key.revokedAt == nil && key.digest == text?.digest
        }
        guard !isThere else { return nil }
        return
            "the database has no such key that is valid; make one with `afterlink keys create --kind \(kind.rawValue)`"
    }
}
