internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink apps list`.
enum ListAppsCommand {
    static let description = CommandDescription(
        name: "apps list",
        summary: "Show the apps and how they are set",
        discussion: ["Prints all apps, the oldest first."],
        options: [.json],
        settings: CommandDatabase.settings,
        examples: ["afterlink apps list": "Which apps are there?"],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let database = try CommandDatabase.open(ConfigurationReader.read(invocation), for: .reading)
        defer { database.close() }
        let apps = try database.directory().apps
        Console.print(invocation.arguments.has("json") ? AppListing.json(apps) : AppListing.table(apps))
        return .success
    }
}

/// How apps are shown.
enum AppListing {
    static func table(_ apps: [App]) -> String {
        func list(_ texts: [String]) -> String { texts.isEmpty ? "any" : texts.joined(separator: " ") }
        return apps.table([
            .left("ID", \.id.text),
            .left("NAME", \.settings.name),
            .left("OPEN CLICKS") { $0.settings.openClicks ? "on" : "off" },
            .right("WINDOW") { $0.settings.window.map { "\($0.seconds) s" } ?? "default" },
            .left("ORIGINS") { list($0.settings.allowedOrigins) },
            .left("DESTINATIONS") { list($0.settings.destinations) },
            .left("LANGUAGES") { languages($0.settings) },
            .left("MATCHING") { matching($0.settings) },
            .left("CREATED", \.createdAt.iso8601),
        ])
    }

    /// With the one that the app falls back to in brackets.
    private static func languages(_ settings: App.Settings) -> String {
        let fallback = settings.developmentLanguage.map { ["(\($0))"] } ?? []
        let all = settings.localizations + fallback
        return all.isEmpty ? "not known" : all.joined(separator: " ")
    }

    /// As in `probability 0.7, else campaignOnly myapp://home`.
    private static func matching(_ settings: App.Settings) -> String {
        let policy = settings.policy
        guard policy.usesFingerprints else { return "tokens and ids" }
        guard policy.rule == .probability else { return "newest" }
        let link = policy.onAmbiguity == .campaignOnly ? settings.defaultLink.map { " \($0.text)" } : nil
        return "probability \(policy.minimumConfidence), else \(policy.onAmbiguity.rawValue)\(link ?? "")"
    }

    /// As in `{"app":{…}}`.
    static func json(_ app: App) -> String {
        JSONWriter.text { $0.object("app") { AppBody.write(app, to: &$0) } }
    }

    /// As in `{"apps":[…]}`.
    static func json(_ apps: [App]) -> String {
        JSONWriter.text { $0.objects("apps", apps) { AppBody.write($1, to: &$0) } }
    }
}

/// Finds the app that a command is about.
enum AppChoice {
    static let option = CommandOption(
        "app",
        "APP",
        help: "The app, by id or name; needed when there are several."
    )

    /// The app that `--app` names; nil where it is not there.
    static func named(_ arguments: Arguments, in directory: Directory) throws -> App? {
        try arguments.value("app").map { text in try find(text, in: directory) }
    }

    /// The app with this id or name; without one, the only app there is.
    static func find(_ text: String?, in directory: Directory) throws -> App {
        let names = directory.apps.map { "\($0.settings.name) (\($0.id.text))" }.joined(separator: ", ")
        guard let first = directory.apps.first else {
            throw CommandFailure.because("There is no app in the database yet.")
                .advising("`afterlink apps create NAME` makes one.")
        }
        guard let text else {
            guard directory.apps.count == 1 else {
                throw CommandFailure(
                    .usage,
                    "There are several apps, and the command is about one: \(names).",
                    advice: "Say which one with --app."
                )
            }
            return first
        }
        if let app = directory.apps.first(where: { $0.id.text == text || $0.settings.name == text }) {
            return app
        }
        throw CommandFailure("There is no app \"\(text)\".", advice: "There are: \(names).")
    }
}
