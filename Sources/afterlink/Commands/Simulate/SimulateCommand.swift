internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink simulate`.
enum SimulateCommand {
    static let description = CommandDescription(
        name: "simulate",
        summary: "Try a click and a first launch on a running server",
        discussion: [
            "Posts the click that a browser would post, and checks as an app's SDK would at its first launch. It shows the"
                + " click's fingerprints, the hash of the device, and why they match or do not; it needs no store and no"
                + " phone. Browsers, devices and SDK releases are built in; `afterlink simulate --list` shows them.",
            "It uses a test key: no live key finds its clicks and launches, and no live statistic counts them. On the machine"
                + " of the database, the first run creates the key and stores it beside the database; elsewhere, name a"
                + " file with a key.",
            "--timezone and --language apply to the browser and the app; --device-timezone, --device-language, --model and"
                + " --os-version change only the values of the app, to show the effect of a difference.",
            "The exit status is 0 if the launch gets the result that the values of click and launch predict.",
        ],
        options: options,
        settings: ["listen"] + CommandDatabase.settings,
        examples: [
            "afterlink simulate": "Try Safari on an iPhone and the newest SDK on the server at --listen.",
            "afterlink simulate --profile instagram-android --server https://links.example"
                + " --key-file test.key": "Try an in-app browser on Android on another server.",
            "afterlink simulate --sdk 1.8.5 --device-timezone Asia/Dubai":
                "Show which component differs if a person flew to Dubai between click and launch.",
            "afterlink simulate --all": "Try every browser with its own device.",
            "afterlink simulate --resolve --os-version 26.5":
                "Try a client that sends its values, on a phone that was updated after the click.",
            "afterlink simulate --client swift --token":
                "Try the Swift library with a link that a person pasted.",
        ],
        run: run
    )

    private static let options = CommandOption.table([
        "server URL": "The server, as in http://127.0.0.1:8080. Default: the server at --listen.",
        "key-file FILE": "A file with the key. Default: a test key of the database.",
        "app APP": AppChoice.help,
        "profile NAME": "The browser of the click. Default: safari-ios-26.",
        "device NAME": "The device of the launch. Default: the browser's device.",
        "sdk RELEASE": "The release of the SDK. Default: the newest for the device.",
        "resolve":
            "Check as a newer client does, which sends its values to POST …/resolve instead of a hash.",
        "client swift":
            "Run the Swift client library for the launch, in a binary that was built with the trait ClientLibrary.",
        "all": "Try every profile with its own device, and print a table.",
        "list": "Print the profiles, devices and releases, and send nothing.",
        "timezone ZONE": "The person's time zone, as in Europe/Berlin.",
        "language TAG": "The person's language, as in de-DE.",
        "device-timezone ZONE": "The app's time zone, if it differs from the browser's.",
        "device-language TAG": "The app's language, if it differs from the browser's.",
        "model MODEL": "The app's model, as in SM-S911B.",
        "os-version VERSION": "The app's system version, as in 26.4.1.",
        "url URL": "The click's destination. Default: a path at the app's first destination.",
        "link SLUG": "A link of the server instead of a URL.",
        "as test|page|app|server":
            "The sender of the click: a page with a test key, a page without a key, a page with the app key, or your"
            + " server with a server key. All except test are live and count. Default: test.",
        "token": "Send the click's token with the launch.",
        "play none|injection|spamming":
            "Send the token in Google Play's report: one without a finding, or one of an injected or spammed click.",
        "delay TIME":
            "The time from the click to the launch, as in 10m or 25h, on a server with --unsafe-test-clock.",
        "json": "Print JSON instead of text.",
    ])

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        guard !arguments.has("list") else {
            return invocation.show(TrialCatalogue.text, json: TrialCatalogue.json)
        }
        let choice = try TrialChoice(arguments)
        let configuration = try ConfigurationReader.read(invocation)
        let named = try arguments.read("server", "must be a URL without a path, as in http://127.0.0.1:8080")
        { Exchange($0) }
        let server = TrialServer(exchange: named ?? Exchange(configuration.listen))
        try server.requireReady()
        let key = try await TrialKey.find(arguments, choice.poster, configuration)
        let library = choice.runsLibrary ? try library(server, key) : nil
        let run = TrialRun(
            host: server.exchange.hostField,
            key: key.text,
            delay: choice.delay,
            bringsToken: choice.broughtToken,
            play: choice.play,
            library: library
        ) { try server.send($0, with: key) }
        if !arguments.has("json") { Console.print(greeting(server, key, choice)) }
        var reports: [TrialReport] = []
        for profile in choice.profiles {
            let trial = try choice.trial(
                of: profile,
                prefix: Trial.prefix(of: key.app),
                app: arguments.value("app"),
                localization: key.app?.settings.localization(DeviceData.embedded.languages) ?? .unknown,
                number: number()
            )
            do {
                reports.append(try await run.report(trial, at: WallClock.system.now()))
            } catch is TrialRun.OwnClock { throw ownClock(server) }
        }
        // Invented revenue must not be counted with live revenue.
        for result in reports.map(\.result) where choice.poster == .test && result.isMatched {
            guard let click = result.launch?.json?["click_id"]?.string else { continue }
            let host = server.exchange.hostField
            _ = try server.send(result.trial.events(host: host, key: key.text, click: click), with: key)
        }
        invocation.show(text(reports, isTable: choice.isAll), json: json(reports, of: server, choice))
        if !reports.allSatisfy(\.result.isAsExpected) { throw ExitCode.failed }
    }

    /// - Throws: if the program was built without the library. With the library, the program is a third larger.
    private static func library(_ server: TrialServer, _ key: TrialKey) throws -> TrialRun.Library {
        #if ClientLibrary
        return { try await LibraryLaunch(server: server, key: key).run($0, token: $1, at: $2) }
        #else
        throw CommandFailure.because("This binary was built without the Swift client library.")
            .advising("Build it with `swift build --traits ClientLibrary`, or use --resolve.")
        #endif
    }

    private static func ownClock(_ server: TrialServer) -> CommandFailure {
        CommandFailure.because("--delay cannot be tried: the server at \(server.url) uses its own clock.")
            .advising(
                "Leave --delay out, or start a server for trials with `afterlink serve --unsafe-test-clock --listen"
                    + " 127.0.0.1:8090 --database trial.db`, and give the same --listen and --database here."
            )
    }

    private static func greeting(_ server: TrialServer, _ key: TrialKey, _ choice: TrialChoice) -> String {
        let kind = choice.poster.keyKind.rawValue
        let counted =
            choice.poster == .test
            ? "A test: no live key finds it and no live statistic counts it."
            : "This is live: click and launch count in the statistics, under \(choice.campaign)."
        return "server   \(server.url), with the \(kind) key of \(key.origin)\n         \(counted)\n"
    }

    private static func number() -> UInt64 { RandomSource.system.bytes(8).reduce(0) { $0 << 8 | UInt64($1) } }

    private static func json(_ reports: [TrialReport], of server: TrialServer, _ choice: TrialChoice)
        -> String
    {
        JSONWriter.text(isPretty: true) { json in
            json.member("server", server.url)
            json.member("live", choice.poster != .test)
            json.objects("trials", reports) { $1.write(to: &$0) }
        }
    }

    private static func text(_ reports: [TrialReport], isTable: Bool) -> String {
        guard isTable else { return reports.map { TrialText($0).text }.joined(separator: "\n\n") }
        let results = reports.map(\.result)
        let unexpected = results.filter { !$0.isAsExpected }.map { result in
            "\(result.trial.profile.name): \(result.explanation.joined(separator: " "))"
        }
        return ([TrialText.table(results)] + unexpected).joined(separator: "\n\n")
    }
}
