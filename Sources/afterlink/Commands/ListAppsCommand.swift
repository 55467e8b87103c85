internal import Attribution

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
