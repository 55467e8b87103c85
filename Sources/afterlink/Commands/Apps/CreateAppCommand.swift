internal import Attribution
internal import Server

/// The command `afterlink apps create`.
enum CreateAppCommand {
    static let description = CommandDescription(
        name: "apps create",
        summary: "Create another app",
        discussion: [
            "Creates an app with clicks, first launches, keys and statistics of its own.",
            "The app has no keys; `afterlink keys create` creates them. A serving process knows the app within half a"
                + " second.",
            "From the second app on, a click without a key must name its app: with the app's id as \"app\", or by an origin"
                + " that only one app allows. Otherwise it gets 400.",
        ],
        operands: [.optional("NAME", "The app's name, 1 to 100 characters; --name does the same.")],
        options: CommandOption.table(["name NAME": "The app's name."]) + AppSettingOptions.all + [.json],
        settings: CommandDatabase.settings,
        examples: [
            "afterlink apps create Shop --destination shopapp:// --destination https://shop.example":
                "Create an app whose links open only the app or the shop's site."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
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
        do throws(StoreError) {
            try await database.apps.create(app, with: [], by: .commandLine)
        } catch {
            throw error.code == .conflict ? AppName.isTaken(settings.name) : CommandFailure(error)
        }
        let created = """
            Created the app "\(settings.name)", \(app.id.text).
            Its first key: afterlink keys create --app \(app.id.text) --kind app
            """
        try Console.show(
            arguments.has("json") ? AppListing.json(app) : created,
            orElse: .because("The app \"\(settings.name)\", \(app.id.text), was created, but not printed.")
                .advising("`afterlink apps list` shows it; do not create it again.")
        )
        if let hint = keylessHint(app, among: try database.directory().apps) { Console.printError(hint) }
    }

    /// Returns how clicks without a key must name their app; nil for the only app.
    private static func keylessHint(_ app: App, among apps: [App]) -> String? {
        guard apps.count > 1 else { return nil }
        // With the second app, the pages of the first one must change, too.
        let concerned = apps.count == 2 ? apps : [app]
        let members = concerned.map { "  \"app\":\"\($0.id.text)\"  for \($0.settings.name)" }
        return """

            There are \(apps.count) apps: a click without a key must name its app, or it gets 400.
            Pages send the app's id with the click:

            \(members.joined(separator: "\n"))

            or have an origin of the app: afterlink apps set --app ID --allowed-origin https://…
            Clicks with a key and checks do not change.

            """
    }
}

/// The name of an app on the command line.
enum AppName {
    static func read(_ text: String) throws -> String {
        guard let name = ValueText.name(text) else {
            throw CommandFailure.usage("\"\(text)\" cannot be the name of an app.")
                .advising("Give 1 to 100 characters, no white space at the ends, and no control characters.")
        }
        return name
    }

    /// Returns the failure of a command that gives an app the name of another one.
    static func isTaken(_ name: String) -> CommandFailure {
        CommandFailure.because("There is an app named \"\(name)\" already.")
            .advising("Give another name; `afterlink apps list` shows all apps.")
    }
}
