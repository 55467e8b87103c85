internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink apps create`.
enum CreateAppCommand {
    static let description = CommandDescription(
        name: "apps create",
        summary: "Make another app",
        discussion: [
            "Makes an app: its clicks, first launches, keys and statistics are kept apart from those of all others.",
            "It has no keys yet; `afterlink keys create` makes them. A serving process knows the app within half a"
                + " second.",
            "From the second app on, a click without a key has to say whose it is: with the app's id as \"app\", or by"
                + " an origin that one app alone allows. Otherwise it gets 400.",
        ],
        operands: [
            .optional("NAME", "Its name, 1 to 100 characters and no other app's. --name does the same.")
        ],
        options: CommandOption.table(["name NAME": "Its name."]) + AppSettingOptions.all + [.json],
        settings: CommandDatabase.settings,
        examples: [
            "afterlink apps create Shop --destination shopapp:// --destination https://shop.example":
                "An app whose links may open the app or the shop's site, and nothing else."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        guard let text = arguments.value("name") ?? arguments.operands.first else {
            throw CommandFailure.usage("`afterlink apps create` needs the app's name.")
                .advising("Write `afterlink apps create NAME`.")
        }
        guard arguments.value("name") == nil || arguments.operands.isEmpty else {
            throw CommandFailure.usage("The app's name is given twice.")
                .advising("Write `afterlink apps create NAME`, or --name NAME instead.")
        }
        var settings = App.Settings(name: try AppName.read(text))
        try AppSettingOptions.apply(arguments, to: &settings)
        try MatchingOptions.check(settings)
        let database = try CommandDatabase.open(invocation)
        defer { database.close() }
        let now = WallClock.system.now()
        let app = App(id: AppID(at: now, random: RandomSource.system), settings: settings, createdAt: now)
        try await AppName.translatingConflict(settings.name) { try await database.apps.create(app) }
        let made = """
            Made the app "\(settings.name)", \(app.id.text).
            Its first key: afterlink keys create --app \(app.id.text) --kind app
            """
        try Console.show(
            arguments.has("json") ? AppListing.json(app) : made,
            orElse: CommandFailure(
                "The app \"\(settings.name)\", \(app.id.text), was made, but that could not be printed.",
                advice: "`afterlink apps list` shows it; do not make it again."
            )
        )
        if let hint = keylessHint(app, among: try database.directory().apps) { Console.printError(hint) }
        return .success
    }

    /// Explains how clicks without a key must name their app if there are several.
    private static func keylessHint(_ app: App, among apps: [App]) -> String? {
        guard apps.count > 1 else { return nil }
        // With the second app it is the first one's pages that have to change.
        let concerned = apps.count == 2 ? apps : [app]
        let members = concerned.map { "  \"app\":\"\($0.id.text)\"  for \($0.settings.name)" }
        let now = apps.count == 2 ? "There are two apps now: from now on" : "There are \(apps.count) apps:"
        return """

            \(now) a click without a key has to say whose it is, or
            it is answered 400. Pages send the app's id with it:

            \(members.joined(separator: "\n"))

            or are known by their origin: afterlink apps set --app ID --allowed-origin https://…
            Clicks with a key, and checks, go on as before.

            """
    }
}

/// An app's name, as an operator gives it.
enum AppName {
    static func read(_ text: String) throws -> String {
        guard let name = ValueText.name(text) else {
            throw CommandFailure.usage("\"\(text)\" cannot be an app's name.")
                .advising(
                    "A name has 1 to 100 characters, no white space at its ends, and no control characters."
                )
        }
        return name
    }

    /// Runs a change of an app, and explains a name that another app has.
    static func translatingConflict(_ name: String, _ change: () async throws -> Void) async throws {
        do {
            try await change()
        } catch let error as StoreError where error.code == .conflict {
            throw CommandFailure.because("There is an app named \"\(name)\" already.")
                .advising("Take another name; `afterlink apps list` shows those there are.")
        }
    }
}
