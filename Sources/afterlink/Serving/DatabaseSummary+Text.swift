internal import Attribution
internal import Server
internal import Storage

extension DatabaseSummary {
    /// The text for people: `1204 clicks (37 matched), 1 app and 4 keys`.
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
    /// Gives the copy its name.
    ///
    /// - Returns: the path that a database of that name was moved to; nil if there was none, or it was replaced.
    let publish: () throws(StoreError) -> String?
}

/// One verification step, and what it found.
struct VerifiedCheck: Sendable {
    let name: String
    let scope: String
    var findings: [(text: String, advice: String)]
}
