internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink keys list`.
enum ListKeysCommand {
    static let description = CommandDescription(
        name: "keys list",
        summary: "Show the keys, without their secret text",
        discussion: [
            "Prints all keys, the oldest first, with the minute of their last use, which appears after some seconds."
        ],
        options: CommandOption.table(["app APP": "Only the keys of this app, by id or name."]) + [.json],
        settings: CommandDatabase.settings,
        examples: ["afterlink keys list": "Show all keys, and which of them are in use."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let database = try CommandDatabase.open(invocation, for: .reading)
        defer { database.close() }
        let directory = try database.directory()
        let app = try AppChoice.named(invocation.arguments, in: directory)?.id
        let keys = directory.keys.filter { app == nil || $0.app == app }
        let now = WallClock.system.now()
        invocation.show(KeyListing.table(keys, in: directory, at: now), json: KeyListing.json(keys, at: now))
    }
}

/// The command `afterlink keys revoke`.
enum RevokeKeyCommand {
    static let description = CommandDescription(
        name: "keys revoke",
        summary: "Revoke a key",
        discussion: [
            "Requests with the key get 401; a serving process refuses the key within half a second. No click is lost."
        ],
        operands: [.required("KEY", "The key's id, key_…, as `afterlink keys list` shows it.")],
        options: [.jsonObject],
        settings: CommandDatabase.settings,
        examples: ["afterlink keys revoke key_01jz8w6t7n3k5m9q2r4v6x8y0z": "Revoke the key of a lost phone."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let text = invocation.arguments.operands.first ?? ""
        guard let id = KeyID(text) else {
            throw CommandFailure.usage("This is no id of a key; an id is key_ and 26 letters and digits.")
                .advising(
                    "`afterlink keys list` shows the ids. Never write the secret text on a command line."
                )
        }
        let database = try CommandDatabase.open(invocation)
        defer { database.close() }
        guard let key = try database.directory().keys.first(where: { $0.id == id }) else {
            throw CommandFailure.because("There is no key \(id.text).")
                .advising("`afterlink keys list` shows all keys.")
        }
        let now = WallClock.system.now()
        try await database.apps.revoke(id, at: now, by: .commandLine)
        var revoked = key
        revoked.revokedAt = key.revokedAt ?? now
        let earlier = key.revokedAt.map { "\(id.text) was already revoked at \($0.iso8601)." }
        invocation.show(earlier ?? "Revoked \(id.text).", json: KeyListing.json([revoked], at: now))
    }
}

/// Keys as tables and JSON; only the JSON of a new key contains the text of the key.
enum KeyListing {
    static func table(_ keys: [APIKey], in directory: Directory, at now: Timestamp) -> String {
        keys.table([
            .left("ID", \.id.text),
            .left("KIND", \.kind.rawValue),
            .left("APP") { $0.app.flatMap(directory.app)?.settings.name ?? "–" },
            .left("LABEL", \.label),
            .left("STATE") { state($0, at: now) },
            .left("CREATED", \.createdAt.iso8601),
            .left("EXPIRES") { $0.expiresAt?.iso8601 ?? "never" },
            .left("LAST USED") { $0.lastUsedAt?.iso8601 ?? "never" },
        ])
    }

    /// Returns keys as JSON: `{"keys":[…]}`.
    static func json(_ keys: [APIKey], at now: Timestamp) -> String {
        JSONWriter.text { json in
            json.objects("keys", keys) { json, key in
                write(key, to: &json)
                json.member("state", state(key, at: now))
            }
        }
    }

    /// Returns a new key as JSON: `{"key":{…,"text":"…"}}`.
    static func json(_ key: APIKey, text: KeyText) -> String {
        JSONWriter.text { json in
            json.object("key") { json in
                write(key, to: &json)
                json.member("text", text.text)
            }
        }
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
