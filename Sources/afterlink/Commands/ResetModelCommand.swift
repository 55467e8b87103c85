internal import Attribution
internal import Server

/// The command `afterlink model reset`.
enum ResetModelCommand {
    static let description = CommandDescription(
        name: "model reset",
        summary: "Reset an app's model",
        discussion: [
            "Matching begins as on a fresh database: the newest click with the fingerprint matches, until some traffic"
                + " has been seen. Clicks, matches and statistics stay as they are. Worth it where traffic was not"
                + " real, after a load test for instance.",
            "A serving process follows within some seconds.",
        ],
        options: [
            AppChoice.option,
            CommandOption("test", help: "What test clicks and checks have taught instead."),
            CommandOption("json", help: "Print a JSON object instead."),
        ],
        settings: CommandDatabase.settings,
        examples: [
            "afterlink model reset --app Shop": "The traffic so far was a load test."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let database = try CommandDatabase.open(ConfigurationReader.read(invocation))
        defer { database.close() }
        let app = try AppChoice.find(arguments.value("app"), in: database.directory())
        try await database.learning.resetLearning(of: app.id, isTest: arguments.has("test"))
        if arguments.has("json") {
            var json = JSONWriter()
            json.object { $0.member("app", app.id.text) }
            Console.print(json.text)
        } else {
            Console.print("Forgot what the traffic of \(app.settings.name) has taught.")
        }
        return .success
    }
}
