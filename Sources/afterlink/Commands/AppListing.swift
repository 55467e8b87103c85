internal import Attribution
internal import Server

/// How apps are shown.
enum AppListing {
    static func table(_ apps: [App]) -> String {
        var table = Table([
            ("ID", .left), ("NAME", .left), ("OPEN CLICKS", .left), ("WINDOW", .right), ("ORIGINS", .left),
            ("DESTINATIONS", .left), ("LANGUAGES", .left), ("MATCHING", .left), ("CREATED", .left),
        ])
        for app in apps {
            let settings = app.settings
            table.add([
                app.id.text,
                settings.name,
                settings.openClicks ? "on" : "off",
                settings.window.map { "\($0.seconds) s" } ?? "default",
                settings.allowedOrigins.isEmpty ? "any" : settings.allowedOrigins.joined(separator: " "),
                settings.destinations.isEmpty ? "any" : settings.destinations.joined(separator: " "),
                languages(settings),
                matching(settings),
                app.createdAt.iso8601,
            ])
        }
        return table.text
    }

    /// With the one that the app falls back to in brackets.
    private static func languages(_ settings: App.Settings) -> String {
        let fallback = settings.developmentLanguage.map { ["(\($0))"] } ?? []
        let all = settings.localizations + fallback
        return all.isEmpty ? "not known" : all.joined(separator: " ")
    }

    /// As in `probability 0.7, else campaignOnly myapp://home`.
    private static func matching(_ settings: App.Settings) -> String {
        let policy = settings.policy
        guard policy.usesFingerprints else { return "tokens and ids" }
        guard policy.rule == .probability else { return "newest" }
        let link = policy.onAmbiguity == .campaignOnly ? settings.defaultLink.map { " \($0.text)" } : nil
        return "probability \(policy.minimumConfidence), else \(policy.onAmbiguity.rawValue)\(link ?? "")"
    }

    /// As in `{"app":{…}}`.
    static func json(_ app: App) -> String {
        var json = JSONWriter()
        json.object { $0.member("app") { write(app, to: &$0) } }
        return json.text
    }

    /// As in `{"apps":[…]}`.
    static func json(_ apps: [App]) -> String {
        var json = JSONWriter()
        json.object { json in
            json.member("apps") { json in
                json.array { json in
                    for app in apps { write(app, to: &json) }
                }
            }
        }
        return json.text
    }

    private static func write(_ app: App, to json: inout JSONWriter) {
        json.object { json in
            json.member("id", app.id.text)
            json.member("name", app.settings.name)
            json.member("open_clicks", app.settings.openClicks)
            json.member("allowed_origins") { write(app.settings.allowedOrigins, to: &$0) }
            json.member("destinations") { write(app.settings.destinations, to: &$0) }
            json.member("attribution_window", app.settings.window?.seconds)
            json.member("localizations") { write(app.settings.localizations, to: &$0) }
            json.member("development_language", app.settings.developmentLanguage)
            json.member("matching", app.settings.policy.rule.rawValue)
            json.member("minimum_confidence", app.settings.policy.minimumConfidence)
            json.member("on_ambiguity", app.settings.policy.onAmbiguity.rawValue)
            json.member("fingerprinting", app.settings.policy.usesFingerprints)
            json.member("default_link", app.settings.defaultLink?.text)
            json.member("created_at", app.createdAt.iso8601)
        }
    }

    private static func write(_ texts: [String], to json: inout JSONWriter) {
        json.array { json in
            for text in texts { json.value(text) }
        }
    }
}
