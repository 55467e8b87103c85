internal import Attribution
internal import JSON

/// How keys are shown: never with their text, but where they are made.
enum KeyListing {
    static func table(_ keys: [APIKey], in directory: Directory, at now: Timestamp) -> String {
        var table = Table([
            ("ID", .left), ("KIND", .left), ("APP", .left), ("LABEL", .left), ("STATE", .left),
            ("CREATED", .left),
            ("EXPIRES", .left), ("LAST USED", .left),
        ])
        for key in keys {
            table.add([
                key.id.text,
                key.kind.rawValue,
                key.app.flatMap(directory.app)?.settings.name ?? "–",
                key.label,
                state(key, at: now),
                key.createdAt.iso8601,
                key.expiresAt?.iso8601 ?? "never",
                key.lastUsedAt?.iso8601 ?? "never",
            ])
        }
        return table.text
    }

    /// As in `{"keys":[…]}`.
    static func json(_ keys: [APIKey], at now: Timestamp) -> String {
        var json = JSONWriter()
        json.object { json in
            json.member("keys") { json in
                json.array { json in
                    for key in keys {
                        json.object { json in
                            write(key, to: &json)
                            json.member("state", state(key, at: now))
                        }
                    }
                }
            }
        }
        return json.text
    }

    /// As in `{"key":{…,"text":"…"}}`, for a key that has just been made.
    static func json(_ key: APIKey, text: KeyText) -> String {
        var json = JSONWriter()
        json.object { json in
            json.member("key") { json in
                json.object { json in
                    write(key, to: &json)
                    json.member("text", text.text)
                }
            }
        }
        return json.text
    }

    private static func write(_ key: APIKey, to json: inout JSONWriter) {
        json.member("id", key.id.text)
        json.member("kind", key.kind.rawValue)
        json.member("app", key.app?.text)
        json.member("label", key.label)
        json.member("created_at", key.createdAt.iso8601)
        json.member("expires_at", key.expiresAt?.iso8601)
        json.member("revoked_at", key.revokedAt?.iso8601)
        json.member("last_used_at", key.lastUsedAt?.iso8601)
    }

    private static func state(_ key: APIKey, at now: Timestamp) -> String {
        if key.revokedAt != nil { return "revoked" }
        return key.isValid(at: now) ? "valid" : "expired"
    }
}
