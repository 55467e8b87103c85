internal import Attribution
internal import Server

/// The command `afterlink apps set`.
enum ChangeAppCommand {
    static let description = CommandDescription(
        name: "apps set",
        summary: "Change an app's settings",
        discussion: [
            "Changes the given settings and keeps the others. A given list replaces the previous one. A serving"
                + " process applies them within half a second. Prints the app, and a line for each setting that changed."
        ],
        options: [AppChoice.option]
            + CommandOption.table(["name NAME": "A new name."]) + AppSettingOptions.all + [.json],
        settings: CommandDatabase.settings + ["dashboard-host"],
        examples: [
            "afterlink apps set --destination shopapp://":
                "Accept a click without a server key only if its link leads into the app.",
            "afterlink apps set --app Shop --open-clicks off": "Require a key for clicks.",
            "afterlink apps set --on-ambiguity campaignOnly --default-link shopapp://home":
                "Credit the campaign without a personal link if several clicks are possible.",
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        let changes = ["name"] + AppSettingOptions.all.map(\.name)
        guard changes.contains(where: arguments.has) else {
            throw CommandFailure.usage("`afterlink apps set` needs at least one setting to change.")
                .advising("Give at least one of \(changes.map { "--\($0)" }.joined(separator: ", ")).")
        }
        // Report wrong use before anything else.
        var probe = App.Settings(name: "")
        try change(&probe, arguments)
        let configuration = try ConfigurationReader.read(invocation)
        let isServed = CommandDatabase.mayBeServed(configuration)
        let database = try CommandDatabase.open(configuration)
        defer { database.close() }
        let directory = try database.directory()
        let before = try AppChoice.find(arguments.value("app"), in: directory)
        var app = before
        try change(&app.settings, arguments)
        try MatchingOptions.check(app.settings)
        let changed = app
        // A running service stores the URL of its dashboard at its start; a URL with an address instead of a host name
        // conflicts with no app.
        let stored = isServed ? try await database.sessions.dashboards() : []
        let running = stored.compactMap { _, url in
            url.firstRange(of: "://").flatMap { LinkHost(String(url[$0.upperBound...])) }
        }
        let hosts = [configuration.dashboardHost].compactMap(\.self) + running
        let problems = hosts.compactMap { LinkHostChange.problem(of: changed.settings, withDashboardAt: $0) }
        if let dashboard = problems.first {
            throw CommandFailure.because(dashboard.message).advising("Nothing was changed.")
        }
        try await checkHosts(before, changed.settings, directory, database.links)
        let (former, settings) = (before.settings, changed.settings)
        do throws(StoreError) {
            try await database.apps.update(changed.id, from: former, to: settings, by: .commandLine)
        } catch {
            guard error.code == .conflict else { throw error }
            let isTaken = directory.apps.contains { $0.id != changed.id && $0.settings.name == settings.name }
            guard !isTaken else { throw AppName.isTaken(settings.name) }
            throw CommandFailure.because("Another process has changed the app meanwhile.")
                .advising("Nothing was changed. Run the command again.")
        }
        let text = [AppListing.table([changed]), changedLines(from: former, to: settings)]
        invocation.show(text.filter { !$0.isEmpty }.joined(separator: "\n\n"), json: AppListing.json(changed))
    }

    /// Returns a line with the JSON name and the new value of each setting that differs, as in `ios_scheme: shopapp`.
    private static func changedLines(from former: App.Settings, to settings: App.Settings) -> String {
        let change = AuditedChange(.changeApp, from: former.auditFields, to: settings.auditFields)
        let (before, after) = (change.before.texts, change.after.texts)
        return Set(before.keys).union(after.keys).sorted().map { name in
            "\(name): \(after[name]?.joined(separator: ", ") ?? "none")"
        }.joined(separator: "\n")
    }

    private static func checkHosts(
        _ app: App,
        _ settings: App.Settings,
        _ directory: Directory,
        _ links: any LinkStore
    ) async throws {
        let problem = try await LinkHostChange.problem(of: app, to: settings, in: directory, links)
        guard let problem else { return }
        throw CommandFailure.because(problem.message)
            .advising(
                "Nothing was changed. `afterlink links show SLUG --app APP` shows each of the two links."
            )
    }

    private static func change(_ settings: inout App.Settings, _ arguments: Arguments) throws {
        if let name = arguments.value("name") { settings.name = try AppName.read(name) }
        try AppSettingOptions.apply(arguments, to: &settings)
    }
}
