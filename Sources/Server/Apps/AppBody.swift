public import Attribution
public import JSON

/// The JSON form of an app and its settings.
public enum AppBody {
    public static func write(_ app: App, to json: inout JSONWriter) {
        let settings = app.settings
        json.object { json in
            json.member("id", app.id.text)
            json.member("name", settings.name)
            json.member("open_clicks", settings.openClicks)
            json.member("allowed_origins", settings.allowedOrigins)
            json.member("destinations", settings.destinations)
            json.member("attribution_window", settings.window?.seconds)
            json.member("localizations", settings.localizations)
            json.member("development_language", settings.developmentLanguage)
            json.member("matching", settings.policy.rule.rawValue)
            json.member("minimum_confidence", settings.policy.minimumConfidence)
            json.member("on_ambiguity", settings.policy.onAmbiguity.rawValue)
            json.member("fingerprinting", settings.policy.usesFingerprints)
            json.member("default_link", settings.defaultLink?.text)
            json.members(of: settings.links.fields)
            json.member("created_at", app.createdAt.iso8601)
        }
    }
}
