internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink model show`.
enum ShowModelCommand {
    static let description = CommandDescription(
        name: "model show",
        summary: "Show an app's model, learnt from its traffic",
        discussion: [
            "Prints the figures that determine the confidence of a match: how many clicks lead to launches and how soon, how"
                + " often a device keeps its address, and how many launches come from no click. A new database has built-in"
                + " figures, which traffic replaces gradually.",
            "A serving process stores new figures every few seconds.",
        ],
        options: options + [.json],
        settings: CommandDatabase.settings,
        examples: ["afterlink model show": "Show the figures of the only app."],
        run: run
    )

    static let options = CommandOption.table([
        "app APP": AppChoice.help, "test": "The model of test clicks and checks instead.",
    ])

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        let database = try CommandDatabase.open(invocation, for: .reading)
        defer { database.close() }
        let app = try AppChoice.find(arguments.value("app"), in: database.directory())
        let now = WallClock.system.now()
        let isTest = arguments.has("test")
        let model = try await database.learning.matchingModel(of: app.id, isTest: isTest, at: now)
        if !arguments.has("json") {
            Console.printError(
                model.launches == 0
                    ? "Nothing has been learnt yet: these are the built-in figures.\n\n"
                    : "Learning since \(model.epoch.began.iso8601).\n\n"
            )
        }
        let table = model.figures.table([
            .left("FIGURE", \.name), .right("VALUE") { rounded($0.value) }, .left("MEANING", \.meaning),
        ])
        invocation.show(table, json: json(model, app))
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

    /// Returns the number with at most four digits after the decimal point.
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
            "Deletes what the model has learnt, so that matching starts as on a new database: the newest click with the"
                + " fingerprint matches until there is enough traffic. Clicks, matches and statistics remain. Use it after"
                + " traffic that was not real, such as a load test.",
            "A serving process uses the reset model within some seconds.",
        ],
        options: ShowModelCommand.options + [.jsonObject],
        settings: CommandDatabase.settings,
        examples: ["afterlink model reset --app Shop": "Forget the traffic of a load test."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        let database = try CommandDatabase.open(invocation)
        defer { database.close() }
        let app = try AppChoice.find(arguments.value("app"), in: database.directory())
        try await database.learning.resetLearning(of: app.id, isTest: arguments.has("test"), by: .commandLine)
        let text = "Reset the model of the app \"\(app.settings.name)\"."
        invocation.show(text, json: JSONWriter.text { $0.member("app", app.id.text) })
    }
}
