internal import Attribution
internal import Server

/// The command `afterlink keys create`.
enum CreateKeyCommand {
    static let description = CommandDescription(
        name: "keys create",
        summary: "Make a key and show it once",
        discussion: [
            "Makes a key of one kind: `app` goes into the mobile app and may check and post clicks; `server` is for"
                + " your own back end, whose clicks are believed as to address, agent and time; `test` is like `app`"
                + " and sees test clicks only; `admin` opens everything under /admin and belongs to no app.",
            "The key is shown only now: only its SHA-256 is stored. To rotate a key, make the new one, bring it out,"
                + " and revoke the old one then.",
        ],
        options: [
            CommandOption("kind", "app|server|test|admin", help: "What the key may be used for."),
            AppChoice.option,
            CommandOption("label", "TEXT", help: "Your own words for it, up to 100 characters."),
            CommandOption(
                "expires",
                "TIME",
                help:
                    "From when on it is refused: 2027-01-31, 2027-01-31T12:00:00Z, or from now on, as in 90d or 12h."
            ),
            CommandOption("json", help: "Print a JSON object instead."),
        ],
        settings: CommandDatabase.settings,
        examples: [
            "afterlink keys create --kind server --label \"shop back end\" --expires 365d":
                "A key for a year, for the only app there is."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let kind = try kind(arguments)
        let now = WallClock.system.now()
        let label = try label(arguments)
        let expiresAt = try arguments.value("expires").map { text in
            try TimeArgument.expiry(text, now: now)
        }
        let database = try CommandDatabase.open(ConfigurationReader.read(invocation))
        defer { database.close() }
        let app = kind == .admin ? nil : try AppChoice.find(arguments.value("app"), in: database.directory())
        let text = KeyText(kind: kind, random: RandomSource.system)
        let key = APIKey(
            id: KeyID(at: now, random: RandomSource.system),
            kind: kind,
            app: app?.id,
            label: label,
            digest: text.digest,
            createdAt: now,
            expiresAt: expiresAt
        )
        try await database.apps.create(key)
        try show(key, text, of: app, asJSON: arguments.has("json"))
        return .success
    }

    private static func kind(_ arguments: Arguments) throws -> KeyKind {
        guard let text = arguments.value("kind") else {
            throw CommandFailure(
                .usage,
                "`afterlink keys create` needs the kind of key.",
                advice:
                    "Give --kind app, server, test or admin; `afterlink help keys create` says what each may do."
            )
        }
        guard let kind = KeyKind(rawValue: text) else {
            throw CommandFailure.wrongValue("kind", text, "must be app, server, test or admin")
        }
        if kind == .admin, arguments.has("app") {
            throw CommandFailure(
                .usage,
                "An admin key belongs to no app.",
                advice: "Leave --app out, or take another --kind."
            )
        }
        return kind
    }

    private static func label(_ arguments: Arguments) throws -> String {
        let text = arguments.value("label") ?? ""
        guard let label = ValueText.label(text) else {
            throw CommandFailure.wrongValue(
                "label",
                text,
                "must have at most 100 characters, no white space at its ends, and no control characters"
            )
        }
        return label
    }

    private static func show(_ key: APIKey, _ text: KeyText, of app: App?, asJSON: Bool)
        throws
    {
        try Console.show(
            asJSON ? KeyListing.json(key, text: text) : text.text,
            orElse: CommandFailure(
                "The key \(key.id.text) was made, but it could not be printed and was never shown.",
                advice:
                    "Run `afterlink keys revoke \(key.id.text)`, and make another one where standard output is read."
            )
        )
        guard !asJSON else { return }
        let owner = app.map { "of the app \"\($0.settings.name)\"" } ?? "for everything under /admin"
        Console.printError("\(key.id.text), \(key.kind.rawValue) key \(owner). It is shown only now.\n")
    }
}
