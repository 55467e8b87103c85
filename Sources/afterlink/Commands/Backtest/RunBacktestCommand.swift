internal import Attribution
internal import Server
internal import Storage

/// The command `afterlink backtest`.
enum RunBacktestCommand {
    static let description = CommandDescription(
        name: "backtest",
        summary: "Replay recorded clicks and launches under another policy",
        discussion: [
            "Answers every launch under the current policy and, with --window, --fingerprint-window,"
                + " --deterministic-window, --minimum-confidence, --rule or --on-ambiguity, under the proposed one, too. Replays the events at their recorded times by the rules of"
                + " the service, and prints both beside the recorded responses: launches, matches, expected conversions with"
                + " their spread, and launches that would gain or lose a match.",
            "The events are an app's clicks and checks in the database. The command only reads the"
                + " database, which may be in use. It lists, with counts, what the records do not contain.",
            "Clicks and launches of the first day warm up the model and are not counted, unless the database contains all"
                + " of an app's traffic since its start; --warm-up-days changes that.",
        ],
        options: CommandOption.table([
            "app APP": AppChoice.help,
            "test": "Replay the app's test clicks and checks instead of the live ones.",
            "window SECONDS": "Attribution window of every click instead of its own, 60 to 2592000.",
            "fingerprint-window SECONDS": "The app's window for matches by fingerprint, 60 to 2592000.",
            "deterministic-window SECONDS": "The app's window for tokens and ids, 60 to 2592000.",
            "minimum-confidence P": "The probability that a match needs, 0 to 1. Default: the app's own.",
            "rule newest|probability":
                "With newest, the newest click matches, however improbable it is. Default: the app's own.",
            "on-ambiguity noMatch|newest|campaignOnly":
                "What to return if a click led to the launch and no single click is probable enough. Default: the app's own.",
            "warm-up-days N":
                "Number of days that the model learns from and that are not counted, 0 to 365. Default: see above.",
        ]) + [.json],
        settings: CommandDatabase.settings + [
            "server-key-file", "secret-file", "device-data", "retention", "replay-grace",
        ],
        examples: [
            "afterlink backtest --window 3600 --minimum-confidence 0.8":
                "Show how an hour's window and a stricter policy would have matched the recorded launches."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let isTest = invocation.arguments.has("test")
        let options = try BacktestOptions(invocation.arguments)
        let (app, recorded, plans) = try open(invocation, isTest: isTest, options)
        var history = recorded
        guard let first = try history.next() else {
            let kind = isTest ? "test clicks and test checks" : "clicks and checks"
            throw CommandFailure.because("The database holds no \(kind) of the app \"\(app.settings.name)\".")
                .advising(
                    "Clicks stay until --retention seconds after their window, matched ones until --retention-matches"
                        + " seconds after it, and checks for --retention-checks seconds."
                )
        }
        var backtest = Backtest(plans.current, proposed: plans.proposed, began: first.at)
        backtest.play(first)
        var line = ProgressLine()
        while let event = try history.next() {
            backtest.play(event)
            // Reading the clock for every event would slow the replay down.
            guard (backtest.clicks + backtest.launches).isMultiple(of: 1024) else { continue }
            line.update(progress(of: backtest, in: history.span))
        }
        line.finish()
        let outcome = BacktestOutcome(
            backtest: backtest,
            plans: plans,
            began: first.at,
            gaps: BacktestGaps(gaps: history.gaps, firstHeld: history.isWhole ? nil : history.span?.first)
        )
        Console.print(invocation.arguments.has("json") ? outcome.json : outcome.text)
        if let warning = outcome.warning { Console.printError("\n\(warning)\n") }
    }

    /// Returns the app, its recorded events, and the plans to replay them under.
    private static func open(_ invocation: Invocation, isTest: Bool, _ options: BacktestOptions) throws
        -> (app: App, history: any TrafficHistory, plans: BacktestPlans)
    {
        let configuration = try ConfigurationReader.read(invocation)
        try CommandDatabase.require(configuration)
        let keys = try configuration.storedServerKeys()
        let data = try TableFiles.settings(of: configuration).devices
        let database = try CommandDatabase.open(configuration, for: .reading)
        defer { database.close() }
        let directory = try database.directory()
        let app = try AppChoice.find(invocation.arguments.value("app"), in: directory)
        let localization = app.settings.localization(data.languages)
        let maker = FingerprintReconstruction(keys: keys, data: data, localization: localization)
        let history = try Wiring.database(configuration).history(of: app.id, isTest: isTest, remaking: maker)
        let plans = options.plans(
            policy: directory.policy(of: app.id) ?? MatchPolicy(),
            replayGrace: configuration.replayGrace * 1000,
            // If no record is missing, the service's model was empty before the first record, too.
            usualWarmUp: history.isWhole ? 0 : 1
        )
        return (app, history, plans)
    }

    private static func progress(of backtest: Backtest, in span: (first: Timestamp, last: Timestamp)?)
        -> String
    {
        var share = ""
        if let span, span.last > span.first {
            let played = Double(backtest.latest.milliseconds(since: span.first))
            let whole = Double(span.last.milliseconds(since: span.first))
            share = "\(Int(min(max(played / whole, 0), 1) * 100)) %, "
        }
        return "Replaying: \(share)\(backtest.clicks) clicks and \(backtest.launches) launches, until "
            + backtest.latest.iso8601
    }
}

/// The options of `afterlink backtest` that change the answers to launches.
struct BacktestOptions {
    private let warmUpDays: Int?
    private let window: AttributionWindow?
    private let windows: [(WritableKeyPath<MethodWindows, AttributionWindow?>, AttributionWindow)]
    private let minimumConfidence: Double?
    private let rule: MatchPolicy.Rule?
    private let onAmbiguity: MatchPolicy.Ambiguity?

    init(_ arguments: Arguments) throws {
        warmUpDays = try arguments.read("warm-up-days", "must be a whole number from 0 to 365") {
            Int($0).flatMap { (0...365).contains($0) ? $0 : nil }
        }
        let allowed = AttributionWindow.allowedSeconds
        window = try arguments.read(
            "window",
            "must be whole seconds from \(allowed.lowerBound) to \(allowed.upperBound)",
            { Int64($0).flatMap { AttributionWindow(seconds: $0) } }
        )
        windows = try [
            ("fingerprint-window", \MethodWindows.fingerprint),
            ("deterministic-window", \MethodWindows.deterministic),
        ].compactMap { option, path in
            try arguments.read(
                option,
                "must be whole seconds from \(allowed.lowerBound) to \(allowed.upperBound)",
                { Int64($0).flatMap { AttributionWindow(seconds: $0) } }
            ).map { (path, $0) }
        }
        minimumConfidence = try arguments.read("minimum-confidence", "must be a number from 0 to 1") {
            Double($0).flatMap { (0...1).contains($0) ? $0 : nil }
        }
        rule = try arguments.read("rule", "must be newest or probability") { MatchPolicy.Rule(rawValue: $0) }
        onAmbiguity = try arguments.read("on-ambiguity", "must be noMatch, newest or campaignOnly") {
            MatchPolicy.Ambiguity(rawValue: $0)
        }
    }

    /// The current plan, and the one that the options propose.
    ///
    /// - Parameters:
    ///   - policy: the app's current policy.
    ///   - replayGrace: the time in which a caller without an install id gets an answer again, in milliseconds.
    ///   - usualWarmUp: the number of days that warm up the model without `--warm-up-days`.
    /// - Returns: both plans; no proposed one if no option proposes a change.
    func plans(policy: MatchPolicy, replayGrace: Int64, usualWarmUp: Int) -> BacktestPlans {
        let days = warmUpDays ?? usualWarmUp
        let current = ReplayPlan(policy: policy, replayGrace: replayGrace, warmUpDays: days)
        var proposed = current
        proposed.window = window
        proposed.policy.minimumConfidence = minimumConfidence ?? policy.minimumConfidence
        proposed.policy.rule = rule ?? policy.rule
        proposed.policy.onAmbiguity = onAmbiguity ?? policy.onAmbiguity
        for (path, window) in windows { proposed.policy.windows[keyPath: path] = window }
        let proposesChange =
            window != nil || !windows.isEmpty || minimumConfidence != nil || rule != nil || onAmbiguity != nil
        return BacktestPlans(current: current, proposed: proposesChange ? proposed : nil)
    }
}

/// The policies and windows under which events are replayed.
struct BacktestPlans {
    let current: ReplayPlan
    /// Nil if no option proposes a change.
    let proposed: ReplayPlan?
}
