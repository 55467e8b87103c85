internal import Attribution
internal import HTTPServer
internal import JSON
internal import Server

/// The command `afterlink demo`.
enum DemoCommand {
    static let description = CommandDescription(
        name: "demo",
        summary: "Play a click and a first launch, and show both",
        discussion: [
            "Starts the service on a free port of this machine with a temporary database, posts the click of a landing"
                + " page, checks as an app would at its first launch, and shows every request and response. It also checks"
                + " with a wrong key, checks again after the click is claimed, and reads the statistics.",
            "It serves with --replay-grace 0, so that the second launch need not wait: by default the same phone gets the"
                + " same response again for 60 s, in case the first one was lost.",
            "The exit status is 0 only if every response was right.",
        ],
        options: CommandOption.table([
            "keep": "Continue to serve until SIGTERM or SIGINT, and print keys to try."
        ]),
        examples: [
            "afterlink demo": "Show that the service works on this machine.",
            "afterlink demo --keep": "Run a server for an SDK.",
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let signals = StopSignals()
        let thread = try SignalThread(signals)
        let directory = try TemporaryDirectory()
        defer { directory.delete() }
        // This start is short, and a signal must not end the process before the folder is deleted.
        thread.databaseHasOpened()
        let service = try await RunningService.start(configuration(in: directory.path))
        defer { service.stop() }
        func key(_ kind: KeyKind) -> String? {
            service.firstApp?.madeKeys.first { $0.kind == kind }?.text.text
        }
        guard let appKey = key(.app), let adminKey = key(.admin) else {
            throw DemoPlay.failure("its database has no keys")
        }
        Console.print("Afterlink listens on \(service.baseURL), with a database in \(directory.path).")
        try DemoPlay(Exchange(service.listenAddress), appKey: appKey, adminKey: adminKey).run()
        guard invocation.arguments.has("keep") else { return }
        Console.print(
            """

            The server continues until you press Ctrl-C, with --replay-grace 0 as before. The keys:

            \(service.firstApp?.keysText ?? "")

            A click and a first launch of your own:

            \(service.firstApp?.example(baseURL: service.baseURL) ?? "")

            listening on \(service.baseURL)
            """
        )
        ServeCommand.runUntilStopped(service, signals, thread)
    }

    private static func configuration(in directory: String) -> Configuration {
        var configuration = Configuration()
        configuration.listen = ListenAddress(PeerAddress(ipv4: 0x7F00_0001, port: 0))
        configuration.dataDirectory = directory
        configuration.threads = 1
        // Otherwise the demo would have to wait for the end of the grace before its second launch.
        configuration.replayGrace = 0
        configuration.appName = "Demo"
        configuration.destinations = ["myapp://"]
        configuration.logFile = directory + "/log"
        return configuration
    }
}

/// The demo's requests in order: a click, a launch with a wrong key, the first launch, a second one, the statistics.
struct DemoPlay {
    private let exchange: Exchange
    private let scenes: [Scene]

    private static let link = "myapp://promo/summer"

    /// A request, and the response that it must get.
    private struct Scene {
        let sentence: String
        let request: ClientRequest
        let status: Int
        /// The required members of the body: name, description of the value, and comparison.
        var members: [(name: String, text: String, isRight: (String) -> Bool)] = []
        /// The required counts of the statistics.
        var totals: [(name: String, count: Int64)] = []
    }

    /// - Parameters:
    ///   - exchange: the server, with a new database.
    ///   - appKey: a key of its app.
    ///   - adminKey: an admin key.
    /// - Throws: if the built-in tables lack the browser, its device or its SDK.
    init(_ exchange: Exchange, appKey: String, adminKey: String) throws {
        self.exchange = exchange
        let profile = BrowserProfile.all.first { $0.name == "safari-ios-17" }
        let device = TrialDevice.all.first { $0.name == profile?.device }
        guard let profile, let device, let release = SDKRelease.all.first(where: { $0.form == .a }) else {
            throw Self.failure("the built-in table lacks the browser")
        }
        let trial = Trial(
            profile: profile,
            device: device,
            release: release,
            person: profile.person,
            poster: .page,
            destination: .url("\(Self.link)?utm_source=instagram"),
            number: 25,
            campaignKey: "SUMMER25"
        )
        let host = exchange.hostField
        let fingerprint = TrialAnalysis(trial).made.first?.input.fingerprint.hex ?? ""
        func launch(_ key: String) -> ClientRequest {
            trial.launch(host: host, key: key, token: nil, at: nil)
        }
        func equal(_ name: String, _ text: String) -> (name: String, text: String, isRight: (String) -> Bool)
        { (name, "\"\(text)\"", { $0 == text }) }
        scenes = [
            Scene(
                sentence:
                    "A person taps a campaign link. The landing page posts what the browser reveals of the phone.",
                request: trial.click(host: host, key: "", at: nil),
                status: 201,
                members: [equal("status", "success"), equal("fingerprint", fingerprint)]
            ),
            Scene(
                sentence: "A launch with a wrong key is refused, and the click stays.",
                request: launch("app_wrong"),
                status: 401,
                members: [equal("error_code", "INVALID_API_KEY")]
            ),
            Scene(
                sentence:
                    "The app was installed and starts for the first time. Its SDK sends a hash of its values.",
                request: launch(appKey),
                status: 200,
                members: [
                    equal("status", "match"), equal("campaignKey", "SUMMER25"),
                    ("url", "a URL that begins with \(Self.link)", { $0.hasPrefix(Self.link) }),
                    ("url", "a URL with source=instagram", { $0.contains("source=instagram") }),
                ]
            ),
            Scene(
                sentence:
                    "The app is installed again and checks again. The first launch has claimed the click."
                    + "\n   (The demo serves with --replay-grace 0. By default, the same phone gets the same response again"
                    + "\n   for 60 s, in case the first one was lost.)",
                request: launch(appKey),
                status: 200,
                members: [equal("status", "no_match")]
            ),
            Scene(
                sentence: "The operator reads the statistics.",
                request: ClientRequest(
                    "GET /admin/stats",
                    host: host,
                    [("Authorization", "Bearer \(adminKey)")]
                ),
                status: 200,
                totals: [("clicks", 1), ("checks", 2), ("matches", 1), ("no_matches", 1)]
            ),
        ]
    }

    /// Sends each request, prints it with its response, and checks the response.
    ///
    /// - Throws: an error about the first wrong response.
    func run() throws {
        for scene in scenes {
            Console.print("\n── \(scene.sentence)\n")
            Console.print(scene.request.shown)
            let response = try attempt(orElse: { (error: SystemError) in
                Self.failure("there was no response: \(error.text)")
            }) { try exchange.send(scene.request) }
            guard let response else { throw Self.failure("the response was not HTTP") }
            try check(response, of: scene)
        }
        Console.print("\nEvery response was right: one click, one match, and no second match.")
    }

    private func check(_ response: ClientResponse, of scene: Scene) throws {
        let body = response.json
        let part = scene.totals.isEmpty ? nil : body?["totals"]
        let text = part.map(JSONLayout.text) ?? response.body
        Console.print("\n< \(response.statusText)\n" + JSONLayout.indented(text, by: "< "))
        guard response.status == scene.status else {
            throw Self.failure("the status was \(response.status), not \(scene.status)")
        }
        for (name, expected, isRight) in scene.members {
            let value = body?[name]?.string
            guard value.map(isRight) != true else { continue }
            throw Self.failure(
                "\(name) should have been \(expected), not \(value.map { "\"\($0)\"" } ?? "missing")"
            )
        }
        for (name, count) in scene.totals {
            let counted = part?.object?[name]?.int64
            guard counted != count else { continue }
            throw Self.failure("\(name) should have been counted as \(count), not as \(counted ?? 0)")
        }
    }

    static func failure(_ reason: String) -> CommandFailure {
        CommandFailure.because("The demo failed: \(reason).")
            .advising("This is a defect; please report it with the output.")
    }
}
