internal import Attribution
internal import SQLite

/// Apps and keys as they stand in their tables.
enum DirectoryRows {
    static func version(on connection: SQLiteConnection) throws(SQLiteError) -> Int64 {
        try connection.integer("SELECT version FROM directory")
    }

    /// Everything, as of one moment where the caller has opened a transaction.
    static func snapshot(on connection: SQLiteConnection) throws(SQLiteError) -> DirectoryCache.Snapshot {
        let version = try version(on: connection)
        let fields = try fields(on: connection)
        var ids: [Int64: AppID] = [:]
        let apps = try connection.statement(selectApps).all { row throws(SQLiteError) in
            let number = row.integer(0)
            let fields = fields[number] ?? [:]
            let id = AppID(high: UInt64(bitPattern: row.integer(1)), low: UInt64(bitPattern: row.integer(2)))
            ids[number] = id
            let settings = App.Settings(
                name: row.text(3),
                openClicks: row.integer(4) != 0,
                allowedOrigins: fields[AppList.allowedOrigins.rawValue] ?? [],
                destinations: fields[AppList.destinations.rawValue] ?? [],
                window: row.optionalInteger(5).flatMap { AttributionWindow(seconds: $0) },
                localizations: fields[AppList.localizations.rawValue] ?? [],
                developmentLanguage: row.optionalText(7),
                policy: try policy(row),
                defaultLink: row.optionalText(12).map { DeepLinkURL(stored: $0) },
                links: links(fields)
            )
            return App(id: id, settings: settings, createdAt: Timestamp(milliseconds: row.integer(6)))
        }
        let keys = try connection.statement(selectKeys).all { row throws(SQLiteError) in
            try key(row, app: row.optionalInteger(3).flatMap { ids[$0] })
        }
        return DirectoryCache.Snapshot(version: version, directory: Directory(apps: apps, keys: keys))
    }

    private static func policy(_ row: Statement) throws(SQLiteError) -> MatchPolicy {
        guard let rule = MatchPolicy.Rule(rawValue: row.text(8)),
            let onAmbiguity = MatchPolicy.Ambiguity(rawValue: row.text(10))
        else {
            throw .damaged("reading an app's matching policy")
        }
        return MatchPolicy(
            rule: rule,
            minimumConfidence: row.real(9),
            onAmbiguity: onAmbiguity,
            usesFingerprints: row.integer(11) != 0
        )
    }

    private static func key(_ row: Statement, app: AppID?) throws(SQLiteError) -> APIKey {
        guard let kind = KeyKind(rawValue: row.text(2)), let digest = KeyDigest(bytes: row.bytes(5)) else {
            throw .damaged("reading an API key")
        }
        let createdAt = Timestamp(milliseconds: row.integer(6))
        return APIKey(
            id: KeyID(high: UInt64(bitPattern: row.integer(0)), low: UInt64(bitPattern: row.integer(1))),
            kind: kind,
            app: app,
            label: row.text(4),
            digest: digest,
            createdAt: createdAt,
            expiresAt: row.optionalInteger(7).map { Timestamp(milliseconds: $0) },
            revokedAt: row.optionalInteger(8).map { Timestamp(milliseconds: $0) },
            // Noted to the minute, which begins before a key that was made in it.
            lastUsedAt: row.optionalInteger(9).map { max(createdAt, Timestamp(milliseconds: $0)) }
        )
    }

    private static func links(_ fields: [String: [String]]) -> AppLinks {
        var links = AppLinkFields()
        // A field of a newer program is not understood.
        for (name, values) in fields { if let field = AppLinkField(rawValue: name) { links[field] = values } }
        return AppLinks(stored: links)
    }

    /// The settings of each app that are lists, by its number.
    private static func fields(on connection: SQLiteConnection) throws(SQLiteError)
        -> [Int64: [String: [String]]]
    {
        var fields: [Int64: [String: [String]]] = [:]
        try connection.statement(selectFields).forEach { row in
            fields[row.integer(0), default: [:]][row.text(1), default: []].append(row.text(2))
        }
        return fields
    }

    private static let selectFields: StaticString = """
        SELECT app, field, value FROM app_fields ORDER BY app, field, position
        """
    private static let selectApps: StaticString = """
        SELECT number, id_high, id_low, name, open_clicks, window_seconds, created_at, development_language,
            matching_rule, minimum_confidence, on_ambiguity, uses_fingerprints, default_link
        FROM apps ORDER BY number
        """
    private static let selectKeys: StaticString = """
        SELECT id_high, id_low, kind, app, label, digest, created_at, expires_at, revoked_at, last_used_at
        FROM keys ORDER BY number
        """
}

/// Lists among an app's settings that concern no link, under the names that they are stored by.
enum AppList: String {
    case allowedOrigins = "allowed_origins"
    case destinations, localizations
}
