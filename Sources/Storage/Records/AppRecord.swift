public import Attribution

/// A row of `apps`, without the settings that are lists.
public struct AppRecord: Record, Equatable, Sendable {
    public let id: AppID
    /// The settings; lists are stored in `app_fields`, and are empty here.
    public var settings: App.Settings
    public let createdAt: Timestamp

    public init(_ app: App) {
        id = app.id
        settings = app.settings
        createdAt = app.createdAt
    }

    public static let columns: Columns = [
        "id_high", "id_low", "name", "open_clicks", "window_seconds", "created_at", "development_language",
        "matching_rule", "minimum_confidence", "on_ambiguity", "uses_fingerprints", "default_link",
        "reporting_offset",
        "fingerprint_window_seconds", "deterministic_window_seconds", "click_ids",
    ]

    public func write(to row: inout some RowWriter) {
        row.put("id_high", id.high)
        row.put("id_low", id.low)
        row.put("name", settings.name)
        row.put("open_clicks", settings.openClicks)
        row.put("window_seconds", settings.window?.seconds)
        row.put("created_at", createdAt)
        row.put("development_language", settings.developmentLanguage)
        row.put("matching_rule", settings.policy.rule)
        row.put("minimum_confidence", settings.policy.minimumConfidence)
        row.put("on_ambiguity", settings.policy.onAmbiguity)
        row.put("uses_fingerprints", settings.policy.usesFingerprints)
        row.put("default_link", settings.defaultLink?.text)
        row.put("reporting_offset", settings.reportingOffset)
        row.put("fingerprint_window_seconds", settings.policy.windows.fingerprint?.seconds)
        row.put("deterministic_window_seconds", settings.policy.windows.deterministic?.seconds)
        row.put("click_ids", settings.clickIDs)
    }

    public init?(_ row: inout some RowReader) {
        id = AppID(high: row.get("id_high"), low: row.get("id_low"))
        settings = App.Settings(name: row.get("name"))
        settings.openClicks = row.get("open_clicks")
        settings.window = (row.get("window_seconds") as Int64?).flatMap { AttributionWindow(seconds: $0) }
        createdAt = row.get("created_at")
        settings.developmentLanguage = row.get("development_language")
        let rule: MatchPolicy.Rule? = row.get("matching_rule")
        let minimumConfidence: Double = row.get("minimum_confidence")
        let onAmbiguity: MatchPolicy.Ambiguity? = row.get("on_ambiguity")
        guard let rule, let onAmbiguity else { return nil }
        settings.policy = MatchPolicy(
            rule: rule,
            minimumConfidence: minimumConfidence,
            onAmbiguity: onAmbiguity,
            usesFingerprints: row.get("uses_fingerprints")
        )
        settings.defaultLink = (row.get("default_link") as String?).map { DeepLinkURL(stored: $0) }
        settings.reportingOffset = row.get("reporting_offset")
        let fingerprint: Int64? = row.get("fingerprint_window_seconds")
        let deterministic: Int64? = row.get("deterministic_window_seconds")
        settings.policy.windows = MethodWindows(
            fingerprint: fingerprint.flatMap { AttributionWindow(seconds: $0) },
            deterministic: deterministic.flatMap { AttributionWindow(seconds: $0) }
        )
        guard let clickIDs: ClickIDPolicy = row.get("click_ids") else { return nil }
        settings.clickIDs = clickIDs
    }

    /// Returns the app with its lists; `lists` has them by the names under which they are stored.
    public func app(_ lists: [String: [String]]) -> App {
        var settings = settings
        for (name, list) in Self.ownLists { settings[keyPath: list] = lists[name] ?? [] }
        var links = AppLinkFields()
        // A field that only a newer version of the program knows is left out.
        for (name, values) in lists { if let field = AppLinkField(rawValue: name) { links[field] = values } }
        settings.links = AppLinks(stored: links)
        return App(id: id, settings: settings, createdAt: createdAt)
    }

    /// Returns the settings that are lists, with the names under which they are stored.
    public static func lists(of settings: App.Settings) -> [(name: String, values: [String])] {
        ownLists.map { (name: $0.name, values: settings[keyPath: $0.list]) }
            + settings.links.fields.all.map { (name: $0.rawValue, values: $1) }
    }

    /// The lists that are not about links.
    private static let ownLists: [OwnList] = [
        ("allowed_origins", \.allowedOrigins), ("destinations", \.destinations),
        ("localizations", \.localizations), ("conversion_schemas", \.conversionSchemas),
    ]
    private typealias OwnList = (name: String, list: any WritableKeyPath<App.Settings, [String]> & Sendable)
}
