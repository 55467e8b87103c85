internal import Attribution
internal import Server

/// The command `afterlink init`.
enum InitializeCommand {
    static let description = CommandDescription(
        name: "init",
        summary: "Create the database, the first app and its keys",
        discussion: [
            "Creates the database and the server key beside it, the first app, and a key of each kind, and shows the keys"
                + " this once. It fails if the database has an app already. An empty PostgreSQL database must exist; with"
                + " --secret-file, it also contains the server key.",
            "With AFTERLINK_INITIAL_APP_KEY or AFTERLINK_INITIAL_ADMIN_KEY, these are the only keys, and no key is printed.",
            "`afterlink serve` does the same on a new database; `init` is for scripts, and for machines that write the"
                + " service's output to a log.",
        ],
        options: CommandOption.table(["json": "Print one JSON object with the app and the keys."]),
        settings: CommandDatabase.settings + [
            "server-key-file", "secret-file", "app-name", "destination", "initial-app-key",
            "initial-admin-key",
        ],
        examples: [
            "afterlink init --database /var/lib/afterlink/afterlink.db --destination myapp:// --json":
                "Read the keys in a script from .keys.app, .keys.server, .keys.test and .keys.admin."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let configuration = try ConfigurationReader.read(invocation)
        let database = try CommandDatabase.openOrMake(configuration)
        defer { database.close() }
        let (_, firstApp) = try await FirstApp.prepare(database.store, database.apps, configuration)
        try show(firstApp, configuration, asJSON: invocation.arguments.has("json"))
    }

    /// Prints the new app and its keys.
    ///
    /// If this function is inlined, the optimiser of Swift 6.3.1 crashes while it splits `run`.
    ///
    /// - Throws: if the database already had an app, or if the keys could not be printed.
    @inline(never)
    private static func show(_ firstApp: FirstApp?, _ configuration: Configuration, asJSON: Bool) throws {
        guard let firstApp else {
            throw CommandFailure.because("The database \(configuration.databaseName) has an app already.")
                .advising(
                    "`afterlink apps set` changes the app, and `afterlink keys create` creates further keys."
                )
        }
        let keys =
            firstApp.madeKeys.isEmpty
            ? "Its keys are those that you supplied, and are not printed."
            : "Its keys, which are shown only now:\n\n\(firstApp.keysText)"
        let text = """
            Created \(configuration.databaseName) with the app "\(firstApp.app.settings.name)", \(firstApp.app.id.text).

            \(keys)

            `afterlink serve` starts the service.
            """
        try Console.show(asJSON ? firstApp.json : text, orElse: notShown(firstApp, configuration))
    }

    private static func notShown(_ firstApp: FirstApp, _ configuration: Configuration) -> CommandFailure {
        let (database, key) = (configuration.databaseName, configuration.serverKeyPath)
        let created = "\(database) was created with the app \"\(firstApp.app.settings.name)\""
        guard !firstApp.madeKeys.isEmpty else {
            return CommandFailure.because("\(created), but that could not be printed.")
                .advising("`afterlink apps list` shows the app; its keys are those that you supplied.")
        }
        let advice =
            configuration.isOnServer
            ? "Create other keys with `afterlink keys create`, and revoke these: `afterlink keys list` shows them."
            : "Delete \(database) and \(key), and run the command again where its output is read."
        return CommandFailure.because("\(created), but its keys could not be printed.").advising(advice)
    }
}
