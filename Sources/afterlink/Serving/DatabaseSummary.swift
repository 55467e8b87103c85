internal import Attribution
internal import Server

/// What a database holds, for those who copy it.
struct DatabaseSummary: Sendable {
    let apps: Int64
    let keys: Int64
    let clicks: Int64
    let claims: Int64
    let newestClickAt: Timestamp?
    let schemaVersion: Int64
    /// Migrations of this program that the database does not have yet, as file names.
    let pendingMigrations: [String]
    let byteCount: Int64
    /// Whether the key under which was stored last is one of these; nil where nothing was stored yet.
    let fits: @Sendable ([ServerKey]) -> Bool?

    /// As in `1204 clicks (37 matched), 1 app and 4 keys`.
    var text: String {
        "\(Self.count(clicks, "click")) (\(claims) matched), \(Self.count(apps, "app")) and \(Self.count(keys, "key"))"
    }

    static func count(_ number: Int64, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    func write(to json: inout JSONWriter) {
        json.member("clicks", clicks)
        json.member("claims", claims)
        json.member("apps", apps)
        json.member("keys", keys)
        json.member("newest_click_at", newestClickAt?.iso8601)
        json.member("schema_version", schemaVersion)
        json.member("bytes", byteCount)
    }
}

/// A copy of a database that is whole and on disk, and has no name yet.
struct DatabaseCopy {
    let summary: DatabaseSummary
    /// Gives it its name.
    ///
    /// - Returns: where a database of that name was moved to; nil where there was none, or it was replaced.
    let publish: () throws(StoreError) -> String?
}

/// One thing that was verified, and what was found.
struct VerifiedCheck: Sendable {
    let name: String
    let scope: String
    var findings: [(text: String, advice: String)]
}
