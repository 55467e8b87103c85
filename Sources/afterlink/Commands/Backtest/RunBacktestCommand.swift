internal import Attribution
internal import Storage

/// The command `afterlink backtest`.
enum RunBacktestCommand {
    static let description = CommandDescription(
        name: "backtest",
        summary: "Play recorded clicks and launches again under another policy",
        discussion: [
            "Answers every launch twice: by the current policy and, if one of the options below is given, by the proposed"
                + " one. Plays both in the events' own time by the service's own rules, and prints them side by side:"
                + " launches, matches, expected conversions with their spread, launches that would gain or lose a match and,"
                + " if the truth is known, precision, what was found, false attributions and calibration.",
            "The events are the clicks and checks that the database holds of an app, as long as they are kept, and"
                + " are compared with the recorded responses; the database may be in use, and is only read. What the"
                + " records do not contain is listed, with counts. With --trace, the events come from a file with a line of"
                + " JSON for each click and each launch, in the order of time; the documentation's article on traces lists"
                + " its members.",
            "Clicks and launches of the first day warm up the model and are not counted, unless the database contains all"
                + " of an app's traffic since its start; --warm-up-days changes that.",
        ],
        options: CommandOption.table([
            "trace FILE": "A trace instead of the database; - for standard input.",
            "app APP": "The app, by id or name; needed when there are several.",
            "test": "The app's test clicks and checks instead of the live ones.",
            "window SECONDS": "Attribution window of every click, 60 to 2592000, whatever its own was.",
            "minimum-confidence P":
                "The probability that a match needs, 0 to 1. Default: the app's own; 0.7 with --trace.",
            "rule newest|probability":
                "With newest, the newest click matches whatever its probability. Default: the app's own;"
                + " probability with --trace.",
            "on-ambiguity noMatch|newest|campaignOnly":
                "What to return if a click led to the launch and none is likely enough. Default: the app's"
                + " own; noMatch with --trace.",
            "warm-up-days N": "Days that teach and are not counted, 0 to 365. Default: see above.",
        ]) + [.json],
        settings: CommandDatabase.settings + ["server-key-file", "device-data", "retention", "replay-grace"],
        examples: [
            "afterlink backtest --window 3600 --minimum-confidence 0.8":
                "What an hour's window and a stricter policy would have answered to last week's launches.",
            "afterlink backtest --trace week.jsonl --rule newest": "The same of a trace, by the plain rule.",
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let options = try BacktestOptions(arguments)
        let outcome: BacktestOutcome
        if let trace = arguments.value("trace") {
            guard arguments.value("app") == nil, !arguments.has("test") else {
                throw CommandFailure(
                    .usage,
                    "--app and --test are about a database, and --trace plays a file.",
                    advice: "Leave one or the other out."
                )
            }
            outcome = try play(TraceSource(trace), options.plans(), nothing: nothing(inTrace: trace))
        } else {
            let database = try BacktestDatabase(invocation)
            let source = try database.source()
            outcome = try play(source, database.plans(options, source.history), nothing: database.nothing)
        }
        Console.print(arguments.has("json") ? outcome.json : outcome.text)
        for warning in outcome.warnings { Console.printError("\n\(warning)\n") }
        return .success
    }

    private static func play<Source: EventSource & ~Copyable>(
        _ source: consuming Source,
        _ plans: BacktestPlans,
        nothing: CommandFailure
    ) throws -> BacktestOutcome {
        var source = source
        guard let first = try source.next() else { throw nothing }
        var backtest = Backtest(plans.current, proposed: plans.proposed, began: first.at)
        var progress = BacktestProgress()
        backtest.play(first)
        while let event = try source.next() {
            backtest.play(event)
            progress.update(backtest, share: source.share(at: event.at))
        }
        progress.finish()
        return BacktestOutcome(backtest: backtest, plans: plans, began: first.at, gaps: source.gaps)
    }

    private static func nothing(inTrace trace: String) -> CommandFailure {
        CommandFailure(
            "The trace \(trace) holds no event.",
            advice:
                "Each click and each launch is a line of JSON; the documentation's article on traces has examples."
        )
    }
}

/// Says how far a long backtest has come.
struct BacktestProgress {
    private var line = ProgressLine()
    private var events = 0

    /// Asks for the time only now and then.
    private static let stride = 1024

    mutating func update(_ backtest: Backtest, share: Double?) {
        events += 1
        guard events.isMultiple(of: Self.stride) else { return }
        let percent = share.map { "\(Int($0 * 100)) %, " } ?? ""
        line.update(
            "Playing: \(percent)\(backtest.clicks) clicks and \(backtest.launches) launches, until "
                + backtest.latest.iso8601
        )
    }

    func finish() { line.finish() }
}
