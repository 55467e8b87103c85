internal import Attribution
internal import Server

/// The command `afterlink keys create`.
enum CreateKeyCommand {
    static let description = CommandDescription(
        name: "keys create",
        summary: "Create a key and show it once",
        discussion: [
            "Creates a key of one kind: `app` goes into the mobile app and may check and post clicks; `server` is for your"
                + " own back end, which may state address, agent and time of its clicks; `test` is like `app`, for test"
                + " clicks only; `admin` opens everything under /admin and belongs to no app; `read` opens the calls there that"
                + " change nothing, the metrics and the dashboard, for one app or, with --all-apps, for all.",
            "The key is shown only now, because the database stores only its SHA-256. To rotate a key, create the new one,"
                + " distribute it, and then revoke the old one.",
        ],
        options: CommandOption.table([
            "kind app|server|test|admin|read": "The use of the key.",
            "app APP": AppChoice.help,
            "all-apps": "Let a read key show all apps, not one.",
            "label TEXT": "A note, up to 100 characters.",
            "expires TIME":
                "Refuse the key from this time on: 2027-01-31, 2027-01-31T12:00:00Z, or 90d or 12h from now.",
        ]) + [.jsonObject],
        settings: CommandDatabase.settings,
        examples: [
            "afterlink keys create --kind server --label \"shop back end\" --expires 365d":
                "Create a key of the only app, valid for a year."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        let kind = try kind(arguments)
        let now = WallClock.system.now()
        let label = try arguments.read(
            "label",
            "must have at most 100 characters, no white space at its ends, and no control characters",
            ValueText.label
        )
        let expiresAt = try arguments.value("expires").map { text in try TimeArgument.expiry(text, now: now) }
        let database = try CommandDatabase.open(invocation)
        defer { database.close() }
        let hasNone = kind.belongsToApp == false || arguments.has("all-apps")
        let advice = "Name it with --app" + (kind == .read ? ", or give --all-apps for all apps." : ".")
        let app =
            hasNone
            ? nil : try AppChoice.find(arguments.value("app"), in: database.directory(), advice: advice)
        let text = KeyText(kind: kind, random: RandomSource.system)
        let key = APIKey(
            id: KeyID(at: now, random: RandomSource.system),
            kind: kind,
            app: app?.id,
            label: label ?? "",
            digest: text.digest,
            createdAt: now,
            expiresAt: expiresAt
        )
        try await database.apps.create(key, by: .commandLine)
        try show(key, text, of: app, asJSON: arguments.has("json"))
    }

    private static func kind(_ arguments: Arguments) throws -> KeyKind {
        let given = try arguments.read("kind", "must be app, server, test, admin or read") {
            KeyKind(rawValue: $0)
        }
        guard let kind = given else {
            throw CommandFailure.usage("`afterlink keys create` needs the kind of the key.")
                .advising(
                    "Give --kind app, server, test, admin or read; `afterlink help keys create` explains each."
                )
        }
        if kind == .admin, arguments.has("app") {
            throw CommandFailure.usage("An admin key belongs to no app.")
                .advising("Leave --app out, or take another --kind.")
        }
        if arguments.has("all-apps"), kind != .read || arguments.has("app") {
            throw CommandFailure.usage("--all-apps is for a read key without an app.")
                .advising("Give it with --kind read and without --app.")
        }
        return kind
    }

    private static func show(_ key: APIKey, _ text: KeyText, of app: App?, asJSON: Bool) throws {
        try Console.show(
            asJSON ? KeyListing.json(key, text: text) : text.text,
            orElse: .because("The key \(key.id.text) was created, but could not be printed.")
                .advising("Run `afterlink keys revoke \(key.id.text)`, and create another key.")
        )
        guard !asJSON else { return }
        let all = key.kind == .read ? "for all apps" : "for everything under /admin"
        let owner = app.map { "of the app \"\($0.settings.name)\"" } ?? all
        Console.printError("\(key.id.text), \(key.kind.rawValue) key \(owner). It is shown only now.\n")
    }
}

/// Reads the times of arguments.
enum TimeArgument {
    /// Reads `2027-01-31` or `2027-01-31T12:00:00Z`; a day means its start in UTC.
    static func moment(_ text: String) -> Timestamp? {
        Timestamp(iso8601: text) ?? Timestamp(iso8601: text + "T00:00:00Z")
    }

    /// Reads the expiry of a key: a time in the future, or the length of time from now, as in `90d`, `12h`, `30m`.
    static func expiry(_ text: String, now: Timestamp) throws -> Timestamp {
        let moment = Self.moment(text) ?? milliseconds(text).map(now.advanced(byMilliseconds:))
        guard let moment else {
            let sentence = "must be a time such as 2027-01-31 or 2027-01-31T12:00:00Z, or 90d or 12h from now"
            throw CommandFailure.wrongValue("expires", text, sentence)
        }
        guard now < moment else { throw CommandFailure.wrongValue("expires", text, "must be in the future") }
        return moment
    }

    /// Returns a length of time in milliseconds: `90s`, `30m`, `12h` or `90d`, with a number up to 100,000.
    static func milliseconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
        guard let unit = text.last.flatMap({ units[$0] }) else { return nil }
        let count: Int64? = ValueText.integer(String(text.dropLast()), in: 1...100_000)
        return count.map { $0 * unit }
    }
}
