internal import Attribution
internal import Server

/// The command `afterlink keys list`.
enum ListKeysCommand {
    static let description = CommandDescription(
        name: "keys list",
        summary: "Show the keys, without their secret text",
        discussion: [
            "Prints all keys, the oldest first, with when they were last used: rounded to the minute, and some"
                + " seconds late."
        ],
        options: [
            CommandOption("app", "APP", help: "Only the keys of this app, by id or name."),
            .json,
        ],
        settings: CommandDatabase.settings,
        examples: [
            "afterlink keys list": "Which keys are there, which are in use?"
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let database = try CommandDatabase.open(ConfigurationReader.read(invocation), for: .reading)
        defer { database.close() }
        let directory = try database.directory()
        let app = try invocation.arguments.value("app").map { text in
            try AppChoice.find(text, in: directory).id
        }
        let keys = directory.keys.filter { app == nil || $0.app == app }
        let now = WallClock.system.now()
        let isJSON = invocation.arguments.has("json")
        Console.print(
            isJSON ? KeyListing.json(keys, at: now) : KeyListing.table(keys, in: directory, at: now)
        )
        return .success
    }
}
