internal import Attribution
internal import Server

/// The command `afterlink apps create`.
enum CreateApp {
    static let description = CommandDescription(
        name: "apps create",
        summary: "Make another app",
        discussion: [
            "Makes an app: its clicks, first launches, keys and statistics are kept apart from those of all others.",
            "It has no keys yet; `afterlink keys create` makes them. A serving process knows the app within half a"
                + " second.",
        ],
        operands: [
            CommandDescription.Operand(
                placeholder: "NAME",
                isRequired: false,
                help: "Its name, 1 to 100 characters and no other app's. --name does the same."
            )
        ],
        options: [CommandOption("name", "NAME", help: "Its name.")] + AppSettingOptions.all + [.json],
        settings: CommandDatabase.settings,
        examples: [
            CommandDescription.Example(
                call:
                    "afterlink apps create Shop --destination shopapp:// --destination https://shop.example",
                purpose: "An app whose links may open the app or the shop's site, and nothing else."
            )
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        guard let text = arguments.value("name") ?? arguments.operands.first else {
            throw CommandFailure(
                .wrongUse,
                "`afterlink apps create` needs the app's name.",
                advice: "Write `afterlink apps create NAME`."
            )
        }
        guard arguments.value("name") == nil || arguments.operands.isEmpty else {
            throw CommandFailure(
                .wrongUse,
                "The app's name is given twice.",
                advice: "Write `afterlink apps create NAME`, or --name NAME instead."
            )
        }
        var settings = App.Settings(name: try AppName.read(text))
        try AppSettingOptions.apply(arguments, to: &settings)
        let database = try CommandDatabase.open(ConfigurationReader.read(invocation))
        defer { database.close() }
        let now = WallClock.system.now()
        let app = App(id: AppID(at: now, random: RandomSource.system), settings: settings, createdAt: now)
        try await AppName.translatingConflict(settings.name) { () throws(StoreError) in
            try await database.apps.create(app)
        }
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
        return .done
    }
}
