internal import Attribution
internal import JSON
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
        json.object { $0.member("app") { AppBody.write(app, to: &$0) } }
        return json.text
    }

    /// As in `{"apps":[…]}`.
    static func json(_ apps: [App]) -> String {
        var json = JSONWriter()
        json.object { json in
            json.member("apps") { json in
                json.array { json in
                    for app in apps { AppBody.write(app, to: &json) }
                }
            }
        }
        return json.text
    }
}
