internal import Attribution
internal import Glibc
internal import Server

/// The command `afterlink serve`.
enum ServeCommand {
    static let description = CommandDescription(
        name: "serve",
        summary: "Serve clicks and first launches",
        discussion: [
            "Records clicks and answers the checks of first launches until SIGTERM or SIGINT. Without settings it listens on"
                + " 127.0.0.1:8080 and stores everything in ./afterlink.db.",
            "On a new database it creates the first app and its keys, prints them once, and shows two curl calls to try.",
            "Several servers may share a PostgreSQL database, with the same settings and the same --secret-file.",
            "If the clock leaps by more than a day, or is more than a day from the last use of the database, learning,"
                + " retention and other jobs that delete wait for 24 hours of uptime. If the clock is right, start with"
                + " --accept-clock.",
            "SIGTERM and SIGINT stop gracefully: requests in flight finish, everything is brought to disk, and the exit"
                + " status is 0. A second signal drops the requests in flight. SIGHUP reopens the log file and reloads the"
                + " certificate.",
        ],
        options: CommandOption.table([
            "accept-clock":
                "Trust the clock, even if the database was last used long ago or its records lie in the future."
        ]),
        settings: Setting.all.map(\.name),
        examples: [
            "afterlink serve": "Try it on this machine.",
            "afterlink serve --listen 0.0.0.0:8080 --data-directory /var/lib/afterlink"
                + " --trusted-proxy 10.0.0.0/8 --destination myapp://":
                "Serve behind a proxy in 10.0.0.0/8, with links into one app only.",
            "AFTERLINK_LISTEN=[::]:8080 afterlink serve --config /etc/afterlink.json":
                "Take settings from the environment and a file; flags override both.",
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        var (configuration, origins) = try ConfigurationReader.examine(invocation) {
            _ = try RunningService.readFiles(of: $0)
        }
        configuration.acceptsClock = invocation.arguments.has("accept-clock")
        let signals = StopSignals()
        let thread = try SignalThread(signals)
        let service = try await RunningService.start(
            configuration,
            origins,
            databaseHasOpened: thread.databaseHasOpened
        )
        for hint in Setting.unknownVariables(in: invocation.environment) { service.log.event(.warning, hint) }
        printStartup(service)
        runUntilStopped(service, signals, thread)
        service.stop()
    }

    /// Serves until SIGTERM or SIGINT; from then on, a second one drops the requests in flight.
    static func runUntilStopped(_ service: RunningService, _ signals: StopSignals, _ thread: SignalThread) {
        while signals.waitForReopening() {
            service.reopenLog()
            service.reloadCertificate()
        }
        thread.arm(for: service)
    }

    private static func notShown(_ firstApp: FirstApp) -> CommandFailure {
        CommandFailure.because(
            "The keys of the new app \"\(firstApp.app.settings.name)\" could not be printed."
        )
        .advising(
            "Create others with `afterlink keys create`, and revoke these: `afterlink keys list` shows them."
        )
    }

    private static func printStartup(_ service: RunningService) {
        if let firstApp = service.firstApp, !firstApp.madeKeys.isEmpty {
            let text = """
                Created the app "\(firstApp.app.settings.name)", \(firstApp.app.id.text), and its keys. They are shown only now:

                \(firstApp.keysText)

                Try it, a click and then the app's first launch:

                \(firstApp.example(baseURL: service.baseURL) ?? "")

                """
            do {
                try Console.show(text, orElse: notShown(firstApp))
            } catch {
                let failure = CommandFailure(describing: error)
                service.log.event(.error, "\(failure.explanation) \(failure.advice)")
            }
        }
        // Scripts wait for this line; the log has it, too.
        Console.printNotice("listening on \(service.baseURL)")
        if let dashboardURL = service.dashboardURL { Console.printNotice("dashboard at \(dashboardURL)") }
    }
}
