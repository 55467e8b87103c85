internal import Attribution
internal import JSON
internal import Server

/// The first app and the first keys of a new database.
struct FirstApp: Sendable {
    let app: App
    /// The keys that were created here and are shown once; none if the operator supplied a key.
    let madeKeys: [(kind: KeyKind, text: KeyText)]

    /// Creates the server key, the app and its keys if the database has no app yet.
    ///
    /// - Returns: the keys for hashing, and the app if it is new.
    static func prepare(
        _ store: OpenStore,
        _ apps: any AppStore,
        _ configuration: Configuration
    ) async throws -> (LoadedKeys, FirstApp?) {
        let isNew = try apps.directory().apps.isEmpty
        let keys = try LoadedKeys(configuration, store, databaseIsNew: isNew)
        guard isNew else { return (keys, nil) }
        do {
            return (keys, try await make(in: apps, configuration))
        } catch let error where error.code == .conflict {
            // Another process, started at the same time, has created the app.
            return (keys, nil)
        }
    }

    /// Creates the app, and the keys that the operator supplied or else one of each kind except `read`.
    ///
    /// If the operator supplied a key, no key is generated: nothing is printed, and a key that is never shown has no
    /// use.
    ///
    /// - Throws: `conflict` if another process has just created them.
    private static func make(
        in apps: any AppStore,
        _ configuration: Configuration
    ) async throws(StoreError) -> FirstApp {
        let now = WallClock.system.now()
        let settings = App.Settings(name: configuration.appName, destinations: configuration.destinations)
        let app = App(id: AppID(at: now, random: .system), settings: settings, createdAt: now)
        let given: [KeyKind: KeyText] = [
            .app: configuration.initialAppKey, .admin: configuration.initialAdminKey,
        ].compactMapValues(\.self)
        var made: [(kind: KeyKind, text: KeyText)] = []
        var keys: [APIKey] = []
        // An operator creates a read key once there is a person to give it to.
        for kind in KeyKind.allCases where kind != .read {
            let text: KeyText
            if let own = given[kind] {
                text = own
            } else if given.isEmpty {
                text = KeyText(kind: kind, random: .system)
                made.append((kind, text))
            } else {
                continue
            }
            let key = APIKey(
                id: KeyID(at: now, random: .system),
                kind: kind,
                app: kind == .admin ? nil : app.id,
                label: "first",
                digest: text.digest,
                createdAt: now
            )
            keys.append(key)
        }
        try await apps.create(app, with: keys, by: .commandLine)
        return FirstApp(app: app, madeKeys: made)
    }
}

extension FirstApp {
    /// JSON as in `{"app":{"id":"app_…","name":"…"},"keys":{"app":"…","server":"…","test":"…","admin":"…"}}`.
    ///
    /// If the operator supplied a key, `keys` is empty.
    var json: String {
        JSONWriter.text { json in
            json.object("app") { json in
                json.member("id", app.id.text)
                json.member("name", app.settings.name)
            }
            json.object("keys") { json in
                for key in madeKeys { json.member(key.kind.rawValue, key.text.text) }
            }
        }
    }

    /// The keys, each with its purpose.
    var keysText: String {
        let purposes: [KeyKind: String] = [
            .app: "goes into the mobile app",
            .server: "for your own back end; secret",
            .test: "like the app key, for test clicks only",
            .admin: "for everything under /admin; secret",
        ]
        return madeKeys.map { key in
            "  \(key.kind.rawValue.padded(to: 7)) \(key.text.text)\n          \(purposes[key.kind] ?? "")"
        }.joined(separator: "\n")
    }

    /// Returns a click and a check with `curl` for a server at this URL; nil without a new app key.
    func example(baseURL: String) -> String? {
        guard let key = madeKeys.first(where: { $0.kind == .app }) else { return nil }
        let fingerprint = Fingerprint(of: "iPhone|17.2|390x844|Europe/Istanbul|tr").hex
        let prefix = app.settings.destinations.first ?? "myapp://"
        let link = prefix.hasSuffix("://") ? prefix + "promo" : prefix + "/promo"
        return """
              curl -X POST \(baseURL)/v1/deferred-deeplink/click \\
                -H 'Content-Type: application/json' \\
                -d '{"fingerprint":"\(fingerprint)","deeplink_url":"\(link)","campaign_key":"SUMMER25"}'

              curl '\(baseURL)/v1/deferred-deeplink?fingerprint=\(fingerprint)' \\
                -H 'Authorization: Bearer \(key.text.text)'
            """
    }
}

/// Finds settings that apply only to a new database and were given for an existing one.
enum InitialSettings {
    /// Returns a sentence for each setting that differs from the database, and the command that changes the database.
    ///
    /// - Parameters:
    ///   - origins: the settings that the operator gave, and their sources.
    ///   - configuration: their values.
    ///   - directory: the apps and keys of the database.
    /// - Returns: the sentences and commands; empty if the database agrees or has no app.
    static func withoutEffect(
        _ origins: [ConfigurationReader.Origin],
        _ configuration: Configuration,
        _ directory: Directory
    ) -> [(text: String, advice: String)] {
        guard let first = directory.apps.min(by: { $0.createdAt < $1.createdAt }) else { return [] }
        return origins.filter { $0.setting.section == .firstStart }.compactMap { origin in
            let advice = advice(origin.setting.name, configuration, directory, first)
            return advice.map {
                ("\(origin.place) has no effect: it applies only to a new database, and this one existed", $0)
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
            "the database has no such valid key; create one with `afterlink keys create --kind \(kind.rawValue)`"
    }
}
