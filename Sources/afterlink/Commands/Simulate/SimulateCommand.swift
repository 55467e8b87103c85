internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink simulate`.
enum SimulateCommand {
    static let description = CommandDescription(
        name: "simulate",
        summary: "Try a click and a first launch on a running server",
        discussion: [
            "Posts the click that a browser would post, asks as an app's SDK would ask at its first launch, and shows"
                + " how the server made the click's fingerprints, what the device hashes, and why they met or not: no"
                + " store and no phone is needed. Browsers, devices and SDK releases are built in; `afterlink simulate"
                + " --list` shows them.",
            "It is tried with a test key, whose clicks and launches no live key sees and no live statistic counts. On"
                + " the database's own machine the key is made the first time and kept beside the database; elsewhere"
                + " name a file that holds one.",
            "--timezone and --language are the person's, in the browser as in the app; the options that begin with"
                + " --device-, --model and --os-version change only what the app sees, to show what a difference does.",
            "It exits 0 if the launch got the click, or did not, as the values of both say that it must.",
        ],
        options: options,
        settings: ["listen"] + CommandDatabase.settings,
        examples: [
            "afterlink simulate": "Safari on an iPhone, the newest SDK, the server at --listen.",
            "afterlink simulate --profile instagram-android --server https://links.example"
                + " --key-file test.key": "An in-app browser on Android, and a server elsewhere.",
            "afterlink simulate --sdk 1.8.5 --device-timezone Asia/Dubai":
                "A person who flew to Dubai between click and launch: which component differs?",
            "afterlink simulate --all": "Every browser with its own device: is each found, and no robot?",
            "afterlink simulate --resolve --os-version 26.5":
                "A client that sends its values, on a phone that was updated after the click.",
        ],
        run: run
    )

    private static let options =
        CommandOption.table([
            "server URL": "The server, as in http://127.0.0.1:8080. Default: the one at --listen.",
            "key-file FILE": "A file that holds the key. Default: a test key of the database's own.",
        ]) + [AppChoice.option]
        + CommandOption.table([
            "profile NAME": "The browser of the click. Default: safari-ios-26.",
            "device NAME": "The device of the launch. Default: the one that the browser runs on.",
            "sdk RELEASE": "The release of the SDK. Default: the newest for the device.",
            "resolve":
                "Ask as a newer client does, which sends its values to POST …/resolve in the place of a hash.",
            "all": "Try every profile with its own device, and print a table.",
            "list": "Print the profiles, devices and releases, and send nothing.",
            "timezone ZONE": "The person's time zone, as in Europe/Berlin.",
            "language TAG": "The person's language, as in de-DE.",
            "device-timezone ZONE": "The zone that the app sees, if it differs.",
            "device-language TAG": "The language that the app sees, if it differs.",
            "model MODEL": "The model that the app sees, as in SM-S911B.",
            "os-version VERSION": "The version that the app sees, as in 26.4.1.",
            "url URL": "Where the click leads. Default: a path at the app's first destination.",
            "link SLUG": "A link of the server's own, in the place of a URL.",
            "as test|page|app|server":
                "Who posts the click: a page with a test key, one without a key, one with the app key, or your own"
                + " server with a server key. All but test are live and count. Default: test.",
            "token": "Let the launch bring the click's token.",
            "delay TIME":
                "How long after the click the app is launched, as in 10m or 25h, on a server that runs with"
                + " --unsafe-test-clock.",
            "json": "Print JSON instead of text.",
        ])

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        guard !arguments.has("list") else {
            Console.print(arguments.has("json") ? TrialCatalogue.json : TrialCatalogue.text)
            return .success
        }
        let choice = try TrialChoice(arguments)
        let configuration = try ConfigurationReader.read(invocation)
        let server = TrialServer(exchange: try exchange(arguments, configuration))
        try server.requireReady()
        let key = try await TrialKey.find(arguments, choice.poster, configuration)
        let run = TrialRun(
            host: server.exchange.hostField,
            key: key.text,
            delay: choice.delay,
            bringsToken: choice.broughtToken
        ) { try server.send($0, with: key) }
        if !arguments.has("json") { Console.print(greeting(server, key, choice.poster)) }
        let reports = try choice.profiles.map { profile in
            let trial = try choice.trial(
                of: profile,
                prefix: prefix(of: key.app),
                app: arguments.value("app"),
                localization: key.app?.settings.localization(DeviceData.embedded.languages) ?? .unknown,
                number: number()
            )
            return try attempt {
                try run.report(trial, at: WallClock.system.now())
            } orElse: { (_: TrialRun.OwnClock) in
                ownClock(server)
            }
        }
        show(reports, of: server, choice, asJSON: arguments.has("json"))
        return reports.allSatisfy(\.result.isAsExpected) ? .success : .failed
    }

    private static func ownClock(_ server: TrialServer) -> CommandFailure {
        CommandFailure(
            "The server at \(server.url) goes by its own clock, so that --delay cannot be tried on it.",
            advice:
                "Leave --delay out, or start a server of its own for trials with `afterlink serve --unsafe-test-clock"
                + " --listen 127.0.0.1:8081 --database trial.db`."
        )
    }

    private static func exchange(_ arguments: Arguments, _ configuration: Configuration) throws -> Exchange {
        guard let url = arguments.value("server") else { return Exchange(configuration.listen) }
        guard let exchange = Exchange(url) else {
            throw CommandFailure.wrongValue(
                "server",
                url,
                "must be a URL without a path, as in http://127.0.0.1:8080"
            )
        }
        return exchange
    }

    private static func greeting(_ server: TrialServer, _ key: TrialKey, _ poster: Trial.Poster) -> String {
        let kind = poster.keyKind.rawValue
        let counted =
            poster == .test
            ? "A test: no live key sees it and no live statistic counts it."
            : "This is live: click and launch count in the statistics, under the campaign \(Trial.standardCampaign)."
        return "server   \(server.url), with the \(kind) key of \(key.origin)\n         \(counted)\n"
    }

    /// Returns the start of a link that the app may open, if its destinations are known.
    private static func prefix(of app: App?) -> String {
        guard let destination = app?.settings.destinations.first else { return Trial.standardPrefix }
        return destination.hasSuffix("://") ? destination + "simulated/" : destination + "/simulated/"
    }

    private static func number() -> UInt64 { RandomSource.system.bytes(8).reduce(0) { $0 << 8 | UInt64($1) } }

    private static func show(
        _ reports: [TrialReport],
        of server: TrialServer,
        _ choice: TrialChoice,
        asJSON: Bool
    ) {
        guard !asJSON else {
            var json = JSONWriter(isPretty: true)
            json.object { json in
                json.member("server", server.url)
                json.member("live", choice.poster != .test)
                json.list("trials", reports) { report, json in report.write(to: &json) }
            }
            Console.print(json.text)
            return
        }
        guard choice.isAll else {
            Console.print(reports.map { TrialText($0).text }.joined(separator: "\n\n"))
            return
        }
        let results = reports.map(\.result)
        let unexpected = results.filter { !$0.isAsExpected }.map { result in
            "\(result.trial.profile.name): \(result.explanation.joined(separator: " "))"
        }
        Console.print(([TrialText.table(results)] + unexpected).joined(separator: "\n\n"))
    }
}
