internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink apps list`.
enum ListAppsCommand {
    static let description = CommandDescription(
        name: "apps list",
        summary: "Show the apps and their settings",
        discussion: ["Prints all apps, the oldest first."],
        options: [.json],
        settings: CommandDatabase.settings,
        examples: ["afterlink apps list": "Show all apps."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let database = try CommandDatabase.open(invocation, for: .reading)
        defer { database.close() }
        let apps = try database.directory().apps
        invocation.show(AppListing.table(apps), json: AppListing.json(apps))
    }
}

/// Apps as tables and JSON.
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

    /// Returns the app's languages, and its development language in brackets; `not known` if it has neither.
    private static func languages(_ settings: App.Settings) -> String {
        let fallback = settings.developmentLanguage.map { ["(\($0))"] } ?? []
        let all = settings.localizations + fallback
        return all.isEmpty ? "not known" : all.joined(separator: " ")
    }

    /// Returns how the app matches, as in `probability 0.7, else campaignOnly myapp://home`.
    private static func matching(_ settings: App.Settings) -> String {
        let policy = settings.policy
        guard policy.usesFingerprints else { return "tokens and ids" }
        guard policy.rule == .probability else { return "newest" }
        let link = policy.onAmbiguity == .campaignOnly ? settings.defaultLink.map { " \($0.text)" } : nil
        return "probability \(policy.minimumConfidence), else \(policy.onAmbiguity.rawValue)\(link ?? "")"
    }

    /// Returns one app as JSON: `{"app":{…}}`.
    static func json(_ app: App) -> String {
        JSONWriter.text { $0.object("app") { AppBody.write(app, to: &$0) } }
    }

    /// Returns several apps as JSON: `{"apps":[…]}`.
    static func json(_ apps: [App]) -> String {
        JSONWriter.text { $0.objects("apps", apps) { AppBody.write($1, to: &$0) } }
    }
}

/// Finds the app that a command is about.
enum AppChoice {
    static let help = "The app, by id or name; needed if there are several."
    static let option = CommandOption("app", "APP", help: help)

    /// Returns the app that `--app` names; nil without the option.
    static func named(_ arguments: Arguments, in directory: Directory) throws -> App? {
        try arguments.value("app").map { text in try find(text, in: directory) }
    }

    /// Returns the app with this id or name; for nil, the only app, or a failure with `advice` if there are several.
    static func find(_ text: String?, in directory: Directory, advice: String = "Name it with --app.") throws
        -> App
    {
        let names = directory.apps.map { "\($0.settings.name) (\($0.id.text))" }.joined(separator: ", ")
        guard let first = directory.apps.first else {
            throw CommandFailure.because("The database has no app yet.")
                .advising("`afterlink apps create NAME` creates one.")
        }
        guard let text else {
            guard directory.apps.count == 1 else {
                throw CommandFailure.usage("The command needs one of several apps: \(names).")
                    .advising(advice)
            }
            return first
        }
        if let app = directory.apps.first(where: { $0.id.text == text || $0.settings.name == text }) {
            return app
        }
        throw CommandFailure("There is no app \"\(text)\".", advice: "There are: \(names).")
    }
}
