internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink model show`.
enum ShowModelCommand {
    static let description = CommandDescription(
        name: "model show",
        summary: "Show an app's model, learnt from its traffic",
        discussion: [
            "How many clicks lead to launches and how soon, how often a device keeps its address, and how many launches"
                + " come from no click: what a match's confidence is worked out from. On a new database these are"
                + " the figures that Afterlink begins with; they give way as traffic comes.",
            "A serving process stores what it learns every few seconds.",
        ],
        options: [AppChoice.option]
            + CommandOption.table(["test": "What test clicks and checks have taught instead."]) + [.json],
        settings: CommandDatabase.settings,
        examples: ["afterlink model show": "What confidence is made of, for the only app there is."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let database = try CommandDatabase.open(invocation, for: .reading)
        defer { database.close() }
        let app = try AppChoice.find(arguments.value("app"), in: database.directory())
        let now = WallClock.system.now()
        let model = try await database.learning.matchingModel(
            of: app.id,
            isTest: arguments.has("test"),
            at: now
        )
        guard !arguments.has("json") else {
            Console.print(json(model, app))
            return .success
        }
        if model.launches == 0 {
            Console.printError("Nothing has been learnt yet: these are the figures to begin with.\n\n")
        } else {
            Console.printError("Learning since \(model.epoch.began.iso8601).\n\n")
        }
        var table = Table([("FIGURE", .left), ("VALUE", .right), ("MEANING", .left)])
        for figure in model.figures { table.add([figure.name, rounded(figure.value), figure.meaning]) }
        Console.print(table.text)
        return .success
    }

    private static func json(_ model: MatchingModel, _ app: App) -> String {
        JSONWriter.text { json in
            json.member("app", app.id.text)
            json.member("learning_since", model.launches == 0 ? nil : model.epoch.began.iso8601)
            json.object("figures") { json in
                for figure in model.figures { json.member(figure.name, figure.value) }
            }
        }
    }

    /// Four digits behind the point at most.
    private static func rounded(_ value: Double) -> String {
        let scaled = (value * 10_000).rounded() / 10_000
        return scaled == scaled.rounded() && abs(scaled) < 1e15 ? String(Int64(scaled)) : String(scaled)
    }
}

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
        options: [AppChoice.option]
            + CommandOption.table([
                "test": "What test clicks and checks have taught instead."
            ]) + [.jsonObject],
        settings: CommandDatabase.settings,
        examples: ["afterlink model reset --app Shop": "The traffic so far was a load test."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let database = try CommandDatabase.open(invocation)
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
