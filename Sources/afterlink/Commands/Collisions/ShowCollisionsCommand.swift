internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink collisions`.
enum ShowCollisionsCommand {
    static let description = CommandDescription(
        name: "collisions",
        summary: "Count how many people share a fingerprint, and expect false matches",
        discussion: [
            "Reads all clicks and all records of checks that are held, and tells for each platform and form of fingerprint"
                + " how many clicks were alone on theirs, that is, with whose fingerprint nobody else had clicked within"
                + " the attribution window before them, and how many clicks of other people competed on average.",
            "Adds up what the recorded matches by fingerprint leave over to certainty: so many of them are expected to be"
                + " wrong. Of the limits below, each is the lowest minimum confidence and the longest window up to the"
                + " present one that keeps the share of wrong matches at most so high, with the matches there would be"
                + " then. A window that costs more than half of the right matches is not told.",
            "A serving process counts the same beside its work and shows it in `afterlink stats`; this command counts"
                + " anew. It takes the longer the more clicks are held, says how far it has come, and holds nobody up.",
        ],
        options: [
            CommandOption("app", "APP", help: "Only this app, by id or name."),
            CommandOption("test", help: "Test clicks and checks instead of live ones."),
            .json,
        ],
        settings: CommandDatabase.settings + ["attribution-window"],
        examples: [
            "afterlink collisions --app Shop":
                "How many matches of the app are expected to be wrong, and what would make them fewer?"
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let configuration = try ConfigurationReader.read(invocation)
        let database = try CommandDatabase.open(configuration, for: .reading)
        defer { database.close() }
        let directory = try database.directory()
        let apps = try arguments.value("app").map { text in
            [try AppChoice.find(text, in: directory)]
        }
        var collisions: [AppCollisions] = []
        var line = ProgressLine()
        for app in apps ?? directory.apps {
            let report = try await database.statistics.countCollisions(
                of: app.id,
                isTest: arguments.has("test"),
                window: app.settings.window ?? configuration.attributionWindow,
                at: WallClock.system.now()
            ) { line.update("Counting \(app.settings.name): \(Int($0 * 100)) %") }
            if let report { collisions.append(AppCollisions(app: app.id, report: report)) }
        }
        line.finish()
        guard !arguments.has("json") else {
            var json = JSONWriter()
            json.object { CollisionBody.write(collisions, in: directory, to: &$0) }
            Console.print(json.text)
            return .success
        }
        guard !collisions.isEmpty else {
            Console.printError(
                "There is no app in the database yet: `afterlink apps create NAME` makes one.\n"
            )
            return .success
        }
        let texts = CollisionTables(collisions: collisions, directory: directory).texts
        Console.print(texts.joined(separator: "\n\n"))
        return .success
    }
}
