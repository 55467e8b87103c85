internal import Attribution
internal import HTTPServer

/// The command `afterlink demo`.
enum DemoCommand {
    static let description = CommandDescription(
        name: "demo",
        summary: "Play a click and a first launch, and show both",
        discussion: [
            "Starts the service on a free port of this machine with a temporary database, posts the click that a"
                + " landing page would post, asks as a phone's app would ask at its first launch, and shows every"
                + " request and response. It asks with a wrong key, asks again (the click is used up), and reads the"
                + " statistics.",
            "It serves with --replay-grace 0, so that the second launch need not wait: by default the same phone would"
                + " have the same answer again for 60 s, in case the first one was lost on its way.",
            "Checks every response, and exits 0 only if all were right.",
        ],
        options: [
            CommandOption(
                "keep",
                help: "Go on serving afterwards, until SIGTERM or SIGINT, with keys to try."
            )
        ],
        examples: [
            "afterlink demo": "Does it work on this machine?",
            "afterlink demo --keep": "Something to point an SDK at.",
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let signals = StopSignals()
        let secondSignal = try SecondSignal(signals)
        let directory = try TemporaryDirectory()
        defer { directory.delete() }
        let service = try await RunningService.start(configuration(in: directory.path))
        defer { service.stop() }
        func key(_ kind: KeyKind) -> String? {
            service.firstApp?.madeKeys.first { $0.kind == kind }?.text.text
        }
        guard let appKey = key(.app), let adminKey = key(.admin) else {
            throw DemoPlay.failure("its database has no keys")
        }
        Console.print(
            "Afterlink listens on \(service.baseURL), with a database in \(directory.path)."
        )
        try DemoPlay(Exchange(service.listenAddress), appKey: appKey, adminKey: adminKey).run()
        guard invocation.arguments.has("keep") else { return .success }
        Console.print(
            """

            Still here, until you press Ctrl-C, with --replay-grace 0 as before. The keys:

            \(service.firstApp?.keysText ?? "")

            A click and a first launch of your own:

            \(service.firstApp?.example(baseURL: service.baseURL) ?? "")

            listening on \(service.baseURL)
            """
        )
        ServeCommand.runUntilStopped(service, until: signals, secondSignal)
        return .success
    }

    private static func configuration(in directory: String) -> Configuration {
        var configuration = Configuration()
        configuration.listen = ListenAddress(PeerAddress(ipv4: 0x7F00_0001, port: 0))
        configuration.dataDirectory = directory
        configuration.threads = 1
        // The second launch must come after the grace, and the demo must not wait for it.
        configuration.replayGrace = 0
        configuration.appName = "Demo"
        configuration.destinations = ["myapp://"]
        configuration.logFile = directory + "/log"
        return configuration
    }
}
